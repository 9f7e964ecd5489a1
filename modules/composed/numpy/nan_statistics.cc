// SPDX-License-Identifier: Apache-2.0
// Reductions and scans that pass over NaN, by NumPy's names.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_nan_statistics;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// The sum of the elements that are not NaN, over axes; all by default. `nansum(tensor({nan, 1., 2.}))` is 3. 0 if
/// there are none. Dtypes are those of `sum`; integers and booleans have no NaN. Throws for complex numbers.
/// Differentiable: the gradient of NaN is 0.
tensor nansum(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The product of the elements that are not NaN, over axes; all by default. 1 if there are none. The rest is as for
/// `nansum`.
tensor nanprod(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The mean of the elements that are not NaN, over axes; all by default. `nanmean(tensor({nan, 1., 2.}))` is 1.5. NaN
/// if there are none. Dtypes are those of `mean`; half precision is computed in float32 and rounded once. Throws for
/// complex numbers. Differentiable: the gradient of NaN is 0. Homogeneous of degree 1.
tensor nanmean(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The largest of the elements that are not NaN, over axes; all by default. `nanmax(tensor({nan, 1., 2.}))` is 2. NaN
/// if there are none. Throws for complex numbers. Differentiable as `max`. Homogeneous of degree 1.
tensor nanmax(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The smallest of the elements that are not NaN, over axes; all by default. The rest is as for `nanmax`. Homogeneous
/// of degree 1.
tensor nanmin(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The variance of the elements that are not NaN, over axes; all by default. `nanvar(tensor({nan, 1., 3.}))` is 1. It
/// is the sum of their squared distances from their mean, divided by their number minus `ddof`. NaN if that divisor is
/// 0 or less. Dtypes are those of `nanmean`. Throws for complex numbers. Differentiable. Homogeneous of degree 2.
tensor nanvar(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0);
/// The standard deviation of the elements that are not NaN: the square root of `nanvar`. Its gradient at 0 is 0.
/// Homogeneous of degree 1.
tensor nanstd(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0);
/// The int32 index of the first largest element that is not NaN along an axis; without an axis, the index in the
/// flattened x. `nanargmax(tensor({nan, 1., 2.}))` is 2. Throws if all elements along the axis are NaN, for an axis
/// without elements, and for complex numbers. No gradient.
tensor nanargmax(const tensor& x, axis_index axis);
tensor nanargmax(const tensor& x);
/// The int32 index of the first smallest element that is not NaN. The rest is as for `nanargmax`.
tensor nanargmin(const tensor& x, axis_index axis);
tensor nanargmin(const tensor& x);
/// The running sum along an axis, with NaN counted as 0; without an axis, that of the flattened x.
/// `nancumsum(tensor({1., nan, 2.}))` is [1, 1, 3]. Dtypes are those of `cumsum`. Throws for complex numbers.
/// Differentiable: the gradient of NaN is 0.
tensor nancumsum(const tensor& x, axis_index axis);
tensor nancumsum(const tensor& x);
/// The running product along an axis, with NaN counted as 1. The rest is as for `nancumsum`.
tensor nancumprod(const tensor& x, axis_index axis);
tensor nancumprod(const tensor& x);

}  // namespace kerngrad
