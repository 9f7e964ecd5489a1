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

/// The index of the bin of each element: int32 of x's shape. `digitize(tensor({0.5, 3.}), tensor({0., 1., 2.}))` is [1,
/// 3]. `edges` is a vector in ascending or descending order. For ascending edges, index i means `edges[i - 1] <= x <
/// edges[i]`; with `right` the upper edge belongs to the bin and the lower one does not. Index 0 stands for elements
/// before the first edge, the number of edges for those after the last. NaN counts as larger than all edges. Throws for
/// unsorted edges and for complex numbers. No gradient.
tensor digitize(const tensor& x, const tensor& edges, bool right = false);

/// Options of bincount without a size: the minimal number of bins, and weights of x's shape.
struct bincount_options {
  std::int64_t minlength = 0;
  tensor weights{};
};
/// Counts how often each integer 0, 1, ... occurs in x, with as many bins as the largest element needs, but at least
/// `minlength`. `bincount(tensor({1, 3, 1}), {.minlength = 2})` is [0, 2, 0, 1]. x has integers or booleans. A large
/// element makes a large result, which the memory limit may reject. Throws for elements below 0. Differentiable in the
/// weights.
tensor bincount(const tensor& x, const bincount_options& options);
inline tensor bincount(const tensor& x) { return bincount(x, bincount_options{}); }

/// Options of histograms. Bins of equal width span `range`, by default from the smallest to the largest element.
/// `weights` has the shape of x, or one weight per sample. With `density` the counts are divided by their sum and by
/// the size of the bin, so that they integrate to 1.
struct histogram_options {
  std::optional<std::array<double, 2>> range{};
  tensor weights{};
  bool density = false;
};
/// The parts of `histogram`: the counts [bins] and the edges of the bins [bins + 1].
struct histogram_parts {
  tensor counts, edges;
};
/// The number of elements of x in each of `bins` bins of equal width: counts [bins] and edges [bins + 1].
/// `histogram(tensor({0., 1., 4.}), 2).counts` is [2, 1]. A bin includes its lower edge; the last one also includes its
/// upper edge. Elements outside and NaN do not count. Counts are int32, or of the dtype of the weights; densities are
/// floats. Edges have the dtype of `mean`, and float32 for half precision. A range of equal ends is widened by 0.5 on
/// both sides. Without elements the range is 0 to 1. Throws for fewer than one bin, a range that is not finite, and
/// complex numbers. The counts are differentiable in the weights.
histogram_parts histogram(const tensor& x, std::int64_t bins = 10, const histogram_options& options = {});
/// The number of elements of x in each bin between given edges, an ascending vector of at least two; `range` is
/// ignored. The rest is as for `histogram` with a number of bins.
histogram_parts histogram(const tensor& x, const tensor& edges, const histogram_options& options = {});

/// The parts of `histogram2d`: the counts [bins of x, bins of y], and the edges of the bins of x and of y.
struct histogram2d_parts {
  tensor counts, x_edges, y_edges;
};
/// The number of pairs of elements of x and y in each of bins[0] times bins[1] rectangles. x and y are vectors of one
/// length. The bins of x span its smallest to largest element, unless `range` is given; those of y likewise. The rest
/// is as for `histogram`.
histogram2d_parts histogram2d(const tensor& x, const tensor& y, std::array<std::int64_t, 2> bins = {10, 10},
                              const histogram_options& options = {});
/// The number of pairs of elements of x and y in each rectangle between given edges of both. The rest is as for
/// `histogram2d` with numbers of bins.
histogram2d_parts histogram2d(const tensor& x, const tensor& y, const tensor& x_edges, const tensor& y_edges,
                              const histogram_options& options = {});

/// The parts of `histogramdd`: the counts, and the edges of each axis.
struct histogramdd_parts {
  tensor counts;
  tensor_list edges;
};
/// Counts points in boxes. `samples` is [points, axes] with at most 8 axes; `edges` has a vector of bin edges for each
/// axis. The rest is as for `histogram`.
histogramdd_parts histogramdd(const tensor& samples, std::span<const tensor> edges,
                              const histogram_options& options = {});
inline histogramdd_parts histogramdd(const tensor& samples, std::initializer_list<tensor> edges,
                                     const histogram_options& options = {}) {
  return histogramdd(samples, std::span(edges.begin(), edges.size()), options);
}
/// Counts points in boxes, with `bins[k]` bins of equal width on axis k. The rest is as for `histogramdd` with edges.
histogramdd_parts histogramdd(const tensor& samples, std::span<const std::int64_t> bins,
                              const histogram_options& options = {});
inline histogramdd_parts histogramdd(const tensor& samples, std::initializer_list<std::int64_t> bins,
                                     const histogram_options& options = {}) {
  return histogramdd(samples, std::span(bins.begin(), bins.size()), options);
}

}  // namespace kerngrad
