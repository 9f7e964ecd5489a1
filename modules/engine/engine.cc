// SPDX-License-Identifier: Apache-2.0
// The engine's interface: running a built-in op on tensors, choosing the SIMD target.
module;
#include "kernels/common/abi.h"
export module kerngrad:engine;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;

export namespace kerngrad {

/// A list of tensors: the results of an op, or a list of operands.
using tensor_list = small_list<tensor, 1>;

/// A SIMD target that this build contains and this CPU can run.
struct simd_target {
  std::string name;
};
/// All SIMD targets that can run here, best first.
std::vector<simd_target> simd_targets();
/// Runs every kernel on this SIMD target from now on, in all threads. An empty name returns to the best one. Throws if
/// the target is not among simd_targets().
void set_simd_target(std::string_view name);
/// The name of the SIMD target that kernels run on, such as "AVX2".
std::string active_simd_target();

}  // namespace kerngrad

// Target of the typed API. `attrs` are in the order of the row, absent if they were not given.
namespace kerngrad::detail {

// Ops without attributes of one and two operands. The result goes into `y`, an undefined tensor, so that the last call,
// the kernel's too, is a tail call.
void run_into(tensor& y, const op_entry& op, const tensor& x);
void run_into(tensor& y, const op_entry& op, const tensor& a, const tensor& b);
inline tensor run_unary(const op_entry& op, const tensor& x) {
  tensor y;
  run_into(y, op, x);
  return y;
}
inline tensor run_binary(const op_entry& op, const tensor& a, const tensor& b) {
  tensor y;
  run_into(y, op, a, b);
  return y;
}
// `donated` has a bit for each operand that ends with the call: the result may take the memory of one that has no other
// owner.
tensor run_unary(const op_entry& op, const tensor& x, unsigned donated);
tensor run_binary(const op_entry& op, const tensor& a, const tensor& b, unsigned donated);
tensor run_one(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs);
// Reshape, whose only attribute is a list of sizes that is nearly always written down.
tensor run_reshape(const op_entry& op, const tensor& x, std::span<const std::int64_t> wanted);
tensor_list run_list(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs);
/// All results of an op, as many as its row names.
void run_several(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                 std::span<tensor> out);
/// A number next to a tensor, as it was written.
struct plain_number {
  double value = 0;
  std::int64_t integer = 0;    // the number, if it is an integer that int64 holds
  bool is_integer = false;     // it is
  bool of_whole_type = false;  // a C++ integer or bool
  friend constexpr bool operator==(const plain_number& a, const plain_number& b) {
    return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) && a.integer == b.integer &&
           a.is_integer == b.is_integer && a.of_whole_type == b.of_whole_type;
  }
};
template <class T>
constexpr plain_number number_of(T value) {
  plain_number n{.value = static_cast<double>(value), .of_whole_type = std::is_integral_v<T>};
  if constexpr (std::is_integral_v<T>) n.is_integer = T(-1) < T{} || value <= T(~std::uint64_t{} >> 1);
  else if (n.value >= -0x1p63 && n.value < 0x1p63)
    n.is_integer = static_cast<double>(static_cast<std::int64_t>(n.value)) == n.value;
  if (n.is_integer) n.integer = static_cast<std::int64_t>(value);
  return n;
}

// The rules for numbers next to tensors, which docs/dtypes.md states, in modules/engine/numbers_impl.cc. The dtype of a
// number next to a tensor of a dtype, if that holds it; else float32.
dtype dtype_beside(const plain_number& n, dtype like);
// The dtype with which an op gives the right result for the number as it is; nothing when it takes more, or is
// rejected.
std::optional<dtype> dtype_beside(const op_row& row, const plain_number& n, dtype like);
// The number as a scalar of the tensor's dtype, or float32 when it is a fraction next to integers; rejected by `who`
// when neither holds it.
tensor number_like(std::string_view who, const plain_number& n, const tensor& like);

// A small floating tensor and a number, without a tensor for the number; an undefined tensor when more is to be done.
enum class number_is { right, left };
tensor run_with_number(const op_entry& op, const tensor& x, double value, number_is side, unsigned donated);
// Any tensor and a number.
tensor run_beside(const op_entry& op, const tensor& x, const plain_number& n, number_is side);

template <class T>
tensor run_with(const op_entry& op, const tensor& x, T value, unsigned donated = 0) {
  tensor y = run_with_number(op, x, static_cast<double>(value), number_is::right, donated);
  return y.defined() ? std::move(y) : run_beside(op, x, number_of(value), number_is::right);
}
template <class T>
tensor run_with(const op_entry& op, T value, const tensor& x, unsigned donated = 0) {
  tensor y = run_with_number(op, x, static_cast<double>(value), number_is::left, donated);
  return y.defined() ? std::move(y) : run_beside(op, x, number_of(value), number_is::left);
}

}  // namespace kerngrad::detail
