// SPDX-License-Identifier: Apache-2.0
// docs/ops.md, made from the rows; and the rows themselves, for the pages of the reference.
#include <fmt/format.h>

#include "modules/typed_names.h"
#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

using kerngrad::detail::typed_name;
using kerngrad::detail::typed_names;

std::string dtypes_text(kg::dtype_set set) {
  return set == kg::any_element ? "any" : set == kg::any_dtype ? "any but text" : kg::to_string(set);
}

std::string operands_text(const kg::op_row& row) {
  std::string text;
  for (const kg::operand& operand : row.operands)
    text += fmt::format("{}`{}`{}{}: {}", text.empty() ? "" : "<br>", operand.name, operand.list ? " (list)" : "",
                        operand.optional ? " (optional)" : "", dtypes_text(operand.types));
  return text.empty() ? "none" : text;
}

std::string attribute_text(const kg::attr_spec& spec) {
  const kg::attr_value fallback = kg::default_of(spec);
  std::string text = fmt::format("`{}`: {}", spec.name, spec.doc);
  if (spec.kind == kg::attr_kind::text && !spec.choices.empty()) text += fmt::format(", one of {}", spec.choices);
  if (spec.required) text += " (required)";
  else if (fallback.given()) text += fmt::format(" (default {})", kg::to_string(fallback));
  return text;
}

std::string attributes_text(const kg::op_row& row) {
  std::string text;
  for (const kg::attr_spec& spec : row.attrs) text += (text.empty() ? "" : "<br>") + attribute_text(spec);
  return text.empty() ? "none" : text;
}

std::string result_text(const kg::op_row& row, kg::result type) {
  switch (type) {
    case kg::result::boolean: return "bool";
    case kg::result::int32: return "int32";
    case kg::result::int64: return "int64";
    case kg::result::float32: return "float32";
    case kg::result::complex64: return "complex64";
    case kg::result::part: return "float32; of complex128 float64";
    case kg::result::pair: return "complex64; of float64 complex128";
    case kg::result::attribute: return "`dtype`";
    case kg::result::total: return "promoted; bool as int32, uint8 as int64";
    case kg::result::ruled: return "of each result its own";
    case kg::result::same: break;
  }
  switch (row.types.before) {
    case kg::lift::integers: return "promoted; bool as int32";
    case kg::lift::signs: return "promoted; bool and uint8 as int32";
    case kg::lift::totals: return "promoted; bool as int32, uint8 as int64";
    case kg::lift::floats: return "promoted; integers as float32";
    case kg::lift::quotients: return "promoted; int32 and int64 as float64, uint8 and bool as float32";
    default: return "promoted";
  }
}

std::string results_text(const kg::op_row& row) {
  if (row.results.empty()) return result_text(row, row.types.after);
  std::string text;
  for (const kg::result_spec& one : row.results)
    text += fmt::format("{}`{}`: {}, {}", text.empty() ? "" : "<br>", one.name, one.doc, result_text(row, one.type));
  return text;
}

// The typed functions that call an op, in the order of their declarations.
std::string functions_text(std::string_view op) {
  std::string text;
  for (const typed_name& name : typed_names)
    if (name.op == op) text += fmt::format("{}`kg::{}`", text.empty() ? "" : "<br>", name.function);
  return text.empty() ? "none" : text;
}

// What the rows say of one op, in the words of docs/ops.md where it has words for it.
json row_json(const kg::op_row& row) {
  json functions = json::array(), operands = json::array(), attributes = json::array(), bounds = json::object();
  for (const typed_name& name : typed_names)
    if (name.op == row.name) functions.push_back(fmt::format("kg::{}", name.function));
  for (const kg::operand& operand : row.operands)
    operands.push_back({{"name", operand.name},
                        {"dtypes", dtypes_text(operand.types)},
                        {"list", operand.list},
                        {"optional", operand.optional}});
  for (const kg::attr_spec& spec : row.attrs)
    attributes.push_back({{"name", spec.name},
                          {"kind", kg::name_of(spec.kind)},
                          {"text", attribute_text(spec)},
                          {"least", spec.least},
                          {"most", spec.most}});
  for (const kg::dtype type : {kg::dtype::float32, kg::dtype::float64})
    if (const auto known = kg::accuracy_of(row.name, type)) bounds[kg::name_of(type)] = known->bound;
  return {{"op", row.name},
          {"family", kg::name_of(row.group)},
          {"doc", row.doc},
          {"functions", std::move(functions)},
          {"operands", std::move(operands)},
          {"attributes", std::move(attributes)},
          {"results", results_text(row)},
          {"kernels", dtypes_text(kg::kernel_dtypes(kg::backend::simd, kg::find_op(row.name)))},
          {"no_gradient", row.no_gradient},
          {"bounds", std::move(bounds)},
          {"cost", row.cost}};
}

// Bars would end a cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

std::string bounds_text(std::string_view op) {
  const auto narrow = kg::accuracy_of(op, kg::dtype::float32), wide = kg::accuracy_of(op, kg::dtype::float64);
  return narrow && wide ? fmt::format("{} / {}", narrow->bound, wide->bound) : "";
}

// A line of the table of errors. Nine and seventeen digits tell all values of their types apart.
std::string accuracy_line(const kg::op_row& row, kg::dtype type, const kg::op_accuracy& known) {
  const int digits = type == kg::dtype::float32 ? 9 : 17;
  std::string at = fmt::format("{:.{}g}", known.at[0], digits);
  if (row.operands.size() == 2) at += fmt::format(", {:.{}g}", known.at[1], digits);
  return fmt::format("| {} | {} | {} | {} | {} | {}, {} |\n", row.name, kg::name_of(type), known.bound,
                     known.worst > 0 ? fmt::format("{:.4f}", known.worst) : "none", known.worst > 0 ? at : "",
                     known.all ? "all" : "samples", known.target);
}

std::string accuracy_section() {
  std::string text =
      "\n## Accuracy of the mathematics\n\n"
      "In units in the last place of the result, against MPFR. The bound holds on every CPU target; `./dev accuracy`\n"
      "looks for the largest error on the best target of a machine, among all 2^32 values of float32 or among "
      "samples,\n"
      "and writes it down with its operands. None: no result is further than half a unit from the exact one.\n\n"
      "| function | dtype | bound | largest error | at | of |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const kg::op_row& row : kg::op_table)
    for (kg::dtype type : {kg::dtype::float32, kg::dtype::float64})
      if (const auto known = kg::accuracy_of(row.name, type)) text += accuracy_line(row, type, *known);
  return text;
}

}  // namespace

std::string rows_page() {
  json list = json::array();
  for (const kg::op_row& row : kg::op_table) list.push_back(row_json(row));
  return text_of(list);
}

std::string docs_page() {
  std::string text =
      "# Ops\n\n"
      "Made from the rows by `kerngrad docs`; a test compares. Kernels named here exist for every CPU target of the\n"
      "build and as scalar reference. Promotion and integer rules: [dtypes.md](dtypes.md). Error bounds are in units "
      "in\n"
      "the last place, float32 / float64; where none stands, the result is the exact one rounded once, or the "
      "family's\n"
      "summation bound holds. The typed name is a function of C++; helpers of gradients have none. An op that has a\n"
      "kink, a jump, a pole or ties states its gradient there.\n";
  for (int group = 0; group < static_cast<int>(std::size(kg::family_names)); ++group) {
    text += fmt::format(
        "\n## {}\n\n| op | typed name | what it computes | operands | attributes | result | kernels for | gradient | "
        "ulp |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        kg::family_names[group]);
    for (int id = 0; id < kg::op_count; ++id) {
      const kg::op_row& row = kg::op_table[static_cast<std::size_t>(id)];
      if (static_cast<int>(row.group) != group) continue;
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.name, functions_text(row.name),
                          cell(row.doc), operands_text(row), cell(attributes_text(row)), results_text(row),
                          dtypes_text(kg::kernel_dtypes(kg::backend::simd, id)),
                          row.no_gradient.empty() ? "rule" : fmt::format("none: {}", row.no_gradient),
                          bounds_text(row.name));
    }
  }
  return text + accuracy_section();
}

}  // namespace tool
