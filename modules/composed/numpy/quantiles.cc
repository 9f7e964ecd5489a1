// SPDX-License-Identifier: Apache-2.0
// Several quantiles at once, in each of NumPy's definitions, and those that pass over NaN.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_quantiles;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// The interpolation of a quantile between sorted elements. The first nine are the definitions 1 to 9 of Hyndman and
/// Fan 1996, by NumPy's names. The last four use the elements next to the position of `linear`: the one before, the one
/// after, the mean of both, or the nearest one.
enum class quantile_method : std::uint8_t {
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  linear,
  median_unbiased,
  normal_unbiased,
  lower,
  higher,
  midpoint,
  nearest,
};

/// The quantiles of x at each of `qs`, numbers from 0 to 1. `quantile(tensor({1., 2., 4.}), {0., 0.5})` is [1, 2]. The
/// result has a first axis with an index for each number; the other axes are those of `quantile` for one number.
/// Dtypes, NaN and errors are those of `quantile`. Differentiable. Homogeneous of degree 1.
tensor quantile(const tensor& x, std::span<const double> qs, const axes& over = all_axes, bool keep_dims = false,
                quantile_method method = quantile_method::linear);
inline tensor quantile(const tensor& x, std::initializer_list<double> qs, const axes& over = all_axes,
                       bool keep_dims = false, quantile_method method = quantile_method::linear) {
  return quantile(x, std::span(qs.begin(), qs.size()), over, keep_dims, method);
}
/// The q-quantile over axes by a method of your choice; `quantile` without a method takes `linear`. The rest is as for
/// `quantile`. Homogeneous of degree 1.
tensor quantile(const tensor& x, double q, const axes& over, bool keep_dims, quantile_method method);

/// The quantile at a percentage from 0 to 100: `percentile(tensor({1., 2., 4.}), 50)` is 2. The rest is as for
/// `quantile`. Differentiable. Homogeneous of degree 1.
tensor percentile(const tensor& x, double percent, const axes& over = all_axes, bool keep_dims = false,
                  quantile_method method = quantile_method::linear);
tensor percentile(const tensor& x, std::span<const double> percents, const axes& over = all_axes,
                  bool keep_dims = false, quantile_method method = quantile_method::linear);
inline tensor percentile(const tensor& x, std::initializer_list<double> percents, const axes& over = all_axes,
                         bool keep_dims = false, quantile_method method = quantile_method::linear) {
  return percentile(x, std::span(percents.begin(), percents.size()), over, keep_dims, method);
}

/// The quantile of the elements that are not NaN: `nanquantile(tensor({nan, 1., 3.}), 0.5)` is 2. NaN if there are
/// none. The rest is as for `quantile`. Differentiable: the gradient of NaN is 0. Homogeneous of degree 1.
tensor nanquantile(const tensor& x, double q, const axes& over = all_axes, bool keep_dims = false,
                   quantile_method method = quantile_method::linear);
tensor nanquantile(const tensor& x, std::span<const double> qs, const axes& over = all_axes, bool keep_dims = false,
                   quantile_method method = quantile_method::linear);
inline tensor nanquantile(const tensor& x, std::initializer_list<double> qs, const axes& over = all_axes,
                          bool keep_dims = false, quantile_method method = quantile_method::linear) {
  return nanquantile(x, std::span(qs.begin(), qs.size()), over, keep_dims, method);
}
/// The quantile of the elements that are not NaN, at a percentage from 0 to 100. The rest is as for `nanquantile`.
/// Homogeneous of degree 1.
tensor nanpercentile(const tensor& x, double percent, const axes& over = all_axes, bool keep_dims = false,
                     quantile_method method = quantile_method::linear);
/// The median over axes, all by default, of the elements that are not NaN: `nanmedian(tensor({nan, 1., 3.}))` is 2. The
/// rest is as for `nanquantile`. Differentiable. Homogeneous of degree 1.
tensor nanmedian(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

}  // namespace kerngrad
