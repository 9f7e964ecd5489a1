// SPDX-License-Identifier: Apache-2.0
// The tables of docs/dtypes.md: the promotion of integers, and the dtype of each op's results, made from the rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

// The lines before and after a table that the command writes.
struct table_frame {
  std::string_view begin, end;
};
constexpr table_frame promotion{"<!-- begin: promotion, written by kerngrad docs --dtypes -->\n",
                                "<!-- end of promotion -->\n"};
constexpr table_frame results{"<!-- begin: written by kerngrad docs --dtypes -->\n", "<!-- end of the table -->\n"};

std::string with_table(const std::string& page, const table_frame& frame, const std::string& table) {
  const std::size_t from = page.find(frame.begin), to = page.find(frame.end);
  if (from == std::string::npos || to == std::string::npos || to < from)
    throw refusal(fmt::format("the page has no place for the table: {}{}", frame.begin, frame.end));
  return page.substr(0, from + frame.begin.size()) + table + page.substr(to);
}

// The common dtype of each pair of integers.
std::string promotion_table() {
  std::vector<kg::dtype> integers;
  for (int t = 0; t < kg::dtype_count; ++t)
    if (kg::integral.has(static_cast<kg::dtype>(t))) integers.push_back(static_cast<kg::dtype>(t));
  std::string head = "| |", rule = "| --- |", lines;
  for (const kg::dtype a : integers) {
    head += fmt::format(" {} |", kg::name_of(a)), rule += " --- |";
    lines += fmt::format("| {} |", kg::name_of(a));
    for (const kg::dtype b : integers) lines += fmt::format(" {} |", kg::name_of(kg::promote(a, b)));
    lines += "\n";
  }
  return head + "\n" + rule + "\n" + lines;
}

// True for a dtype of the deciding operands; those of a dtype of their own decide if there are no others.
bool takes(const kg::op_row& row, kg::dtype type) {
  bool any = false, all = true;
  for (const kg::operand& operand : row.operands) {
    if (operand.part != kg::role::value || operand.optional) continue;
    any = true;
    all = all && operand.types.has(type);
  }
  if (any) return all;
  return !row.operands.empty() && row.operands[0].types.has(type);
}

std::string result_text(kg::dtype compute, kg::result after) {
  if (after == kg::result::attribute) return "`dtype`";
  if (after == kg::result::ruled) return "its own";
  return std::string(kg::name_of(kg::result_of(compute, after)));
}

// Dtype of the results for operands of a dtype; empty if the op rejects them.
std::string cell(const kg::op_row& row, kg::dtype type) {
  if (!takes(row, type)) return "";
  const kg::dtype_set kernels = kg::kernel_dtypes(kg::backend::simd, kg::find_op(row.name));
  kg::dtype compute = kg::lifted(type, row.types.before);
  if (kg::integral.has(compute) && row.convention != kg::convention::copy) compute = kg::computed_in(compute, kernels);
  if (row.results.empty()) return result_text(compute, row.types.after);
  std::vector<std::string> all;
  for (const kg::result_spec& one : row.results) {
    const std::string text = result_text(compute, one.type);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

using cells = std::array<std::string, kg::dtype_count>;

// Dtype of the results of each op.
std::string results_table() {
  std::vector<std::pair<cells, std::string>> lines;  // in the order of their first ops
  for (const kg::op_row& row : kg::op_table) {
    if (row.operands.empty()) continue;
    cells of;
    for (int t = 0; t < kg::dtype_count; ++t) of[static_cast<std::size_t>(t)] = cell(row, static_cast<kg::dtype>(t));
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& known) { return known.first == of; });
    if (line == lines.end()) lines.emplace_back(of, row.name);
    else line->second += fmt::format(", {}", row.name);
  }
  std::string table = "| ops |", rule = "| --- |";
  for (int t = 0; t < kg::dtype_count; ++t) {
    table += fmt::format(" {} |", kg::name_of(static_cast<kg::dtype>(t)));
    rule += " --- |";
  }
  table += "\n" + rule + "\n";
  for (const auto& [of, ops] : lines) table += fmt::format("| {} | {} |\n", ops, fmt::join(of, " | "));
  return table;
}

}  // namespace

std::string dtypes_page(const std::string& page) {
  return with_table(with_table(page, promotion, promotion_table()), results, results_table());
}

}  // namespace tool
