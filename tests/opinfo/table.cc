// SPDX-License-Identifier: Apache-2.0
// The lines of all topics as one table.
#include <stdexcept>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using by_name = std::map<std::string_view, const call_line*>;

const by_name& table() {
  static const by_name all = [] {
    by_name lines;
    for (const auto part : {making_calls(), shapes_calls(), elements_calls(), elementwise_calls(), reductions_calls(),
                            order_calls(), matrices_calls(), networks_calls(), losses_calls(), windows_calls(),
                            signals_calls(), numpy_calls(), derived_calls()})
      for (const call_line& line : part)
        if (!lines.emplace(line.op, &line).second) throw std::logic_error("two lines for " + std::string(line.op));
    return lines;
  }();
  return all;
}

}  // namespace

const call_line* line_of(std::string_view op) {
  const by_name& lines = table();
  if (const auto exact = lines.find(op); exact != lines.end()) return exact->second;
  const auto found = lines.find(op.substr(0, op.find('/')));
  return found == lines.end() ? nullptr : found->second;
}

std::vector<const call_line*> all_lines() {
  std::vector<const call_line*> lines;
  for (const auto& [name, line] : table()) lines.push_back(line);
  return lines;
}

}  // namespace opinfo
