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
/// elements and never falls as q rises. NaN if an element is NaN, and without elements. int32 and int64 give float64,
/// uint8 and bool float32, as in `mean`. Throws for complex numbers. Differentiable: dy goes to the two elements.
tensor quantile(const tensor& x, double q, const axes& over = all_axes, bool keep_dims = false);
/// The median over axes, all by default: `quantile` with q = 1/2. Homogeneous of degree 1.
tensor median(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

/// The elements that are left of a list, and their int32 indices in it.
struct difference_parts {
  tensor values, indices;
};
/// The elements of the vector x that the vector y does not have, in x's order, repeated as there. Both have one real or
/// boolean dtype; NaN equals NaN. The values are differentiable.
difference_parts list_difference(const tensor& x, const tensor& y);

}  // namespace kerngrad
