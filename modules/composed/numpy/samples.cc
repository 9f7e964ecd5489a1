// SPDX-License-Identifier: Apache-2.0
// Statistics of several variables, and functions known by samples: integrals, derivatives, curves through them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_samples;

import :std;
import :core;
import :tensor;
import :axes;
import :composed_statistics;

export namespace kerngrad {

/// `variance`, by NumPy's name. Homogeneous of degree 2.
inline tensor var(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0) {
  return variance(x, over, keep_dims, ddof);
}
/// `standard_deviation`, by NumPy's name. Homogeneous of degree 1.
inline tensor std(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0) {
  return standard_deviation(x, over, keep_dims, ddof);
}
/// The sum of x times `weights` over axes, all by default, divided by that of the weights. Weights have x's shape or,
/// next to one axis, that axis alone: `average(tensor({1., 3.}), tensor({3., 1.}))` is 1.5. Integers give floats as
/// `mean`. Weights with the sum 0 give NaN or infinity. Throws for complex numbers and other shapes. Differentiable.
tensor average(const tensor& x, const tensor& weights, const axes& over = all_axes, bool keep_dims = false);

/// Options of cov. `y` has more variables, with as many observations. With `rowvar` a row is a variable and a column an
/// observation, without it the other way around. The divisor is the number of observations less `ddof`: 1, or 0 with
/// `bias`, unless it is given. `fweights` says how often each observation was made, `aweights` how much it counts.
struct cov_options {
  tensor y{};
  bool rowvar = true, bias = false;
  std::optional<std::int64_t> ddof{};
  tensor fweights{}, aweights{};
};
/// The covariances of variables, a matrix [variables, variables]; of one variable a scalar. x has rank 1, one variable,
/// or 2: `cov(tensor{{1., 2., 3.}, {1., 3., 2.}})` is [[1, 0.5], [0.5, 1]]. NaN or infinity where the divisor is 0;
/// a divisor below 0 counts as 0. Integers give floats as `mean`. Throws for complex numbers. Differentiable.
/// Homogeneous of degree 2.
tensor cov(const tensor& x, const cov_options& options = {});
/// The correlation coefficients of variables, `cov` divided by the deviations of both, from -1 to 1. Weights, `bias`
/// and `ddof` are not used: they cancel or are not offered by NumPy. NaN for a constant variable. Differentiable.
/// Homogeneous of degree 0.
tensor corrcoef(const tensor& x, const cov_options& options = {});

/// The integral of samples along an axis at distances of `dx`, by the trapezoidal rule: `trapezoid(tensor({1., 2.,
/// 4.}))` is 4.5. Integers give floats as `mean`. 0 for fewer than two samples. Differentiable.
tensor trapezoid(const tensor& y, double dx = 1, axis_index axis = -1);
/// The same at positions x: a list for the axis, or of y's shape.
tensor trapezoid(const tensor& y, const tensor& x, axis_index axis = -1);
/// The integrals from the first sample to each other one: an axis with one element less, as SciPy's function.
/// `cumulative_trapezoid(tensor({1., 2., 4.}))` is [1.5, 4.5]. The rest is as for `trapezoid`.
tensor cumulative_trapezoid(const tensor& y, double dx = 1, axis_index axis = -1);
tensor cumulative_trapezoid(const tensor& y, const tensor& x, axis_index axis = -1);

/// The derivative of samples along one axis at distances of `spacing`, of y's shape: central differences inside, and
/// at both ends one-sided ones of order `edge_order`, 1 or 2. `gradient(tensor({1., 2., 4.}))` is [1, 1.5, 2].
/// Integers give floats as `mean`. Throws for an axis of fewer than `edge_order` + 1 samples. Differentiable.
tensor gradient(const tensor& y, double spacing = 1, axis_index axis = -1, int edge_order = 1);
/// The same at positions, a list of distinct numbers for the axis (Fornberg 1988, of second order inside).
tensor gradient(const tensor& y, const tensor& positions, axis_index axis = -1, int edge_order = 1);

/// Options of interp: the values before the first and after the last position, which are the first and last of `fp`.
struct interp_options {
  std::optional<double> left{}, right{};
};
/// The values at x of the polygon through the points (xp, fp), lists of one length of at least 1; xp ascends, which is
/// not checked. Has x's shape and the promoted float: `interp(tensor({0.5, 9.}), tensor({0., 1.}), tensor({2., 4.}))`
/// is [3, 4]. NaN where x is. Throws for complex numbers. Differentiable in x, xp and fp.
tensor interp(const tensor& x, const tensor& xp, const tensor& fp, const interp_options& options = {});
/// The same at one position: a scalar.
tensor interp(double x, const tensor& xp, const tensor& fp, const interp_options& options = {});

/// The polynomial with coefficients p, a list with that of the highest power first, at x, by Horner's rule: of x's
/// shape and the promoted dtype. `polyval(tensor({1., 0., 2.}), tensor({3.}))` is [11]. 0 of no coefficients.
/// Differentiable in both.
tensor polyval(const tensor& p, const tensor& x);
/// The same at one number: a scalar.
tensor polyval(const tensor& p, double x);
/// The coefficients, the highest power first, of the polynomial of degree `degree` with the least squares of distances
/// at the samples y of positions x, lists of one length, times `weights`. `polyfit(tensor({0., 1., 2.}),
/// tensor({1., 3., 5.}), 1)` is [2, 1]. Computed in float64 by polynomials that are orthogonal at the positions; the
/// dtype is the promoted float. Throws for fewer samples than coefficients. Positions that are too few or too close
/// together give NaN or noise. Differentiable.
tensor polyfit(const tensor& x, const tensor& y, std::int64_t degree, const tensor& weights = {});

}  // namespace kerngrad
