// SPDX-License-Identifier: Apache-2.0
// The audit: rows, kernels and gradient rules are complete and fit together, or the library does not compile
// (audit_impl.cc). The concepts take the tables as arguments, so that tests can show each refusal on tables with a
// hole.
module;
#include "kernels/common/abi.h"
export module kerngrad:audit;

import :std;
import :core;
import :op;
import :table;

export namespace kerngrad {

/// The names of all gradient rules of the library.
extern const std::span<const std::string_view> rule_names;

}  // namespace kerngrad

namespace kerngrad::audit {

/// The index of the op's first row in the table, or the size of the table if there is none. It is a variable, so that
/// the compiler searches each table once for an op.
template <fixed_string Op, const auto& Rows>
inline constexpr std::size_t row_index = [] {
  const std::string_view name = Op;
  std::size_t at = 0;
  while (at < Rows.size() && Rows[at].name != name) ++at;
  return at;
}();

/// Adjacent kernels of one op in a table, and their dtypes.
struct kernel_run {
  std::string_view op;
  dtype_set types;
};
template <const auto& Kernels>
inline constexpr auto kernel_runs = [] {
  constexpr auto walk = [](auto found) {
    std::string_view op;
    for (const kernels::entry& item : Kernels) {
      const std::string_view name = item.op;
      found(name, item.type, name != op);
      op = name;
    }
  };
  constexpr std::size_t count = [=] {
    std::size_t runs = 0;
    walk([&](std::string_view, dtype, bool begins) { runs += begins; });
    return runs;
  }();
  std::array<kernel_run, count> runs{};
  std::size_t at = 0;
  walk([&](std::string_view name, dtype type, bool begins) {
    at += begins;
    runs[at - 1] = {name, runs[at - 1].types | only(type)};
  });
  return runs;
}();

}  // namespace kerngrad::audit

export namespace kerngrad::audit {

/// True if the table has a row for the op.
template <fixed_string Op, const auto& Rows>
concept op_has_row = (row_index<Op, Rows> < Rows.size());

/// True if the row has a name, a line of documentation, a shape rule and a launcher.
template <fixed_string Op, const auto& Rows>
concept row_is_complete = op_has_row<Op, Rows> && [] {
  const op_row& row = Rows[row_index<Op, Rows>];
  return !row.doc.empty() && row.infer != nullptr && row.has_launcher();
}();

/// True if the declarations of the row's attributes have no fault, so that calls can give them.
template <fixed_string Op, const auto& Rows>
concept row_has_sound_attributes = op_has_row<Op, Rows> && attrs_are_sound(Rows[row_index<Op, Rows>].attrs);

/// True if the op's results have distinct names, and only its last operand is a list.
template <fixed_string Op, const auto& Rows>
concept row_has_sound_results = op_has_row<Op, Rows> && [] {
  const op_row& row = Rows[row_index<Op, Rows>];
  return row.results.size() <= max_results && results_are_sound(row.results) && lists_are_last(row.operands);
}();

/// The dtypes for which a table has a kernel of the op, or of the op whose kernel it borrows.
template <fixed_string Op, const auto& Rows, const auto& Kernels>
inline constexpr dtype_set dtypes_of_kernels = [] {
  dtype_set set{};
  if constexpr (op_has_row<Op, Rows>) {
    const std::string_view wanted = Rows[row_index<Op, Rows>].kernel_name();
    for (const kernel_run& run : kernel_runs<Kernels>)
      if (run.op == wanted) set = set | run.types;
  }
  return set;
}();

/// True if a table of kernels has one for the op, or if the op needs none. An op that only changes the shape shares its
/// operand's memory and runs no kernel.
template <fixed_string Op, const auto& Rows, const auto& Kernels>
concept op_has_kernel = op_has_row<Op, Rows> && (Rows[row_index<Op, Rows>].convention == convention::copy ||
                                                 dtypes_of_kernels<Op, Rows, Kernels> != dtype_set{});

/// The dtypes in which the op computes for the operands that its row accepts. If only an attribute determines the
/// dtype, it is any.
template <fixed_string Op, const auto& Rows>
inline constexpr dtype_set dtypes_of_row = [] {
  const op_row& row = Rows[row_index<Op, Rows>];
  dtype_set set{};
  bool any = false;
  for (const operand& item : row.operands)
    for (int t = 0; t < dtype_count && item.part == role::value; ++t) {
      any = true;
      if (item.types.has(static_cast<dtype>(t))) set = set | only(lifted(static_cast<dtype>(t), row.types.before));
    }
  if (any) return set;
  if (row.types.after == result::attribute) return any_element;
  if (row.operands.empty()) return only(dtype::float32);
  for (int t = 0; t < dtype_count; ++t)  // the engine goes by the first operand
    if (row.operands[0].types.has(static_cast<dtype>(t)))
      set = set | only(lifted(static_cast<dtype>(t), row.types.before));
  return set;
}();

/// The dtypes in which the op computes with the kernels of the table: `computed_in` of each dtype of `dtypes_of_row`.
/// Half precision without a kernel is computed in float32, for example.
template <fixed_string Op, const auto& Rows, const auto& Kernels>
inline constexpr dtype_set dtypes_of_calls = [] {
  const dtype_set there = dtypes_of_kernels<Op, Rows, Kernels>;
  dtype_set set{};
  for (int t = 0; t < dtype_count; ++t)
    if (const dtype type = static_cast<dtype>(t); dtypes_of_row<Op, Rows>.has(type))
      set = set | only(computed_in(type, there));
  return set;
}();

/// True if the table has a kernel for each dtype of `dtypes_of_calls`. Also true for an op that runs no kernel, and for
/// one whose dtype only an attribute determines.
template <fixed_string Op, const auto& Rows, const auto& Kernels>
concept op_has_every_kernel = [] {
  const op_row& row = Rows[row_index<Op, Rows>];
  bool any = false;
  for (const operand& item : row.operands) any = any || item.part == role::value;
  // There is no kernel to run, or an attribute says which.
  if (row.convention == convention::copy || (!any && row.types.after == result::attribute)) return true;
  const dtype_set wanted = dtypes_of_calls<Op, Rows, Kernels>;
  return (wanted & dtypes_of_kernels<Op, Rows, Kernels>) == wanted;
}();

/// True if the row accepts the dtype of each kernel of the table.
template <fixed_string Op, const auto& Rows, const auto& Kernels>
concept op_reaches_every_kernel = [] {
  const dtype_set there = dtypes_of_kernels<Op, Rows, Kernels>;
  return (there & (dtypes_of_row<Op, Rows> | dtypes_of_calls<Op, Rows, Kernels>)) == there;
}();

/// The number of gradient rules of the op, or -1 if its row has a reason for having none.
template <fixed_string Op, const auto& Rows, const auto& Rules>
inline constexpr int gradient_count = [] {
  const std::string_view wanted = Op;
  int count = 0;
  for (std::string_view name : Rules) count += name == wanted;
  if (!Rows[row_index<Op, Rows>].no_gradient.empty()) count = count == 0 ? -1 : count + 1;
  return count;
}();

/// True if the op has a gradient rule, or if its row has a reason for having none.
template <fixed_string Op, const auto& Rows, const auto& Rules>
concept op_has_gradient = gradient_count<Op, Rows, Rules> != 0;

/// True if the op has at most one rule, and no reason for having none next to a rule.
template <fixed_string Op, const auto& Rows, const auto& Rules>
concept op_has_one_gradient = gradient_count<Op, Rows, Rules> <= 1;

/// True if only one row of the table has the name of the op.
template <fixed_string Op, const auto& Rows>
concept op_has_one_row = [] {
  const std::string_view wanted = Op;
  for (std::size_t i = row_index<Op, Rows> + 1; i < Rows.size(); ++i)
    if (Rows[i].name == wanted) return false;
  return true;
}();

/// Checks one op. Each fault is one sentence with the op's name in it.
template <fixed_string Op, const auto& Rows, const auto& Kernels, const auto& Reference, const auto& Rules>
consteval bool check_op() {
  static_assert(row_is_complete<Op, Rows>, "[audit] a row without documentation, shape rule or launcher: complete it");
  static_assert(
      row_has_sound_attributes<Op, Rows>,
      "[audit] an attribute without a name or with another one's, with an empty range, or with a default that no "
      "call could give: correct it");
  static_assert(
      row_has_sound_results<Op, Rows>,
      "[audit] more than 8 results, one without a name of its own, or a list before other operands: correct it");
  static_assert(op_has_kernel<Op, Rows, Kernels>,
                "[audit] a built-in op without a SIMD kernel: add its line to kernels/");
  static_assert(op_has_kernel<Op, Rows, Reference>,
                "[audit] a built-in op without a reference kernel: add it to kernels/F/reference_*");
  static_assert(
      op_has_every_kernel<Op, Rows, Kernels> && op_has_every_kernel<Op, Rows, Reference>,
      "[audit] a row accepts a dtype that has no kernel: add the kernel, lift the dtype, or do not accept it");
  static_assert(op_reaches_every_kernel<Op, Rows, Kernels> && op_reaches_every_kernel<Op, Rows, Reference>,
                "[audit] a kernel for a dtype that its row does not accept: accept it, or remove the kernel");
  static_assert(
      op_has_gradient<Op, Rows, Rules>,
      "[audit] a built-in op without a gradient rule: add one to grads/, or say in the row why there is none");
  static_assert(op_has_one_gradient<Op, Rows, Rules>,
                "[audit] a built-in op with a gradient rule and a second one, or a reason for having none: keep one");
  static_assert(op_has_one_row<Op, Rows>, "[audit] two rows of one name: rename one");
  return true;
}

/// A name of a table as a template argument.
template <const auto& Table, std::size_t I>
consteval auto name_at() {
  constexpr std::string_view name = Table[I];
  char text[name.size() + 1]{};
  for (std::size_t i = 0; i < name.size(); ++i) text[i] = name[i];
  return fixed_string<name.size() + 1>(text);
}
/// The names of the rows of a table.
template <const auto& Rows>
inline constexpr auto names_of_rows = [] {
  std::array<std::string_view, Rows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = Rows[i].name;
  return names;
}();

/// The first kernel without a row, or the first kernel if all have one.
template <const auto& Rows, const auto& Kernels>
inline constexpr std::array<std::string_view, 1> suspect = [] {
  for (const kernel_run& run : kernel_runs<Kernels>) {
    bool found = false;
    for (std::size_t i = 0; i < Rows.size() && !found; ++i) found = Rows[i].name == run.op;
    if (!found) return std::array{run.op};
  }
  return std::array{std::string_view(Kernels[0].op)};
}();

/// Checks that a kernel of a table belongs to a row; without a row it could never run.
template <fixed_string Kernel, const auto& Rows>
consteval bool check_kernel() {
  static_assert(op_has_row<Kernel, Rows>, "[audit] a kernel without a row: add the op's row to modules/ops/*/rows.cc");
  return true;
}
/// Checks all kernels of a table. The compiler names the first one without a row.
template <const auto& Rows, const auto& Kernels>
consteval bool check_kernels() {
  return check_kernel<name_at<suspect<Rows, Kernels>, 0>(), Rows>();
}

/// Checks all ops of a table.
template <const auto& Rows, const auto& Kernels, const auto& Reference, const auto& Rules>
consteval bool check_all() {
  return check_kernels<Rows, Kernels>() && check_kernels<Rows, Reference>() &&
         []<std::size_t... I>(std::index_sequence<I...>) {
           return (check_op<name_at<names_of_rows<Rows>, I>(), Rows, Kernels, Reference, Rules>() && ...);
         }(std::make_index_sequence<Rows.size()>{});
}

}  // namespace kerngrad::audit
