// SPDX-License-Identifier: Apache-2.0
// The engine's interface: running a known op on tensors, choosing the SIMD target.
module;
#include "kernels/abi.h"
export module kerngrad:engine;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;

export namespace kerngrad {

/// Results of an op, or a list of operands.
using tensor_list = small_list<tensor, 1>;

/// A SIMD target that this build has and this CPU runs.
struct simd_target {
  std::string name;
};
/// All of them, best first.
std::vector<simd_target> simd_targets();
/// Runs every kernel on this target from now on, in all threads; throws when it is not among simd_targets().
/// An empty name returns to the best one.
void set_simd_target(std::string_view name);
/// The target that kernels run on, as a kernel itself reports it.
std::string active_simd_target();

}  // namespace kerngrad

// What the typed door compiles to. `attrs` are in the order of the row, absent where they were not given.
namespace kerngrad::detail {

// `dying` has a bit for each operand that ends with the call: the result may take the memory of one that nobody else
// holds.
tensor run_unary(const op_entry& op, const tensor& x, unsigned dying = 0);
tensor run_binary(const op_entry& op, const tensor& a, const tensor& b, unsigned dying = 0);
tensor run_one(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs);
tensor_list run_list(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs);
// A number beside a tensor, as a scalar tensor: with the tensor's dtype, or float32 for a fraction beside integers.
tensor literal(double value, const tensor& like);
tensor whole_literal(std::int64_t value, const tensor& like);

template <class T>
tensor literal_like(T value, const tensor& like) {
  if constexpr (std::is_integral_v<T>) return whole_literal(static_cast<std::int64_t>(value), like);
  else return literal(static_cast<double>(value), like);
}

// A small floating tensor and a number, without a tensor for the number; an empty handle when more is to be done.
enum class number_is { right, left };
tensor run_with_number(const op_entry& op, const tensor& x, double value, number_is side, unsigned dying);

template <class T>
tensor run_with(const op_entry& op, const tensor& x, T value, unsigned dying = 0) {
  tensor y = run_with_number(op, x, static_cast<double>(value), number_is::right, dying);
  return y.defined() ? std::move(y) : run_binary(op, x, literal_like(value, x));
}
template <class T>
tensor run_with(const op_entry& op, T value, const tensor& x, unsigned dying = 0) {
  tensor y = run_with_number(op, x, static_cast<double>(value), number_is::left, dying);
  return y.defined() ? std::move(y) : run_binary(op, literal_like(value, x), x);
}

}  // namespace kerngrad::detail
