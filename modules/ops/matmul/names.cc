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

/// The matrix product over the last two axes, either operand transposed if asked for. A vector on the left is one row,
/// on the right one column, and that axis goes from the result: two vectors give a number. Floats, int32, int64
/// and complex numbers, in their own dtype; bool and uint8 become int32. Products and sums of integers wrap (modulo
/// 2^32 and 2^64, as NumPy's). Throws where the inner sizes differ, and for a vector that is to be transposed.
/// Differentiable in floats and complex numbers.
inline tensor matmul(const tensor& a, const tensor& b, bool transpose_a = false, bool transpose_b = false) {
  if (a.defined() && b.defined() && (a.rank() == 1 || b.rank() == 1)) [[unlikely]]
    return detail::product_with_vector(a, b, transpose_a, transpose_b);
  return call<"BatchMatMul">(a, b, attr<"transposeA">(transpose_a), attr<"transposeB">(transpose_b));
}

/// Products of elements of any number of tensors, added up as the equation says: `einsum("bij,bjk->bik", a, b)`. A term
/// has a letter for each axis of its tensor; what has the same letter is walked together, and indices that the result
/// lacks are added up. A letter twice in a term takes the diagonal. "..." stands for axes without letters, which
/// broadcast and come back in the result. Without "->" the result has the axes of "...", then the letters that occur
/// once, in the order of the alphabet. Spaces are free. At most 8 axes in a tensor and in the result.
///
/// Dtypes are promoted and computed as by `matmul`: integers wrap, bool and uint8 become int32. The order in which
/// products are added up is not specified; three tensors and more are multiplied in pairs, in the order that takes the
/// fewest products. Throws for an equation that cannot be read, and says where, and for shapes that do not fit it.
/// Differentiable in all tensors.
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
