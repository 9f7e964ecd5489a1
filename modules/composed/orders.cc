// SPDX-License-Identifier: Apache-2.0
// Composed functions on sorted elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_orders;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// The q-quantile over axes, all by default, for q from 0 to 1. It is at position q * (n - 1) of the n sorted elements,
/// interpolated linearly between two of them (Hyndman and Fan 1996, definition 7). The result lies between the two
/// elements and never falls as q rises. NaN if an element is NaN, and without elements. Integers and bool give the
/// floats that `mean` gives. Throws for q outside of [0, 1] and for complex numbers. Differentiable: dy
/// goes to the two elements. Homogeneous of degree 1.
tensor quantile(const tensor& x, double q, const axes& over = all_axes, bool keep_dims = false);
/// The median over axes, all by default: `quantile` with q = 1/2. The rest is as for `quantile`. Homogeneous of degree
/// 1.
tensor median(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

/// The result of list_difference: the remaining elements of a vector, and their int32 indices in it.
struct difference_parts {
  tensor values, indices;
};
/// Returns the elements of the vector x that are not in the vector y, and their int32 indices in x. They keep x's
/// order, and an element that x repeats stays repeated. x and y have the same real or boolean dtype, or it throws. NaN
/// equals NaN, and -0 equals 0. The values are differentiable.
difference_parts list_difference(const tensor& x, const tensor& y);

}  // namespace kerngrad
