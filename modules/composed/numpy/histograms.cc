// SPDX-License-Identifier: Apache-2.0
// Counts of elements between edges, by NumPy's names.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_histograms;

import :std;
import :core;
import :tensor;
import :engine;

export namespace kerngrad {

/// The index of the bin of each element between edges, a list in ascending or descending order: int32, of x's shape.
/// Index i means `edges[i - 1] <= x < edges[i]`; with `right` the upper edge belongs to the bin and the lower does not.
/// 0 is before the first edge, the number of edges after the last: `digitize(tensor({0.5, 3.}), tensor({0., 1.,
/// 2.}))` is [1, 3]. NaN is after all. Throws for edges that are in no order, and for complex numbers. No gradient.
tensor digitize(const tensor& x, const tensor& edges, bool right = false);

/// Options of bincount without a size: the least number of bins, and weights of x's shape.
struct bincount_options {
  std::int64_t minlength = 0;
  tensor weights{};
};
/// `bincount` with as many bins as the greatest element needs, or `minlength` if that is more: of integers
/// `bincount(tensor({1, 3, 1}), {.minlength = 2})` is [0, 2, 0, 1]. The result's size follows from the elements and
/// counts under the memory limit. Throws for elements below 0. Differentiable in the weights.
tensor bincount(const tensor& x, const bincount_options& options);
inline tensor bincount(const tensor& x) { return bincount(x, bincount_options{}); }

/// Options of histograms. `range` is the least and the greatest edge of bins of equal width; without it they are the
/// least and the greatest element. `weights` has the shape of x, or a weight for each sample. With `density` the counts
/// are divided by their sum and by the size of the bin, so that they integrate to 1.
struct histogram_options {
  std::optional<std::array<double, 2>> range{};
  tensor weights{};
  bool density = false;
};
/// The parts of `histogram`.
struct histogram_parts {
  tensor counts, edges;
};
/// The number of elements of x in each of `bins` bins of equal width: counts [bins] and edges [bins + 1]. Each bin has
/// its lower edge and the last one its upper edge, too. Elements outside and NaN do not count. Counts are int32, those
/// of weights have the dtype of the weights, densities are floats. Edges are floats: float32 for half precision, uint8
/// and bool, float64 of int32 and int64. A range of equal ends is widened by 0.5 on both sides; of nothing it is 0
/// to 1. Throws for fewer than one bin, a range that is not finite, and complex numbers. The counts are differentiable
/// in the weights: `histogram(tensor({0., 1., 4.}), 2).counts` is [2, 1].
histogram_parts histogram(const tensor& x, std::int64_t bins = 10, const histogram_options& options = {});
/// The histogram between given edges, an ascending list of at least two; `range` is not used.
histogram_parts histogram(const tensor& x, const tensor& edges, const histogram_options& options = {});

/// The parts of `histogram2d`.
struct histogram2d_parts {
  tensor counts, x_edges, y_edges;
};
/// The number of pairs of elements of x and y, lists of one length, in each of bins[0] times bins[1] rectangles. The
/// rest is as for `histogram`, with a range of its own for each list: without `range` their ends.
histogram2d_parts histogram2d(const tensor& x, const tensor& y, std::array<std::int64_t, 2> bins = {10, 10},
                              const histogram_options& options = {});
/// The histogram of two variables between given edges of each.
histogram2d_parts histogram2d(const tensor& x, const tensor& y, const tensor& x_edges, const tensor& y_edges,
                              const histogram_options& options = {});

/// The parts of `histogramdd`: a list of edges for each axis.
struct histogramdd_parts {
  tensor counts;
  tensor_list edges;
};
/// The number of samples, rows of a matrix [samples, axes], in each box between given edges, a list for each column.
/// There are at most 8 columns. The rest is as for `histogram`.
histogramdd_parts histogramdd(const tensor& samples, std::span<const tensor> edges,
                              const histogram_options& options = {});
inline histogramdd_parts histogramdd(const tensor& samples, std::initializer_list<tensor> edges,
                                     const histogram_options& options = {}) {
  return histogramdd(samples, std::span(edges.begin(), edges.size()), options);
}
/// The histogram with bins of equal width, a number of them for each column.
histogramdd_parts histogramdd(const tensor& samples, std::span<const std::int64_t> bins,
                              const histogram_options& options = {});
inline histogramdd_parts histogramdd(const tensor& samples, std::initializer_list<std::int64_t> bins,
                                     const histogram_options& options = {}) {
  return histogramdd(samples, std::span(bins.begin(), bins.size()), options);
}

}  // namespace kerngrad
