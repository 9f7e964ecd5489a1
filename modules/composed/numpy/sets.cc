// SPDX-License-Identifier: Apache-2.0
// Sets of elements, sorted, and orders by several keys, by NumPy's names.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_sets;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// The parts of `unique_all`. `unique_counts` and `unique_inverse` return some of them. All but the values are int32.
struct unique_parts {
  tensor values, indices, inverse_indices, counts;
};
/// The distinct elements of x in ascending order, `values`. For each value, `indices` is its first index in the
/// flattened x, and `counts` its number of occurrences. `inverse_indices`, in x's shape, is the index of each element
/// in `values`: `gather(values, inverse_indices)` is x. `unique_all(tensor({5, 2, 5}))` has the values [2, 5], indices
/// [1, 0], inverse indices [1, 0, 1] and counts [1, 2]. Elements have any real or boolean dtype; NaN equals NaN and
/// comes last, -0 equals 0. `kg::unique` keeps the order of first occurrences. Throws for more than 2^31 - 1 elements.
/// The values are differentiable, as those of `unique`.
unique_parts unique_all(const tensor& x);
/// The distinct elements of x in ascending order: the values of `unique_all`. The rest is as for `unique_all`.
tensor unique_values(const tensor& x);
/// The parts of `unique_counts`: the distinct values, and their int32 counts.
struct unique_counts_parts {
  tensor values, counts;
};
/// The distinct elements of x in ascending order, and the number of occurrences of each. The rest is as for
/// `unique_all`.
unique_counts_parts unique_counts(const tensor& x);
/// The parts of `unique_inverse`: the distinct values, and for each element of x the int32 index of its value.
struct unique_inverse_parts {
  tensor values, inverse_indices;
};
/// The distinct elements of x in ascending order, and the index of each element of x in them. The rest is as for
/// `unique_all`.
unique_inverse_parts unique_inverse(const tensor& x);

/// True for each element of x that is in `elements`, or with `invert` for each that is not: bool of x's shape.
/// `isin(tensor({1, 2}), tensor({2, 3}))` is [false, true]. Both operands have any shape and any real or boolean dtype,
/// and are compared in the promoted dtype. NaN equals nothing. Expected time is linear, as that of `unique`. Throws for
/// more than 2^31 - 1 elements in all. No gradient.
tensor isin(const tensor& x, const tensor& elements, bool invert = false);
/// The sorted distinct elements that are in both a and b: `intersect1d(tensor({3, 1, 3}), tensor({3, 4}))` is [3]. The
/// result is a vector of the promoted dtype. Operands are those of `isin`. Differentiable in a.
tensor intersect1d(const tensor& a, const tensor& b);
/// The sorted distinct elements that are in a or b: `union1d(tensor({3, 1}), tensor({3, 4}))` is [1, 3, 4]. Operands
/// are those of `isin`, except that NaN equals NaN. Differentiable.
tensor union1d(const tensor& a, const tensor& b);
/// The sorted distinct elements of a that are not in b: `setdiff1d(tensor({3, 1}), tensor({3, 4}))` is [1]. Operands
/// are those of `isin`. Differentiable in a.
tensor setdiff1d(const tensor& a, const tensor& b);
/// The sorted distinct elements that are in exactly one of a and b: `setxor1d(tensor({3, 1}), tensor({3, 4}))` is [1,
/// 4]. Operands are those of `isin`. Differentiable.
tensor setxor1d(const tensor& a, const tensor& b);

/// The int32 indices that sort by several keys along an axis; the last key is the most important one. `lexsort({b, a})`
/// sorts by a, and equal elements of a by b. Elements with equal keys keep their order. Keys have one shape and any
/// real or boolean dtype; the result has their shape. Throws without keys and for keys of different shapes. No
/// gradient.
tensor lexsort(std::span<const tensor> keys, axis_index axis = -1);
inline tensor lexsort(std::initializer_list<tensor> keys, axis_index axis = -1) {
  return lexsort(std::span(keys.begin(), keys.size()), axis);
}
/// The elements along an axis, ordered around index `kth`: no element before it is larger, and none after it is
/// smaller, than the element at `kth`. The axis is sorted, which is one such order; NumPy may give another. A negative
/// index counts from the back. Dtypes are those of `sort`. Throws for an index outside of the axis. Differentiable.
tensor partition(const tensor& x, std::int64_t kth, axis_index axis = -1);
/// The int32 indices that order the elements along an axis around index `kth`, as `partition`. First come elements
/// smaller than the one at index `kth` of the sorted axis, then equal ones, then larger ones. Each group keeps its
/// order. NaN is larger than all numbers. The rest is as for `partition`. No gradient.
tensor argpartition(const tensor& x, std::int64_t kth, axis_index axis = -1);

}  // namespace kerngrad
