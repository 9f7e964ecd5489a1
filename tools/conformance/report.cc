// SPDX-License-Identifier: Apache-2.0
// Output of a run.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

constexpr std::size_t shown_failures = 3;
constexpr std::size_t shown_width = 160;

std::string shortened(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > shown_width) text = text.substr(0, shown_width - 3) + "...";
  return text;
}

std::int64_t total(const std::map<std::string, std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& item) { return sum + item.second; });
}

std::string listed(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [subject, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", subject, count);
  return text;
}

// By number, the largest first.
void print_reasons(const std::map<std::string, std::map<std::string, std::int64_t>>& reasons, bool verbose) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, counts] : reasons) order.emplace_back(-total(counts), reason);
  std::sort(order.begin(), order.end());
  for (const auto& [negative, reason] : order) {
    fmt::print("  {:6}  {}\n", -negative, reason);
    if (verbose) fmt::print("          {}\n", listed(reasons.at(reason)));
  }
}

}  // namespace

void report::add(const std::string& section, const std::string& subject, const std::string& id, const outcome& result) {
  if (result.is == verdict::skipped) {
    ++skipped_;
    ++skips_[result.why][section + " " + subject];
    return;
  }
  group& to = groups_[section + " " + subject];
  ++to.judged;
  if (result.is == verdict::failed) {
    ++failed_;
    to.failures.push_back({id, result.why});
  } else {
    ++passed_;
    if (!result.why.empty()) ++remarks_[result.why][section + " " + subject];
  }
}

void report::print() const {
  for (const auto& [name, item] : groups_) {
    if (item.failures.empty()) {
      if (verbose_) fmt::print("{}: {} passed\n", name, item.judged);
      continue;
    }
    fmt::print("{}: {} of {} failed\n", name, item.failures.size(), item.judged);
    const std::size_t count = verbose_ ? item.failures.size() : std::min(shown_failures, item.failures.size());
    for (std::size_t i = 0; i < count; ++i)
      fmt::print("  {}: {}\n", item.failures[i].id, shortened(item.failures[i].why));
    if (count < item.failures.size()) fmt::print("  and {} more\n", item.failures.size() - count);
  }
  if (!remarks_.empty()) fmt::print("passed, with remarks:\n");
  print_reasons(remarks_, verbose_);
  if (!skips_.empty()) fmt::print("skipped:\n");
  print_reasons(skips_, verbose_);
  fmt::print("{} passed, {} failed, {} skipped\n", passed_, failed_, skipped_);
}

json report::summary() const {
  json failures = json::array();
  for (const auto& [name, item] : groups_)
    for (const failure& one : item.failures) failures.push_back({{"kernel", name}, {"id", one.id}, {"why", one.why}});
  return {{"passed", passed_},    {"failed", failed_}, {"skipped", skipped_},
          {"failures", failures}, {"skips", skips_},   {"remarks", remarks_}};
}

}  // namespace conformance
