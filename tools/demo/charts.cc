// SPDX-License-Identifier: Apache-2.0
#include "charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

namespace demo {
namespace {

constexpr int chart_width = 360;

template <class... T>
void add(std::string& to, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(to), format, std::forward<T>(values)...);
}

std::string opened(std::string_view id, int height, std::string_view title, std::string_view description) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
      "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n",
      chart_width, height, id, title, description);
}

// The least of 1, 2 and 5 times a power of ten by which `most` is divided into at most `parts` pieces.
double tick_distance(double most, int parts) {
  const double power = std::pow(10, std::floor(std::log10(most / parts)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power * parts >= most * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

// ------------------------------------------------------------------------------------------ loss

// Position of losses in the chart.
struct loss_frame {
  static constexpr double left = 40, right = 352, top = 24, bottom = 184;
  double epochs, most;
  double x(double epoch) const { return left + (right - left) * epoch / epochs; }
  double y(double loss) const { return bottom - (bottom - top) * loss / most; }
};

// Means of `group` steps one after the other, the last of what is left.
std::vector<double> means(std::span<const double> steps, std::size_t group) {
  std::vector<double> result;
  for (std::size_t first = 0; first < steps.size(); first += group) {
    const std::span<const double> part = steps.subspan(first, std::min(group, steps.size() - first));
    double sum = 0;
    for (const double loss : part) sum += loss;
    result.push_back(sum / static_cast<double>(part.size()));
  }
  return result;
}

double largest_finite(std::span<const double> losses) {
  double most = 0;
  for (const double loss : losses)
    if (std::isfinite(loss)) most = std::max(most, loss);
  return most;
}

void add_axes(std::string& svg, const loss_frame& frame, double distance) {
  for (int i = 0; i * distance <= frame.most * (1 + 1e-9); ++i) {
    const double loss = i * distance, y = frame.y(loss);
    add(svg, "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", frame.left, y, frame.right);
    add(svg, "<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{:.4g}</text>\n", frame.left - 5, y + 4, loss);
  }
  const double every = std::max(1.0, tick_distance(frame.epochs, 6));
  for (double epoch = 0; epoch <= frame.epochs; epoch += every)
    add(svg, "<text class=\"mid\" x=\"{:.1f}\" y=\"{:.1f}\">{:.0f}</text>\n", frame.x(epoch), frame.bottom + 15, epoch);
  add(svg, "<text class=\"mid\" x=\"{:.1f}\" y=\"{:.1f}\">epochs</text>\n", (frame.left + frame.right) / 2,
      frame.bottom + 29);
}

// A loss that is not finite has no place: the line has a gap there.
void add_line(std::string& svg, const loss_frame& frame, std::span<const double> losses, double steps_of_each,
              double steps) {
  std::string line;
  bool drawing = false;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double middle = std::min((static_cast<double>(i) + 0.5) * steps_of_each, steps) / steps * frame.epochs;
    if (std::isfinite(losses[i]))
      add(line, "{}{:.1f} {:.1f}", drawing ? "L" : "M", frame.x(middle), frame.y(losses[i]));
    drawing = std::isfinite(losses[i]);
  }
  add(svg, "<path class=\"steps\" d=\"{}\"/>\n", line);
}

}  // namespace

std::string loss_chart(std::span<const double> steps, std::span<const double> epochs) {
  constexpr std::size_t points = 150;
  const std::size_t group = (steps.size() + points - 1) / points;
  const std::vector<double> line = means(steps, group);
  const double most = std::max(largest_finite(line), largest_finite(epochs));
  const double distance = tick_distance(most > 0 ? most : 1, 5);
  const loss_frame frame{static_cast<double>(epochs.size()), std::ceil((most > 0 ? most : 1) / distance) * distance};

  std::string svg = opened(
      "loss", 220, "Loss of the training",
      fmt::format("Mean cross entropy over {} steps. The mean of the first epoch is {:.4f}, that of the last {:.4f}.",
                  steps.size(), epochs.front(), epochs.back()));
  add(svg, "<path class=\"steps\" d=\"M44 8h18\"/><text x=\"67\" y=\"12\">mean of {} {}</text>", group,
      group == 1 ? "step" : "steps");
  add(svg, "<path class=\"epochs\" d=\"M200 8h18\"/><text x=\"223\" y=\"12\">mean of the epoch</text>\n");
  add_axes(svg, frame, distance);
  add_line(svg, frame, line, static_cast<double>(group), static_cast<double>(steps.size()));
  std::string bars;
  for (std::size_t i = 0; i < epochs.size(); ++i)
    if (std::isfinite(epochs[i]))
      add(bars, "M{:.1f} {:.1f}H{:.1f}", frame.x(static_cast<double>(i)), frame.y(epochs[i]),
          frame.x(static_cast<double>(i) + 1));
  add(svg, "<path class=\"epochs\" d=\"{}\"/>\n</svg>\n", bars);
  return svg;
}

// ------------------------------------------------------------------------------------------ classes

std::string class_chart(const confusion& counts) {
  constexpr int row = 22, left = 92, bar = 212;
  std::string svg = opened("classes", class_count * row, "Accuracy of each class",
                           "A bar for each class, as long as the share of its images that was recognised.");
  for (std::size_t c = 0; c < class_count; ++c) {
    const auto top = static_cast<int>(c) * row;
    const int total = images_of(counts, c);
    const double share = total ? static_cast<double>(counts[c][c]) / total : 0;
    add(svg, "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>", left - 6, top + 15, class_names[c]);
    add(svg, "<rect class=\"track\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\"/>", left, top + 3, bar, row - 6);
    add(svg, "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>", left, top + 3, bar * share,
        row - 6);
    add(svg, "<text x=\"{}\" y=\"{}\">{}</text>\n", left + bar + 8, top + 15, recall_text(counts, c));
  }
  return svg + "</svg>\n";
}

// ------------------------------------------------------------------------------------------ heat map

std::string heat_map(const confusion& counts) {
  constexpr int cell = 27, left = 88, top = 34;
  std::string svg = opened("confusion", top + class_count * cell + 2, "Confusion matrix",
                           "A row for each class, a column for each class that its images were taken for. "
                           "The table below has the same numbers.");
  add(svg, "<text x=\"{}\" y=\"12\">taken for</text>\n", left);
  for (std::size_t t = 0; t < class_count; ++t) {
    const auto place = static_cast<int>(t) * cell;
    add(svg, "<text class=\"mid\" x=\"{}\" y=\"28\">{}</text>", left + place + cell / 2, t);
    add(svg, "<text class=\"end\" x=\"{}\" y=\"{}\">{} {}</text>\n", left - 6, top + place + 18, class_names[t], t);
  }
  for (std::size_t t = 0; t < class_count; ++t)
    for (std::size_t p = 0; p < class_count; ++p) {
      const int count = counts[t][p], x = left + static_cast<int>(p) * cell, y = top + static_cast<int>(t) * cell;
      // The root: a twentieth of the images must be seen next to nine tenths.
      const double shade = count ? std::sqrt(static_cast<double>(count) / images_of(counts, t)) : 0;
      add(svg, "<g><title>{} taken for {}: {}</title>", class_names[t], class_names[p], count);
      add(svg, "<rect class=\"cell\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\"/>", x, y, cell - 1);
      if (count) {
        const std::string text = fmt::format("{}", count);
        add(svg, "<rect class=\"bar\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\" fill-opacity=\"{3:.3f}\"/>", x,
            y, cell - 1, shade);
        add(svg, "<text class=\"mid{}\" x=\"{:.1f}\" y=\"{}\" style=\"font-size:{:.1f}px\">{}</text>",
            shade > 0.72 ? " on" : "", x + (cell - 1) / 2.0, y + 17,
            std::min(10.0, 42.0 / static_cast<double>(text.size())), text);
      }
      add(svg, "</g>\n");
    }
  return svg + "</svg>\n";
}

}  // namespace demo
