// SPDX-License-Identifier: Apache-2.0
// Typed names of the products of matrices and of any tensors.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_matmul;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

namespace kerngrad::detail {
// One of the two is a vector.
tensor product_with_vector(const tensor& a, const tensor& b, bool transpose_a, bool transpose_b);
}  // namespace kerngrad::detail

export namespace kerngrad {

/// The matrix product over the last two axes; the axes before them broadcast. Each operand can be transposed. A vector
/// on the left is a row, one on the right a column, and the result lacks that axis: two vectors give a scalar. Floats,
/// int32, int64 and complex numbers keep their dtype; bool and uint8 become int32. Integers wrap modulo 2^32 and 2^64,
/// as in NumPy. Throws if the inner sizes differ, and for a transposed vector. Differentiable in floats and complex
/// numbers.
inline tensor matmul(const tensor& a, const tensor& b, bool transpose_a = false, bool transpose_b = false) {
  if (a.defined() && b.defined() && (a.rank() == 1 || b.rank() == 1)) [[unlikely]]
    return detail::product_with_vector(a, b, transpose_a, transpose_b);
  return call<"BatchMatMul">(a, b, attr<"transposeA">(transpose_a), attr<"transposeB">(transpose_b));
}

/// Sums of products of any number of tensors, as an equation says: `einsum("bij,bjk->bik", a, b)`. A term has a letter
/// for each axis of its tensor. Axes with the same letter are multiplied index by index. Letters that the result lacks
/// are summed over. A letter twice in a term takes the diagonal. "..." stands for axes without letters, which broadcast
/// and are part of the result. Without "->" the result has the axes of "...", then the letters that occur once, in
/// alphabetical order. Spaces are ignored. At most 8 axes in a tensor and in the result.
///
/// Dtypes are promoted and computed as by `matmul`: integers wrap, bool and uint8 become int32. The order of summation
/// is not specified. Three tensors and more are multiplied in pairs, in the order that takes the fewest products.
/// Throws for an equation that cannot be read, with the position of the error. Throws for shapes that do not fit the
/// equation. Differentiable in all tensors.
inline tensor einsum(std::string_view equation, std::span<const tensor> tensors) {
  return call_list<"Einsum">(tensors, attr<"equation">(equation)).front();
}
template <std::same_as<tensor>... T>
  requires(sizeof...(T) > 0)
tensor einsum(std::string_view equation, const T&... tensors) {
  const tensor list[] = {tensors...};
  return einsum(equation, std::span<const tensor>(list));
}

}  // namespace kerngrad
