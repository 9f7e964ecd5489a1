// SPDX-License-Identifier: Apache-2.0
// Op x backend x dtype x target x gradient, from the rows, the tables and the registry; nothing is written by hand.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// True if a name fits a pattern: * is any text, ? any letter. Only the last star takes more when a letter does not fit,
// so that the time is at most the product of the lengths.
bool fits(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, after_star = pattern.npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(name[n]))) {
      ++p, ++n;
    } else if (after_star != pattern.npos) {
      p = after_star;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

// Why no gradient flows through the op in this dtype; empty: one does.
std::string why_none(const std::string& name, const kg::op_row* row, kg::dtype type) {
  if (!kg::has_gradient(name)) return row ? std::string(row->no_gradient) : "none is registered";
  if (!kg::differentiable.has(type)) return fmt::format("{} has no gradient", kg::name_of(type));
  return {};
}

std::optional<double> accuracy(const std::string& name, kg::dtype type) {
  const std::optional<kg::op_accuracy> known = kg::accuracy_of(name, type);
  return known ? std::optional(known->bound) : std::nullopt;
}

std::vector<std::string> selected_ops(const selection& wanted) {
  std::vector<std::string> names;
  for (const std::string& name : kg::op_names())
    if (wanted.op.empty() || fits(wanted.op, name)) names.push_back(name);
  if (!names.empty()) return names;
  const std::vector<std::string> similar = kg::explain(wanted.op).similar;
  std::string text = fmt::format("no op fits \"{}\"", wanted.op);
  for (std::size_t i = 0; i < similar.size(); ++i) text += (i ? ", " : "; similar: ") + similar[i];
  throw refusal(text);
}

bool keeps(const selection& wanted, const coverage_row& row) {
  return (wanted.backend.empty() || row.backend == wanted.backend) &&
         (wanted.dtype.empty() || kg::name_of(row.type) == wanted.dtype) &&
         (wanted.target.empty() || row.target == wanted.target) &&
         (wanted.family.empty() || row.family == wanted.family) &&
         (!wanted.gradient || row.gradient == *wanted.gradient);
}

// The dtypes for which the backend runs the reference kernel, which no target has.
kg::dtype_set reference_dtypes(const kg::kernel_info& kernel) {
  for (const kg::explained_kernel& k : kg::explain(kernel.name).candidates)
    if (k.backend == kernel.backend && k.origin == kg::kernel_origin::built_in) return k.reference;
  return {};
}

// The rows of one kernel in all its dtypes: SIMD kernels of the library exist for every target.
void add_rows(const kg::kernel_info& kernel, const selection& wanted, std::vector<coverage_row>& rows) {
  static const std::vector<kg::compiled_target> targets = kg::compiled_simd_targets();
  const kg::op_row* row = kg::row_named(kernel.name);
  const bool in_simd_table = kernel.known && kernel.backend == kg::name_of(kg::backend::simd);
  const kg::dtype_set reference = in_simd_table ? reference_dtypes(kernel) : kg::dtype_set{};
  for (int t = 0; t < kg::dtype_count; ++t) {
    const kg::dtype type = static_cast<kg::dtype>(t);
    if (!kernel.dtypes.has(type)) continue;
    coverage_row one{kernel.name, row ? std::string(kg::name_of(row->group)) : "none", kernel.backend, "", type};
    one.registered = !kernel.known;
    one.reason = why_none(kernel.name, row, type);
    one.gradient = one.reason.empty();
    one.accuracy = accuracy(kernel.name, type);
    const bool by_target = in_simd_table && !reference.has(type);
    for (std::size_t i = 0; i < (by_target ? targets.size() : 1); ++i) {
      if (by_target) one.target = targets[i].name, one.supported = targets[i].supported;
      if (keeps(wanted, one)) rows.push_back(one);
    }
  }
}

// ------------------------------------------------------------------------------------------ pages

std::string json_page(const std::vector<coverage_row>& rows) {
  json list = json::array();
  for (const coverage_row& r : rows)
    list.push_back({{"op", r.op},
                    {"family", r.family},
                    {"backend", r.backend},
                    {"dtype", kg::name_of(r.type)},
                    {"target", r.target.empty() ? json() : json(r.target)},
                    {"supported", r.supported},
                    {"registered", r.registered},
                    {"gradient", r.gradient},
                    {"reason", r.reason},
                    {"accuracy", r.accuracy ? json(*r.accuracy) : json()}});
  return text_of(list);
}

// One op by its row, as a line.
struct op_line {
  std::string op, family, gradient;
  std::vector<std::pair<std::string, kg::dtype_set>> backends;
};

std::string gradient_of(const std::string& name) {
  if (!kg::has_gradient(name)) {
    const kg::op_row* row = kg::row_named(name);
    return fmt::format("no: {}", row ? row->no_gradient : "none is registered");
  }
  const std::optional<kg::gradient_info> given = kg::get_gradient(name);
  return given ? fmt::format("yes, registered at {}", given->where) : "yes";
}

std::vector<op_line> lines_of(const std::vector<coverage_row>& rows) {
  std::vector<op_line> lines;
  for (const coverage_row& r : rows) {
    if (lines.empty() || lines.back().op != r.op) lines.push_back({r.op, r.family, gradient_of(r.op), {}});
    auto& backends = lines.back().backends;
    if (backends.empty() || backends.back().first != r.backend) backends.push_back({r.backend, {}});
    backends.back().second = backends.back().second | kg::only(r.type);
  }
  return lines;
}

// "simd, reference: float32, float64": backends with the same dtypes share a list.
std::string backends_text(const op_line& line) {
  std::string text;
  for (std::size_t i = 0; i < line.backends.size(); ++i) {
    const auto& [name, types] = line.backends[i];
    text += name;
    const bool same = i + 1 < line.backends.size() && line.backends[i + 1].second == types;
    text += same ? ", " : ": " + kg::to_string(types) + (i + 1 < line.backends.size() ? "; " : "");
  }
  return text;
}

std::string text_page(const std::vector<coverage_row>& rows) {
  std::string text;
  for (const op_line& line : lines_of(rows))
    text += fmt::format("{:<28} {:<8} {} | gradient: {}\n", line.op, line.family, backends_text(line), line.gradient);
  return text;
}

std::string escaped(std::string_view text) {
  std::string cell;
  for (char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string markdown_page(const std::vector<coverage_row>& rows) {
  std::string text = "| op | family | kernels for | gradient |\n| --- | --- | --- | --- |\n";
  for (const op_line& line : lines_of(rows))
    text += fmt::format("| {} | {} | {} | {} |\n", line.op, line.family, backends_text(line), escaped(line.gradient));
  return text;
}

}  // namespace

std::vector<coverage_row> coverage(const selection& wanted) {
  const std::vector<kg::backend_info> backends = kg::backends();
  std::vector<coverage_row> rows;
  for (const std::string& name : selected_ops(wanted))
    for (const kg::backend_info& b : backends)
      if (const std::optional<kg::kernel_info> kernel = kg::get_kernel(name, b.name)) add_rows(*kernel, wanted, rows);
  return rows;
}

std::string list_page(const selection& wanted, format as) {
  const std::vector<coverage_row> rows = coverage(wanted);
  switch (as) {
    case format::json: return json_page(rows);
    case format::markdown: return markdown_page(rows);
    default: return text_page(rows);
  }
}

}  // namespace tool
