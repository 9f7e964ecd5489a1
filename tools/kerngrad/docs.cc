// SPDX-License-Identifier: Apache-2.0
// docs/ops.md, made from the rows; and the rows themselves, for the pages of the reference.
#include <fmt/format.h>

#include <algorithm>

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

// One op by its row, in the words of docs/ops.md.
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

// The bounds of an op's gradients, with the operands' names where there are two. A star refers to the domain in the
// table of gradients.
std::string gradient_bounds_text(const kg::op_row& row) {
  std::string text;
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    const auto narrow = kg::gradient_accuracy_of(row.name, static_cast<int>(k), kg::dtype::float32);
    const auto wide = kg::gradient_accuracy_of(row.name, static_cast<int>(k), kg::dtype::float64);
    if (!narrow || !wide) continue;
    if (row.operands.size() > 1) text += fmt::format("{}`{}`: ", text.empty() ? "" : "<br>", row.operands[k].name);
    text += fmt::format("{} / {}{}", narrow->errors.bound, wide->errors.bound, narrow->domain.empty() ? "" : "*");
  }
  return text;
}

// A row's documentation in parts: what it says of the gradient stands at its end.
std::string_view value_part(std::string_view doc) { return doc.substr(0, doc.find(" Gradient")); }
std::string gradient_part(const kg::op_row& row) {
  if (!row.no_gradient.empty()) return fmt::format("none: {}", row.no_gradient);
  const std::size_t at = row.doc.find(" Gradient");
  if (at == row.doc.npos) return "rule";
  const std::string_view text = row.doc.substr(at + 1);
  return std::string(text.starts_with("Gradient: ") ? text.substr(10) : text.substr(9));
}
// The clauses about NaN.
std::string nan_part(std::string_view doc) {
  std::string text;
  for (std::size_t at = 0; at < doc.size();) {
    const std::size_t end = std::min({doc.find("; ", at), doc.find(". ", at), doc.size()});
    const std::string_view clause = doc.substr(at, end - at);
    if (clause.find("NaN") != clause.npos) text += fmt::format("{}{}", text.empty() ? "" : "; ", clause);
    at = end + 2;
  }
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Nine and seventeen digits tell all values of their types apart.
std::string operands_at(const kg::op_row& row, kg::dtype type, const kg::op_accuracy& known) {
  const int digits = type == kg::dtype::float32 ? 9 : 17;
  if (!(known.worst > 0)) return "";
  const std::string at = fmt::format("{:.{}g}", known.at[0], digits);
  return row.operands.size() == 2 ? fmt::format("{}, {:.{}g}", at, known.at[1], digits) : at;
}

// A line of the tables of errors.
std::string accuracy_line(const kg::op_row& row, std::string_view name, kg::dtype type, const kg::op_accuracy& known) {
  return fmt::format("| {} | {} | {} | {} | {} | {}, {} |", name, kg::name_of(type), known.bound,
                     known.worst > 0 ? fmt::format("{:.4f}", known.worst) : "none", operands_at(row, type, known),
                     known.all ? "all" : "samples", known.target);
}

std::string gradients_section() {
  std::string text =
      "\n## Accuracy of the gradients\n\n"
      "The same of first derivatives, for a `dy` of 1, as `./dev accuracy --gradients` measures them. The bound holds "
      "for\n"
      "finite operands in the domain, and everywhere where none is stated. [Accuracy](accuracy.md) explains both.\n\n"
      "| gradient | dtype | bound | largest error | at | of | domain |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const kg::op_row& row : kg::op_table)
    for (std::size_t k = 0; k < row.operands.size(); ++k)
      for (kg::dtype type : {kg::dtype::float32, kg::dtype::float64})
        if (const auto known = kg::gradient_accuracy_of(row.name, static_cast<int>(k), type)) {
          const std::string name = fmt::format("{} for `{}`", row.name, row.operands[k].name);
          text += fmt::format("{} {} |\n", accuracy_line(row, name, type, known->errors), cell(known->domain));
        }
  return text;
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
      if (const auto known = kg::accuracy_of(row.name, type)) text += accuracy_line(row, row.name, type, *known) + "\n";
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
      "kink, a jump, a pole or ties states its gradient there, and one that treats NaN in a way of its own says so. "
      "The\n"
      "bounds of gradients hold for a `dy` of 1; a star refers to the domain below. [Accuracy](accuracy.md) explains "
      "how\n"
      "both are measured.\n";
  for (int group = 0; group < static_cast<int>(std::size(kg::family_names)); ++group) {
    text += fmt::format(
        "\n## {}\n\n| op | typed name | what it computes | operands | attributes | result | kernels for | ulp | "
        "gradient | ulp of gradient | at NaN |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        kg::family_names[group]);
    for (int id = 0; id < kg::op_count; ++id) {
      const kg::op_row& row = kg::op_table[static_cast<std::size_t>(id)];
      if (static_cast<int>(row.group) != group) continue;
      text +=
          fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.name, functions_text(row.name),
                      cell(value_part(row.doc)), operands_text(row), cell(attributes_text(row)), results_text(row),
                      dtypes_text(kg::kernel_dtypes(kg::backend::simd, id)), bounds_text(row.name),
                      cell(gradient_part(row)), gradient_bounds_text(row), cell(nan_part(value_part(row.doc))));
    }
  }
  return text + accuracy_section() + gradients_section();
}

}  // namespace tool
