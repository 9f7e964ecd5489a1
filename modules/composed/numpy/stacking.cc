// SPDX-License-Identifier: Apache-2.0
// Joined tensors and products of tensors, by NumPy's names.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_stacking;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// Joins tensors along an axis: `concatenate({tensor({1}), tensor({2, 3})})` is [1, 2, 3]. It is `concat` by NumPy's
/// name.
tensor concatenate(std::span<const tensor> tensors, axis_index axis = 0);
inline tensor concatenate(std::initializer_list<tensor> tensors, axis_index axis = 0) {
  return concatenate(std::span(tensors.begin(), tensors.size()), axis);
}
/// Stacks tensors vertically, along axis 0: `vstack({tensor({1, 2}), tensor({3, 4})})` is [[1, 2], [3, 4]]. Scalars and
/// vectors become rows first. Dtypes and errors are those of `concat`. Gradient: the parts of dy.
tensor vstack(std::span<const tensor> tensors);
inline tensor vstack(std::initializer_list<tensor> tensors) {
  return vstack(std::span(tensors.begin(), tensors.size()));
}
/// Stacks tensors horizontally: along axis 1, or scalars and vectors along their only axis. `hstack({tensor({1, 2}),
/// tensor({3})})` is [1, 2, 3]. Dtypes and errors are those of `concat`. Gradient: the parts of dy.
tensor hstack(std::span<const tensor> tensors);
inline tensor hstack(std::initializer_list<tensor> tensors) {
  return hstack(std::span(tensors.begin(), tensors.size()));
}
/// Stacks tensors in depth, along axis 2: `dstack({tensor({1, 2}), tensor({3, 4})})` is [[[1, 3], [2, 4]]]. A vector
/// [n] becomes [1, n, 1] first, a matrix [m, n] becomes [m, n, 1]. Dtypes and errors are those of `concat`. Gradient:
/// the parts of dy.
tensor dstack(std::span<const tensor> tensors);
inline tensor dstack(std::initializer_list<tensor> tensors) {
  return dstack(std::span(tensors.begin(), tensors.size()));
}
/// Joins vectors as columns of a matrix: `column_stack({tensor({1, 2}), tensor({3, 4})})` is [[1, 3], [2, 4]]. Matrices
/// among them are joined along axis 1. Dtypes and errors are those of `concat`. Gradient: the parts of dy.
tensor column_stack(std::span<const tensor> tensors);
inline tensor column_stack(std::initializer_list<tensor> tensors) {
  return column_stack(std::span(tensors.begin(), tensors.size()));
}

/// The sum of products over the last `count` axes of a and the first `count` axes of b. The result has a's other axes,
/// then b's. For matrices, a count of 1 gives `matmul(a, b)`; a count of 0 gives the outer product. Dtypes are those of
/// `matmul`. Throws for axes of different sizes and for a result of more than 8 axes. Differentiable.
tensor tensordot(const tensor& a, const tensor& b, int count = 2);
/// The sum of products over pairs of axes: `tensordot(a, b, {0}, {1})` sums over axis 0 of a and axis 1 of b. The rest
/// is as for `tensordot` with a count.
tensor tensordot(const tensor& a, const tensor& b, std::span<const std::int64_t> axes_of_a,
                 std::span<const std::int64_t> axes_of_b);
inline tensor tensordot(const tensor& a, const tensor& b, std::initializer_list<std::int64_t> axes_of_a,
                        std::initializer_list<std::int64_t> axes_of_b) {
  return tensordot(a, b, std::span(axes_of_a.begin(), axes_of_a.size()),
                   std::span(axes_of_b.begin(), axes_of_b.size()));
}
/// The Kronecker product: a with each element replaced by b times that element. `kron(tensor({1, 10}), tensor({1, 2}))`
/// is [1, 2, 10, 20]. The operand of lower rank gets axes of size 1 in front. Throws for more than 4 axes. Dtypes are
/// those of `mul`. Differentiable.
tensor kron(const tensor& a, const tensor& b);
/// The cross products of vectors of 3 elements along an axis of both; the other axes broadcast. `cross(tensor({1, 0,
/// 0}), tensor({0, 1, 0}))` is [0, 0, 1]. Dtypes are those of `mul`. Throws if the axis has another size.
/// Differentiable.
tensor cross(const tensor& a, const tensor& b, axis_index axis = -1);

}  // namespace kerngrad
