// SPDX-License-Identifier: Apache-2.0
// docs/ops.md, made from the rows.
#include <fmt/format.h>

#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

std::string dtypes_text(kg::dtype_set set) { return set == kg::any_dtype ? "any" : kg::to_string(set); }

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

std::string result_text(const kg::op_row& row) {
  switch (row.types.after) {
    case kg::result::boolean: return "bool";
    case kg::result::int32: return "int32";
    case kg::result::float32: return "float32";
    case kg::result::complex64: return "complex64";
    case kg::result::attribute: return "`dtype`";
    case kg::result::same: break;
  }
  switch (row.types.before) {
    case kg::lift::integers: return "promoted; bool as int32";
    case kg::lift::floats: return "promoted; integers as float32";
    default: return "promoted";
  }
}

// Bars would end a cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

std::string accuracy_text(std::string_view op) {
  const auto bound = kg::accuracy_of(op);
  return bound ? fmt::format("{} / {}", bound->float32, bound->float64) : "";
}

}  // namespace

std::string docs_page() {
  std::string text =
      "# Ops\n\n"
      "Made from the rows by `kerngrad docs`; a test compares. Kernels named here exist for every CPU target of the\n"
      "build and as scalar reference. Promotion and integer rules: [dtypes.md](dtypes.md). Error bounds are in units "
      "in\n"
      "the last place, float32 / float64; where none stands, the result is the exact one rounded once, or the "
      "family's\n"
      "summation bound holds.\n";
  for (int group = 0; group <= static_cast<int>(kg::family::random); ++group) {
    text += fmt::format(
        "\n## {}\n\n| op | what it computes | operands | attributes | result | kernels for | gradient | ulp |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        kg::name_of(static_cast<kg::family>(group)));
    for (int id = 0; id < kg::op_count; ++id) {
      const kg::op_row& row = kg::op_table[static_cast<std::size_t>(id)];
      if (static_cast<int>(row.group) != group) continue;
      text += fmt::format(
          "| {} | {} | {} | {} | {} | {} | {} | {} |\n", row.name, cell(row.doc), operands_text(row),
          cell(attributes_text(row)), result_text(row), dtypes_text(kg::kernel_dtypes(kg::backend::simd, id)),
          row.no_gradient.empty() ? "rule" : fmt::format("none: {}", row.no_gradient), accuracy_text(row.name));
    }
  }
  return text;
}

}  // namespace tool
