// SPDX-License-Identifier: Apache-2.0
// Steps of a fused program on single numbers: the scalar forms of their rows, code that the compiler inlines. An op
// without one runs its kernel on one element.
module;
#include "kernels/common/abi.h"
#include "kernels/elementwise/unary.h"
export module kerngrad:fuse_scalar;

import :std;
import :core;
import :op;
import :launch;
import :shapes;
import :table;
import :entry;
import :symbol;

namespace kerngrad::detail {

/// An op's kernel on one element.
template <class T>
T kernel_on_one(const fused_step& step, T a, T b) {
  const kernel_slot& slot = step.op->kernel(static_cast<int>(backend::simd), dtype_of<T>);
  T y{};
  if (slot.flat1) {
    slot.flat1(&a, &y, 1);
  } else if (slot.flat2) {
    slot.flat2(&a, &b, &y, 1);
  } else {
    const kernels::unary_geometry one{1, {step.numbers[0], step.numbers[1]}};
    const void* in[] = {&a};
    void* out[] = {&y};
    slot.run(in, out, &one);
  }
  return y;
}

/// All steps of a program, one after the other; `Program` has them as constants.
template <class Program, class T, std::size_t... I>
inline void run_scalar(std::span<const T> xs, T* values, std::index_sequence<I...>) {
  const auto one = [&]<std::size_t At>() {
    constexpr const fused_step& step = Program::whole.steps[At];
    if constexpr (step.kind == step_kind::operand) {
      values[At] = xs[static_cast<std::size_t>(step.operand)];
    } else if constexpr (step.kind != step_kind::op) {
      values[At] = static_cast<T>(step.numbers[0]);
    } else {
      // Bounds out of order are rejected in the words of the op's rule.
      if constexpr (step.row->infer == shapes::clip && step.numbers[0] > step.numbers[1]) {
        const view x{};
        const attr_value attrs[] = {step.numbers[0], step.numbers[1]};
        inference call{*step.row, {&x, 1}, attrs, dtype_of<T>, dtype_of<T>};
        shapes::clip(call);
      }
      const auto in = [&](std::size_t k) { return step.in[k] < 0 ? T{} : values[step.in[k]]; };
      constexpr scalar_form form = step.row->scalar;
      if constexpr (!form.exists()) values[At] = kernel_on_one(step, in(0), in(1));
      else if constexpr (std::is_same_v<T, float>) values[At] = form.of_floats(in(0), in(1), in(2));
      else values[At] = form.of_doubles(in(0), in(1), in(2));
    }
  };
  (one.template operator()<I>(), ...);
}

/// The results of a program on single numbers.
template <class Program, class T, std::size_t N>
inline std::array<T, Program::result_count> scalar_results(const std::array<T, N>& xs) {
  T values[Program::whole.count];
  run_scalar<Program, T>(xs, values, std::make_index_sequence<Program::whole.count>{});
  std::array<T, Program::result_count> results{};
  for (std::size_t k = 0; k < results.size(); ++k)
    if (Program::whole.results[k] >= 0) results[k] = values[Program::whole.results[k]];
  return results;
}

/// True if an op works on single numbers of a dtype: it has a scalar form, or a kernel that takes such numbers and
/// gives one.
constexpr bool works_on_numbers(const op_row& row, dtype type) {
  if (row.scalar.exists()) return true;
  if (row.convention != convention::unary && row.convention != convention::binary) return false;
  for (const operand& x : row.operands)
    if (!x.types.has(type)) return false;
  return row.types.after == result::same;
}

/// Built-in ops whose result is a boolean or a choice have a scalar form: no kernel gives that as a number.
template <const auto& Rows>
concept rows_have_scalar_forms = [] {
  for (const op_row& row : Rows) {
    const bool needs_one =
        row.convention == convention::select || (works_by_element(row) && row.types.after == result::boolean);
    if (needs_one && !row.scalar.exists()) return false;
  }
  return true;
}();
static_assert(rows_have_scalar_forms<op_table>,
              "[fuse] an op whose result is a boolean or a choice has no scalar form: add one to its row");

/// Some step does not work on single numbers of type T.
template <class Program, class T>
constexpr bool has_no_scalar_form() {
  for (const fused_step& step : Program::whole.steps)
    if (step.kind == step_kind::op && !works_on_numbers(*step.row, dtype_of<T>)) return true;
  return static_cast<bool>(Program::whole.reduction.op);
}

}  // namespace kerngrad::detail
