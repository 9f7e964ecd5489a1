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

/// The value that a share q of the elements over axes, all by default, does not exceed: at the place q * (n - 1) of the
/// sorted elements, between two of which it is interpolated linearly (Hyndman and Fan 1996, definition 7). q is 0 to 1.
/// The result lies between the two elements and never falls as q rises. NaN where an element is NaN, and of nothing.
/// int32 and int64 give float64, uint8 and bool float32, as in `mean`. Throws for complex numbers. Differentiable: dy
/// goes to the two elements.
tensor quantile(const tensor& x, double q, const axes& over = all_axes, bool keep_dims = false);
/// The quantile of 1/2. Homogeneous of degree 1.
tensor median(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

/// The remaining elements of a list, and their indices in it, int32.
struct difference_parts {
  tensor values, indices;
};
/// The elements of x that y does not have, in x's order and as often as there. Both are lists of one real or boolean
/// dtype; NaN equals NaN. The values are differentiable.
difference_parts list_difference(const tensor& x, const tensor& y);

}  // namespace kerngrad
