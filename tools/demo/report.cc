// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "charts.h"
#include "pictures.h"

namespace demo {
namespace {

constexpr std::size_t shown_mistakes = 15;

template <class... T>
void add(std::string& to, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(to), format, std::forward<T>(values)...);
}

// Text from outside, a file's name: markup loses its meaning. Bytes that are not printable ASCII, which may be no UTF-8
// either, stand as in addresses of the web.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::string_view("&<>\"'").find(c) != std::string_view::npos) add(out, "&#{};", byte);
    else if (byte < 0x20 || byte > 0x7e) add(out, "%{:02X}", byte);
    else out += c;
  }
  return out;
}

// Nothing is fetched and nothing runs: the second line makes browsers reject it.
constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
)";

constexpr std::string_view style = R"(<style>
:root { --page: #fff; --card: #f5f6f8; --text: #1b1e24; --quiet: #555c68; --line: #d8dbe1; --accent: #0b4f9e;
  --on: #fff; --strong: #b4440a; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171c; --card: #1d2128; --text: #e6e9ee; --quiet: #a3abb8; --line: #363c47; --accent: #6cb2ff;
    --on: #0c1116; --strong: #ff9d5c; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 16px 48px; display: grid; gap: 16px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; }
h2 { font-size: 19px; margin: 0 0 8px; }
p { margin: 0 0 12px; max-width: 70ch; }
.quiet, figcaption, dt { color: var(--quiet); }
.score { font-size: 40px; font-weight: 650; line-height: 1.1; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px; min-width: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; font-size: 15px; }
dd { margin: 0; overflow-wrap: anywhere; }
svg { display: block; width: 100%; max-width: 520px; height: auto; margin: 0 auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--text); font-variant-numeric: tabular-nums; }
svg .end { text-anchor: end; }
svg .mid { text-anchor: middle; }
svg .on { fill: var(--on); }
svg .grid { stroke: var(--line); }
svg .steps { fill: none; stroke: var(--accent); stroke-width: 1.4; stroke-linejoin: round; }
svg .epochs { fill: none; stroke: var(--strong); stroke-width: 3; }
svg .bar { fill: var(--accent); }
svg .track, svg .cell { fill: var(--line); fill-opacity: .5; }
details { margin-top: 12px; }
summary { cursor: pointer; color: var(--quiet); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin-top: 8px; }
th, td { padding: 3px 5px; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; }
tbody th { text-align: left; }
.pictures { display: grid; gap: 14px 10px; }
.mistakes { grid-template-columns: repeat(auto-fill, minmax(92px, 1fr)); }
.filters { grid-template-columns: repeat(auto-fill, minmax(52px, 1fr)); }
figure { margin: 0; }
figure img { display: block; width: 100%; height: auto; aspect-ratio: 1; image-rendering: pixelated; }
.filters img { border: 1px solid var(--line); background: var(--page); }
figcaption { font-size: 13px; line-height: 1.3; margin-top: 4px; }
figcaption b { color: var(--text); display: block; }
@media (min-width: 900px) { main { grid-template-columns: 1fr 1fr; } header, .all { grid-column: 1 / -1; } }
</style>
)";

// ------------------------------------------------------------------------------------------ sections

std::string opened(std::string_view id, std::string_view heading, std::string_view more = {}) {
  return fmt::format("<section{} aria-labelledby=\"{}-heading\">\n<h2 id=\"{}-heading\">{}</h2>\n", more, id, id,
                     heading);
}

// A table that a narrow screen can push aside; it takes the keyboard's focus for that.
std::string opened_table(std::string_view summary, std::string_view name) {
  return fmt::format(
      "<details><summary>{}</summary>\n"
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n",
      summary, name);
}
constexpr std::string_view closed_table = "</tbody></table></div></details>\n";

std::string summary_section(const run_record& run, double accuracy) {
  std::string html = "<header><h1>Fashion-MNIST by kerngrad</h1></header>\n";
  html += opened("summary", "Test accuracy", " class=\"all\"");
  add(html, "<p class=\"score\" id=\"accuracy\">{:.4f}</p>\n<dl>\n", accuracy);
  for (const auto& [name, value] : run.facts) add(html, "<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  return html + "</dl>\n</section>\n";
}

std::string loss_section(const run_record& run) {
  std::vector<double> losses;
  std::transform(run.epochs.begin(), run.epochs.end(), std::back_inserter(losses),
                 [](const epoch_result& epoch) { return epoch.loss; });
  std::string html = opened("loss", "Loss") + loss_chart(run.step_losses, losses);
  html += opened_table("The epochs as a table", "Loss and test accuracy of each epoch");
  html +=
      "<thead><tr><th scope=\"col\">epoch</th><th scope=\"col\">loss</th><th scope=\"col\">test accuracy</th></tr>"
      "</thead>\n<tbody>\n";
  for (std::size_t i = 0; i < run.epochs.size(); ++i)
    add(html, "<tr><th scope=\"row\">{}</th><td>{:.4f}</td><td>{:.4f}</td></tr>\n", i + 1, run.epochs[i].loss,
        run.epochs[i].accuracy);
  add(html, "{}</section>\n", closed_table);
  return html;
}

std::string confusion_section(const confusion& counts) {
  std::string html = opened("confusion", "Confusion of classes") + heat_map(counts);
  html += opened_table("The same as a table", "Confusion matrix");
  html += "<thead><tr><th scope=\"col\">class</th>";
  for (int p = 0; p < class_count; ++p) add(html, "<th scope=\"col\">{}</th>", p);
  html += "<th scope=\"col\">recall</th></tr></thead>\n<tbody>\n";
  for (std::size_t t = 0; t < class_count; ++t) {
    add(html, "<tr><th scope=\"row\">{} {}</th>", t, class_names[t]);
    for (const int count : counts[t]) add(html, "<td>{}</td>", count);
    add(html, "<td>{}</td></tr>\n", recall_text(counts, t));
  }
  add(html, "{}</section>\n", closed_table);
  return html;
}

std::string mistakes_section(const run_record& run, const image_set& truth) {
  std::string html = opened("mistakes", "The worst mistakes");
  const std::vector<std::size_t> worst = worst_mistakes(truth, run.test, shown_mistakes);
  if (worst.empty()) return html + "<p>There are none.</p>\n</section>\n";
  html +=
      "<p class=\"quiet\">Those with the least probability for their own class first. Below each what it is, and what "
      "it was taken for, how surely.</p>\n<div class=\"pictures mistakes\">\n";
  for (const std::size_t i : worst) {
    const std::span<const std::uint8_t> pixels(&truth.pixels[i * image_pixels], image_pixels);
    const int own = truth.labels[i], taken = run.test.classes[i];
    add(html, "<figure><img alt=\"test image {}\" width=\"{}\" height=\"{}\" src=\"{}\">\n", i, image_side, image_side,
        gray_picture(pixels, image_side));
    add(html, "<figcaption><b>{}</b>{} {:.1f}%</figcaption></figure>\n", class_names[own], class_names[taken],
        100 * std::exp(run.test.logs[i * class_count + static_cast<std::size_t>(taken)]));
  }
  return html + "</div>\n</section>\n";
}

// Orange above 0 and blue below, the more opaque the farther off: what is transparent has the page's colour.
std::string filter_picture(std::span<const float> values, float largest, int side) {
  std::vector<std::uint8_t> pixels;
  for (const float value : values) {
    const float part = largest > 0 && std::isfinite(value) ? value / largest : 0;
    const auto opacity = static_cast<std::uint8_t>(std::lround(255 * std::min(std::fabs(part), 1.0f)));
    if (part > 0) pixels.insert(pixels.end(), {217, 95, 2, opacity});
    else pixels.insert(pixels.end(), {58, 124, 222, opacity});
  }
  return color_picture(pixels, side);
}

std::string filters_section(const filter_set& filters) {
  float largest = 0;
  for (const float value : filters.values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  std::string html = opened("filters", "Filters of the first layer", " class=\"all\"");
  add(html,
      "<p class=\"quiet\">Factors of the pixels: orange above 0, blue below. The strongest colour is "
      "<span id=\"largest\">{:.4f}</span>.</p>\n<div class=\"pictures filters\">\n",
      largest);
  const auto size = static_cast<std::size_t>(filters.side * filters.side);
  for (std::size_t i = 0; i < filters.values.size() / size; ++i) {
    const std::span<const float> values(&filters.values[i * size], size);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    add(html,
        "<figure><img alt=\"filter {0}, from {1:.2f} to {2:.2f}\" title=\"filter {0}, from {1:.2f} to {2:.2f}\" "
        "src=\"{3}\"></figure>\n",
        i + 1, *least, *most, filter_picture(values, largest, filters.side));
  }
  return html + "</div>\n</section>\n";
}

}  // namespace

std::string report_page(const run_record& run, const image_set& truth) {
  const double share = accuracy(truth, run.test.classes);
  const confusion counts = confusion_of(truth, run.test.classes);
  std::string html(head);
  add(html, "<title>Fashion-MNIST by kerngrad: test accuracy {:.4f}</title>\n", share);
  html.append(style).append("</head><body><main>\n").append(summary_section(run, share));
  if (!run.epochs.empty()) html += loss_section(run);
  html += opened("classes", "Accuracy of each class", run.epochs.empty() ? " class=\"all\"" : "");
  html += class_chart(counts) + "</section>\n";
  html += confusion_section(counts) + mistakes_section(run, truth) + filters_section(run.filters);
  return html + "</main></body></html>\n";
}

}  // namespace demo
