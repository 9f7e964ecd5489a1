// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

namespace {

tensor first_elements(const tensor& list, std::int64_t count) { return slice(list, {0}, {count}); }
tensor last_elements(const tensor& list, std::int64_t count) { return slice(list, {list.size() - count}, {count}); }

bool ascends(const tensor& list) {
  if (list.size() < 2) return !any(is_nan(list)).item();
  return all(last_elements(list, list.size() - 1) >= first_elements(list, list.size() - 1)).item() != 0;
}

tensor edges_checked(const composed& call, const tensor& edges) {
  call.rank("edges", edges, 1, 1);
  call.real("edges", edges);
  if (edges.size() < 2) call.refuse(shaped("edges", edges), "at least two edges");
  if (!ascends(edges)) call.refuse("edges that do not ascend", "edges in ascending order", "sort them");
  return edges;
}

// Edges of bins of equal width, from the range or the elements.
tensor even_edges(const composed& call, const tensor& x, std::int64_t bins,
                  const std::optional<std::array<double, 2>>& range) {
  call.real("x", x);
  if (bins < 1) call.refuse(std::to_string(bins) + " bins", "1 or more");
  double first = 0, last = 1;
  if (range) first = (*range)[0], last = (*range)[1];
  else if (x.size() > 0) first = min(x).item(), last = max(x).item();
  if (!(std::isfinite(first) && std::isfinite(last) && first <= last))
    call.refuse("a range from " + to_string(attr_value(first)) + " to " + to_string(attr_value(last)),
                "finite ends in ascending order", "pass a range");
  if (first == last) first -= 0.5, last += 0.5;
  const dtype type = computed_in(lifted(x.type(), lift::quotients), wide_floats);
  return cast(linspace(first, last, bins + 1, dtype::float64), type);
}

constexpr operand even_operands[] = {{"x", wide_floats}, {"edges", wide_floats}};
void infer_even(inference& call) { call.give(call.in[0].dims, dtype::int64); }

/// The last of the edges that is not above an element, by its distance from the first one; -1 outside of the edges.
/// Edges are evenly spaced but for their rounding, so that neighbors of the bin that the quotient gives decide.
struct EvenBins {
  static constexpr op_row row{.name = "EvenBins",
                              .doc = "The bin of each element between edges that are evenly spaced.",
                              .group = family::sort,
                              .operands = even_operands,
                              .infer = infer_even,
                              .no_gradient = "the result is an index",
                              .cost = 8};

  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> x = elements_in<T>(c, 0), edges = elements_in<T>(c, 1);
    const std::span<std::int64_t> y = elements_out<std::int64_t>(c);
    const std::int64_t bins = std::ssize(edges) - 1;
    const T first = edges.front(), last = edges.back();
    const double scale = static_cast<double>(bins) / (static_cast<double>(last) - static_cast<double>(first));
    const T* const at = edges.data();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T value = x[i];
      const double along = (static_cast<double>(value) - static_cast<double>(first)) * scale;
      // NaN, also as the quotient of infinite distances, is in the last bin here.
      std::int64_t bin =
          along < static_cast<double>(bins) ? static_cast<std::int64_t>(along < 0 ? 0 : along) : bins - 1;
      while (bin > 0 && value < at[bin]) --bin;
      while (bin + 1 < bins && value >= at[bin + 1]) ++bin;
      y[i] = value >= first && value <= last ? bin : -1;
    }
  }
  static constexpr auto kernels = on_calls<wide_floats>([]<class T>(const launch_call& c) { run<T>(c); });
};

// The bin of each element, int64, or -1 outside of the edges.
tensor bins_of(const tensor& x, const tensor& edges, bool even) {
  const std::int64_t bins = edges.size() - 1;
  const dtype type = promote(x.type(), edges.type());
  const tensor at = cast(x, type), between = cast(edges, type);
  if (even) return call<EvenBins>(detach(at), between);
  const tensor found = cast(upper_bound(between, at), dtype::int64) - 1;
  const tensor inside = found < bins, on_the_last = at == last_elements(between, 1);
  return where(inside, found, where(on_the_last, full_like(found, bins - 1), full_like(found, -1)));
}

// Sums of weights, or numbers, of elements in boxes between edges: an axis for each list.
tensor counts_in_boxes(const composed& call, std::span<const tensor> lists, std::span<const tensor> edges,
                       const histogram_options& options, bool even) {
  sizes_of sizes;
  std::int64_t boxes = 1;
  for (const tensor& of_axis : edges) {
    sizes.push_back(of_axis.size() - 1);
    if (__builtin_mul_overflow(boxes, sizes.back(), &boxes) || boxes == std::numeric_limits<std::int64_t>::max())
      call.refuse("bins of more than 2^63 - 1 boxes", "fewer bins");
  }
  tensor box, inside;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const tensor bin = bins_of(flatten(lists[i]), edges[i], even), is_in = bin >= 0;
    inside = i == 0 ? is_in : inside & is_in;
    box = i == 0 ? bin : box * sizes[i] + bin;
  }
  const tensor index = where(inside, box, full_like(box, boxes));  // that bin is dropped
  const bool weighted = options.weights.defined();
  tensor counts = weighted ? bincount(index, boxes, flatten(options.weights)) : bincount(index, boxes);
  if (!weighted && index.size() <= std::numeric_limits<std::int32_t>::max()) counts = cast(counts, dtype::int32);
  return reshape(counts, shape(sizes));
}

// Counts over their sum and the sizes of the boxes.
tensor densities(const tensor& counts, std::span<const tensor> edges) {
  const dtype type = computed_in(lifted(counts.type(), lift::quotients), wide_floats);
  const tensor shares = cast(counts, type);
  tensor density = shares / sum(shares);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    sizes_of along(edges.size(), 1);
    along[i] = edges[i].size() - 1;
    density = density / reshape(cast(diff(edges[i]), type), shape(along));
  }
  return density;
}

tensor histogram_of(const composed& call, std::span<const tensor> lists, std::span<const tensor> edges,
                    const histogram_options& options, bool even) {
  for (const tensor& list : lists) call.real("x", list);
  if (options.weights.defined()) {
    call.real("weights", options.weights);
    call.one_shape("weights", options.weights, "x", lists[0]);
  }
  const tensor counts = counts_in_boxes(call, lists, edges, options, even);
  return options.density ? densities(counts, edges) : counts;
}

tensor_list columns_of(const composed& call, const tensor& samples, std::size_t lists) {
  call.rank("samples", samples, 2, 2);
  call.real("samples", samples);
  const std::int64_t columns = samples.dims()[1];
  if (columns < 1 || columns > max_rank) call.refuse(shaped("samples", samples), "1 to 8 columns");
  if (static_cast<std::size_t>(columns) != lists)
    call.refuse(std::to_string(lists) + " axes of bins for " + shaped("samples", samples), "one for each column");
  return unstack(samples, 1);
}

}  // namespace

tensor digitize(const tensor& x, const tensor& edges, bool right) {
  constexpr composed call{"digitize"};
  call.real("x", x);
  call.rank("edges", edges, 1, 1);
  call.real("edges", edges);
  const std::string_view side = right ? "left" : "right";
  if (ascends(edges)) return searchsorted(edges, x, side);
  const tensor turned = reverse(edges, 0);
  if (!ascends(turned)) call.refuse("edges in no order", "edges that ascend or descend", "sort them");
  return cast(full({}, edges.size(), dtype::int32) - searchsorted(turned, x, side), dtype::int32);
}

tensor bincount(const tensor& x, const bincount_options& options) {
  constexpr composed call{"bincount"};
  call.given("x", x);
  if (!(integral | boolean_only).has(x.type()))
    call.refuse("operand x of dtype " + std::string(name_of(x.type())), to_string(integral | boolean_only), "cast it");
  if (options.minlength < 0) call.refuse("minlength " + std::to_string(options.minlength), "0 or more");
  std::int64_t size = options.minlength;
  if (x.size() > 0) {
    const double last = max(cast(x, lifted(x.type(), lift::integers))).item();
    constexpr double most = 1LL << 53;  // up to which the number of bins is exact; no memory holds as many
    if (last >= most) call.refuse("element " + to_string(attr_value(last)), "elements below 2^53");
    size = std::max(size, static_cast<std::int64_t>(last) + 1);
  }
  return options.weights.defined() ? bincount(x, size, options.weights) : bincount(x, size);
}

histogram_parts histogram(const tensor& x, std::int64_t bins, const histogram_options& options) {
  constexpr composed call{"histogram"};
  const tensor edges = even_edges(call, x, bins, options.range);
  return {histogram_of(call, {&x, 1}, {&edges, 1}, options, true), edges};
}
histogram_parts histogram(const tensor& x, const tensor& edges, const histogram_options& options) {
  constexpr composed call{"histogram"};
  edges_checked(call, edges);
  return {histogram_of(call, {&x, 1}, {&edges, 1}, options, false), edges};
}

histogram2d_parts histogram2d(const tensor& x, const tensor& y, std::array<std::int64_t, 2> bins,
                              const histogram_options& options) {
  constexpr composed call{"histogram2d"};
  call.real("x", x);
  call.real("y", y);
  return histogram2d(x, y, even_edges(call, x, bins[0], options.range), even_edges(call, y, bins[1], options.range),
                     options);
}
histogram2d_parts histogram2d(const tensor& x, const tensor& y, const tensor& x_edges, const tensor& y_edges,
                              const histogram_options& options) {
  constexpr composed call{"histogram2d"};
  call.rank("x", x, 1, 1);
  call.one_shape("x", x, "y", y);
  const std::array lists{x, y}, edges{edges_checked(call, x_edges), edges_checked(call, y_edges)};
  return {histogram_of(call, lists, edges, options, false), x_edges, y_edges};
}

histogramdd_parts histogramdd(const tensor& samples, std::span<const tensor> edges, const histogram_options& options) {
  constexpr composed call{"histogramdd"};
  const tensor_list columns = columns_of(call, samples, edges.size());
  tensor_list all;
  for (const tensor& of_axis : edges) all.push_back(edges_checked(call, of_axis));
  const tensor counts = histogram_of(call, columns, edges, options, false);
  return {counts, all};
}
histogramdd_parts histogramdd(const tensor& samples, std::span<const std::int64_t> bins,
                              const histogram_options& options) {
  constexpr composed call{"histogramdd"};
  const tensor_list columns = columns_of(call, samples, bins.size());
  std::vector<tensor> edges;
  for (std::size_t i = 0; i < bins.size(); ++i) edges.push_back(even_edges(call, columns[i], bins[i], options.range));
  return histogramdd(samples, edges, options);
}

}  // namespace kerngrad
