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

/// The parts of `unique_all`, of which `unique_counts` and `unique_inverse` have some. All but the values are int32.
struct unique_parts {
  tensor values, indices, inverse_indices, counts;
};
/// The distinct elements of x in ascending order, where each comes first, which of them each element is, in x's shape,
/// and how often each occurs. `gather(values, inverse_indices)` is x. Elements are of any real or boolean dtype; NaN
/// equals NaN and comes last, -0 equals 0. `kg::unique` has the same elements in the order in which they come first.
/// `unique_all(tensor({5, 2, 5}))` has the values [2, 5], indices [1, 0], inverse indices [1, 0, 1] and counts [1, 2].
/// Throws for more than 2^31 - 1 elements. The values are differentiable, as those of `unique`.
unique_parts unique_all(const tensor& x);
/// The values alone.
tensor unique_values(const tensor& x);
/// The parts of `unique_counts`.
struct unique_counts_parts {
  tensor values, counts;
};
/// The values and counts of `unique_all`.
unique_counts_parts unique_counts(const tensor& x);
/// The parts of `unique_inverse`.
struct unique_inverse_parts {
  tensor values, inverse_indices;
};
/// The values and inverse indices of `unique_all`.
unique_inverse_parts unique_inverse(const tensor& x);

/// Tells for each element of x if `elements` has it: bool of x's shape, or with `invert` the opposite. Both have any
/// shape and any real or boolean dtype, and are compared in the promoted one; NaN equals nothing. Expected time is
/// linear, as that of `unique`: `isin(tensor({1, 2}), tensor({2, 3}))` is [false, true]. Throws for more than 2^31 - 1
/// elements in all. No gradient.
tensor isin(const tensor& x, const tensor& elements, bool invert = false);
/// The sorted distinct elements that both have. Operands are those of `isin`, the result is a list of the promoted
/// dtype: `intersect1d(tensor({3, 1, 3}), tensor({3, 4}))` is [3]. Differentiable in a.
tensor intersect1d(const tensor& a, const tensor& b);
/// The sorted distinct elements that one of them has: `union1d(tensor({3, 1}), tensor({3, 4}))` is [1, 3, 4].
/// Operands are those of `isin`, but here NaN equals NaN. Differentiable.
tensor union1d(const tensor& a, const tensor& b);
/// The sorted distinct elements of a that b does not have: `setdiff1d(tensor({3, 1}), tensor({3, 4}))` is [1].
/// Operands are those of `isin`. Differentiable in a.
tensor setdiff1d(const tensor& a, const tensor& b);
/// The sorted distinct elements that only one of them has: `setxor1d(tensor({3, 1}), tensor({3, 4}))` is [1, 4].
/// Operands are those of `isin`. Differentiable.
tensor setxor1d(const tensor& a, const tensor& b);

/// The stable order along an axis by several keys of one shape, the last of which decides first: int32 of that shape.
/// `lexsort({b, a})` sorts by a and, where a is equal, by b. Keys are of any real or boolean dtype. Throws for no keys
/// and for keys of different shapes. No gradient.
tensor lexsort(std::span<const tensor> keys, axis_index axis = -1);
inline tensor lexsort(std::initializer_list<tensor> keys, axis_index axis = -1) {
  return lexsort(std::span(keys.begin(), keys.size()), axis);
}
/// The elements along an axis, so that none before index `kth` is greater and none behind it is less than the element
/// there. They are sorted, which is one of the orders that NumPy's function may have. A negative index counts from the
/// back. Dtypes are those of `sort`. Throws for an index outside of the axis. Differentiable.
tensor partition(const tensor& x, std::int64_t kth, axis_index axis = -1);
/// Indices, int32, of the elements that are less than the one at index `kth` of the sorted axis, then of equal ones,
/// then of greater ones, each in their order. NaN is greater than all numbers. The rest is as for `partition`.
tensor argpartition(const tensor& x, std::int64_t kth, axis_index axis = -1);

}  // namespace kerngrad
