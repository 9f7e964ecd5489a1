// SPDX-License-Identifier: Apache-2.0
// docs/ops.md and docs/ops, made from the rows; and the rows themselves, for the pages of the reference.
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

// Operands with their dtypes, except for dtypes that are the usual ones.
std::string operands_text(const kg::op_row& row, std::string_view usual) {
  std::string text;
  for (const kg::operand& operand : row.operands) {
    const std::string types = dtypes_text(operand.types);
    text += fmt::format("{}`{}`{}{}{}", text.empty() ? "" : "<br>", operand.name, operand.list ? " (list)" : "",
                        operand.optional ? " (optional)" : "", types == usual ? "" : ": " + types);
  }
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
    case kg::result::total: return "promoted; bool as int32, integers but int32 as int64";
    case kg::result::ruled: return "of each result its own";
    case kg::result::same: break;
  }
  switch (row.types.before) {
    case kg::lift::integers: return "promoted; bool as int32";
    case kg::lift::signs: return "promoted; bool and uint8 as int32";
    case kg::lift::totals:
    case kg::lift::sums: return "promoted; bool as int32, integers but int32 as int64";
    case kg::lift::floats: return "promoted; integers as float32";
    case kg::lift::quotients: return "promoted; bool and integers below 32 bits as float32, others as float64";
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

// One op by its row, in the words of docs/ops.
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

// A row's documentation in parts: what it says of the gradient is at its end.
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

// Errors of kernels and of rules, one line for each function and dtype.
std::string gradients_section() {
  std::string text =
      "\n## Gradients\n\n"
      "The first derivatives, for a `dy` of 1, as `./dev accuracy --gradients` measures them. A bound holds for "
      "finite\n"
      "operands in the domain, or for all finite operands if there is none.\n\n"
      "| gradient | dtype | bound | largest error | at | operands tried | domain |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const kg::op_row& row : kg::op_table)
    for (std::size_t k = 0; k < row.operands.size(); ++k)
      for (kg::dtype type : {kg::dtype::float32, kg::dtype::float64})
        if (const auto known = kg::gradient_accuracy_of(row.name, static_cast<int>(k), type)) {
          const std::string name = fmt::format("{} for `{}`", row.name, row.operands[k].name);
          text += fmt::format("{} {} |\n", accuracy_line(row, name, type, known->errors), cell(known->domain));
        }
  return text;
}

std::string functions_section() {
  std::string text =
      "\n## Functions\n\n"
      "| function | dtype | bound | largest error | at | operands tried |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const kg::op_row& row : kg::op_table)
    for (kg::dtype type : {kg::dtype::float32, kg::dtype::float64})
      if (const auto known = kg::accuracy_of(row.name, type)) text += accuracy_line(row, row.name, type, *known) + "\n";
  return text;
}

constexpr std::string_view bounds = "bounds";  // name of the page with all error bounds

std::string bounds_page() {
  return "# Error bounds\n\n"
         "[All ops](../ops.md). Errors are in units in the last place of the result, measured against MPFR.\n"
         "A bound holds on every CPU target. `./dev accuracy` looks for the largest error on the best target of a\n"
         "machine: among all 2^32 values of float32, or among samples. \"None\" means that no result is further than\n"
         "half a unit from the exact one. [Accuracy](../accuracy.md) explains how the errors are measured.\n" +
         functions_section() + gradients_section();
}

std::vector<const kg::op_row*> rows_of(int group) {
  std::vector<const kg::op_row*> rows;
  for (const kg::op_row& row : kg::op_table)
    if (static_cast<int>(row.group) == group) rows.push_back(&row);
  return rows;
}

std::string kernels_text(const kg::op_row& row) {
  return dtypes_text(kg::kernel_dtypes(kg::backend::simd, kg::find_op(row.name)));
}

// The most frequent text, which tables then omit.
std::string usual(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : *std::ranges::max_element(texts, {}, [&](const std::string& text) {
    return std::ranges::count(texts, text);
  });
}

std::string in_prose(std::string_view types) {
  return types.starts_with("any") ? fmt::format("any dtype{}", types.substr(3)) : std::string(types);
}

std::string family_page(int group) {
  std::vector<std::string> operands, kernels;
  const std::vector<const kg::op_row*> rows = rows_of(group);
  for (const kg::op_row* row : rows) {
    for (const kg::operand& operand : row->operands) operands.push_back(dtypes_text(operand.types));
    kernels.push_back(kernels_text(*row));
  }
  const std::string usual_operand = usual(operands), usual_kernels = usual(kernels);
  std::string text = fmt::format(
      "# Ops: {}\n\n[All ops](../ops.md) explains the columns. Operands take {}, unless the row states others.\n"
      "Kernels exist for {}, unless the row states others.\n\n"
      "| op | typed name | what it computes | operands | attributes | result |\n"
      "| --- | --- | --- | --- | --- | --- |\n",
      kg::family_names[group], in_prose(usual_operand), in_prose(usual_kernels));
  for (const kg::op_row* row : rows)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row->name, functions_text(row->name),
                        cell(value_part(row->doc)), operands_text(*row, usual_operand), cell(attributes_text(*row)),
                        results_text(*row));
  text +=
      "\n## Kernels and gradients\n\n"
      "| op | kernels for | error bound | gradient | error bound of the gradient | peak memory | at NaN |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const kg::op_row* row : rows)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row->name,
                        kernels_text(*row) == usual_kernels ? "" : kernels_text(*row), bounds_text(row->name),
                        cell(gradient_part(*row)), gradient_bounds_text(*row), memory_text(row->name),
                        cell(nan_part(value_part(row->doc))));
  return text;
}

std::string index_page() {
  std::string text =
      "# Ops\n\n"
      "`kerngrad docs` writes this page and those of the families from the op table. A test compares them.\n\n"
      "| family | ops |\n| --- | --- |\n";
  for (int group = 0; group < static_cast<int>(std::size(kg::family_names)); ++group) {
    std::string names;
    for (const kg::op_row* row : rows_of(group)) names += (names.empty() ? "" : ", ") + std::string(row->name);
    text += fmt::format("| [{0}](ops/{0}.md) | {1} |\n", kg::family_names[group], names);
  }
  return text +
         "\n## How to read the tables\n\n"
         "- **Typed name**: the functions of C++ that call the op. Helpers of gradients have none.\n"
         "- **Operands**: names and dtypes. [Dtypes](dtypes.md) has the rules of promotion and of integers.\n"
         "- **Kernels**: exist for every CPU target of the build, and as scalar reference.\n"
         "- **Error bound**: in units in the last place, for float32 / float64. Without a bound the result is the\n"
         "  exact one rounded once, or the bound of the family's sums holds.\n"
         "- **Gradient**: an op with a kink, a jump, a pole or ties states its gradient there.\n"
         "- **Error bound of the gradient**: for a `dy` of 1. A star refers to the domain in\n"
         "  [error bounds](ops/bounds.md).\n"
         "- **Peak memory**: of the value / of value and gradient. It counts beyond operands and results, on one\n"
         "  thread, and is a number of copies of the largest operand or result. 0 allocates the results alone, 1\n"
         "  one further array. KiB and MiB are the same for all large calls. The test `op_memory` measures calls\n"
         "  of 2^18 and 2^20 elements, with float32 if the op takes it. \"Grows\" marks peaks with more copies for\n"
         "  larger calls. [Memory](memory.md#memory-of-an-op) explains why kernels need memory.\n"
         "- **At NaN**: the result, if the op treats NaN in its own way.\n\n"
         "[Error bounds](ops/bounds.md) has the largest errors and their operands. [Accuracy](accuracy.md) explains\n"
         "how they are measured.\n";
}

}  // namespace

std::string rows_page() {
  json list = json::array();
  for (const kg::op_row& row : kg::op_table) list.push_back(row_json(row));
  return text_of(list);
}

std::vector<std::string> ops_pages() {
  std::vector<std::string> names(std::begin(kg::family_names), std::end(kg::family_names));
  names.emplace_back(bounds);
  return names;
}

std::string ops_page(std::string_view name) {
  if (name.empty()) return index_page();
  const auto* family = std::ranges::find(kg::family_names, name);
  return name == bounds ? bounds_page() : family_page(static_cast<int>(family - std::begin(kg::family_names)));
}

}  // namespace tool
