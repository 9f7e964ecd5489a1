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

/// The variance over axes: `variance`, by NumPy's name. Homogeneous of degree 2.
inline tensor var(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0) {
  return variance(x, over, keep_dims, ddof);
}
/// The standard deviation over axes: `standard_deviation`, by NumPy's name. Homogeneous of degree 1.
inline tensor std(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0) {
  return standard_deviation(x, over, keep_dims, ddof);
}
/// The weighted mean over axes, all by default: the sum of x times `weights`, divided by the sum of the weights.
/// `average(tensor({1., 3.}), tensor({3., 1.}))` is 1.5. Weights have x's shape. For a single axis they may be a vector
/// along it. Dtypes are those of `mean`. Weights with the sum 0 give NaN or infinity. Throws for complex numbers and
/// other shapes. Differentiable.
tensor average(const tensor& x, const tensor& weights, const axes& over = all_axes, bool keep_dims = false);

/// Options of cov. `y` has further variables with as many observations. With `rowvar` each row is a variable and each
/// column an observation; without it each column is a variable. The divisor is the number of observations minus `ddof`,
/// which is 1 by default, or 0 with `bias`. `fweights` are numbers of repetitions of each observation, `aweights` its
/// importance.
struct cov_options {
  tensor y{};
  bool rowvar = true, bias = false;
  std::optional<std::int64_t> ddof{};
  tensor fweights{}, aweights{};
};
/// The covariance matrix of variables, [variables, variables]; a scalar for one variable. `cov(tensor{{1., 2., 3.},
/// {1., 3., 2.}})` is [[1, 0.5], [0.5, 1]]. x is a vector, one variable, or a matrix. NaN or infinity if the divisor is
/// 0; a divisor below 0 counts as 0. Dtypes are those of `mean`. Throws for complex numbers. Differentiable.
/// Homogeneous of degree 2.
tensor cov(const tensor& x, const cov_options& options = {});
/// The correlation coefficients of variables, from -1 to 1: `cov` divided by both standard deviations. Weights, `bias`
/// and `ddof` are ignored: they cancel, or NumPy does not offer them. NaN for a constant variable. Differentiable.
/// Homogeneous of degree 0.
tensor corrcoef(const tensor& x, const cov_options& options = {});

/// The integral of samples y with the distance `dx` along an axis, by the trapezoidal rule: `trapezoid(tensor({1., 2.,
/// 4.}))` is 4.5. 0 for fewer than two samples. Dtypes are those of `mean`. Differentiable. Homogeneous of degree 1.
tensor trapezoid(const tensor& y, double dx = 1, axis_index axis = -1);
/// The integral of samples y at positions x along an axis, by the trapezoidal rule. x is a vector for the axis, or has
/// y's shape; else it throws. The result has the promoted float dtype. Differentiable. Homogeneous of degree 1 in y.
tensor trapezoid(const tensor& y, const tensor& x, axis_index axis = -1);
/// The integrals from the first sample to each later one, as scipy.integrate.cumulative_trapezoid:
/// `cumulative_trapezoid(tensor({1., 2., 4.}))` is [1.5, 4.5]. The axis has one element less. The rest is as for
/// `trapezoid`. Homogeneous of degree 1 in y.
tensor cumulative_trapezoid(const tensor& y, double dx = 1, axis_index axis = -1);
tensor cumulative_trapezoid(const tensor& y, const tensor& x, axis_index axis = -1);

/// The derivative of samples along one axis, in y's shape: `gradient(tensor({1., 2., 4.}))` is [1, 1.5, 2]. It has
/// central differences inside, and one-sided ones of order `edge_order`, 1 or 2, at the ends. Samples have the distance
/// `spacing`. Dtypes are those of `mean`. Throws for an axis of fewer than `edge_order` + 1 samples. Differentiable.
/// Homogeneous of degree 1.
tensor gradient(const tensor& y, double spacing = 1, axis_index axis = -1, int edge_order = 1);
/// The derivative of samples at `positions`, a vector of distinct numbers for the axis. Between the ends it is accurate
/// to second order (Fornberg 1988). The rest is as for `gradient` with a spacing. Homogeneous of degree 1 in y.
tensor gradient(const tensor& y, const tensor& positions, axis_index axis = -1, int edge_order = 1);

/// Options of interp: the values left of the first position and right of the last one. By default they are the first
/// and the last element of `fp`.
struct interp_options {
  std::optional<double> left{}, right{};
};
/// Piecewise linear interpolation at x between the points (xp, fp), vectors of one length of at least 1.
/// `interp(tensor({0.5, 9.}), tensor({0., 1.}), tensor({2., 4.}))` is [3, 4]. xp must ascend, which is not checked. The
/// result has x's shape and the promoted float dtype. NaN if x is NaN. Throws for complex numbers and without points.
/// Differentiable in x, xp and fp. Homogeneous of degree 1 in fp without `left` and `right`.
tensor interp(const tensor& x, const tensor& xp, const tensor& fp, const interp_options& options = {});
/// Piecewise linear interpolation at one position, which gives a scalar. The rest is as for `interp` with a tensor.
tensor interp(double x, const tensor& xp, const tensor& fp, const interp_options& options = {});

/// The value at x of the polynomial with coefficients p, a vector with the highest power first, by Horner's rule.
/// `polyval(tensor({1., 0., 2.}), tensor({3.}))` is [11]. The result has x's shape and the promoted dtype. It is 0
/// without coefficients. Differentiable in both.
tensor polyval(const tensor& p, const tensor& x);
/// The value of the polynomial with coefficients p at one number, a scalar. The rest is as for `polyval` with a tensor.
tensor polyval(const tensor& p, double x);
/// The coefficients, the highest power first, of the polynomial of degree `degree` that fits samples y at positions x
/// best. `polyfit(tensor({0., 1., 2.}), tensor({1., 3., 5.}), 1)` is [2, 1]. It minimizes the sum of (weight *
/// distance)^2, as numpy.polyfit. All three are vectors of one length. Computed in float64 with polynomials that are
/// orthogonal at the positions; the result has the promoted float dtype. Throws for fewer samples than coefficients.
/// Positions that are too few or too close together give NaN or noise. Differentiable.
tensor polyfit(const tensor& x, const tensor& y, std::int64_t degree, const tensor& weights = {});

}  // namespace kerngrad
