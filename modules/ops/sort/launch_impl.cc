// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops that order elements. Their kernels split the work themselves: rows need memory to be sorted in.
module;
#include <cstddef>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/reduce/reduce.h"
#include "kernels/sort/search.h"
#include "kernels/sort/sort.h"
#include "kernels/sort/top.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;

namespace {

void search(const launch_call& c, bool right) {
  const shape &sequences = c.in[0].dims, &values = c.in[1].dims;
  if (values.size() == 0) return;
  const std::int64_t rows = extent_of(sequences, 0, sequences.rank() - 1);
  run_kernel_of(
      c, kernels::search_geometry{
             .rows = rows, .count = sequences[sequences.rank() - 1], .values = values.size() / rows, .right = right});
}

}  // namespace

// Sort and ArgSort. Elements along another axis than the last become rows and go back.
void sort(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  if (dims.size() == 0) return;
  const kernels::reduce_geometry at = split_at_axis(c);
  const kernels::sort_geometry g{.rows = at.outer * at.inner,
                                 .count = at.count,
                                 .descending = c.call.attr(place_in(attributes::sort, "descending")).as_bool()};
  if (at.inner == 1) return run_kernel_of(c, g);
  constexpr int swapped[] = {0, 2, 1};
  const auto bytes = [&](dtype type) {
    return kernels::product_of(dims.size(), static_cast<std::int64_t>(size_of(type)));
  };
  kernels::scratch<std::byte> x(bytes(c.in[0].type)), y(bytes(c.out[0].type));
  permute(c, c.in[0].data, x.data(), c.in[0].type, {at.outer, at.count, at.inner}, swapped);
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  c.kernel.run(in, out, &g);
  permute(c, y.data(), c.out[0].data, c.out[0].type, {at.outer, at.inner, at.count}, swapped);
}

void top_k(const launch_call& c) {
  const shape &x = c.in[0].dims, &y = c.out[0].dims;
  if (y.size() == 0) return;
  run_kernel_of(
      c, kernels::top_geometry{.rows = extent_of(x, 0, x.rank() - 1), .count = x[x.rank() - 1], .k = y[y.rank() - 1]});
}

void search_sorted(const launch_call& c) {
  search(c, c.call.attr(place_in(attributes::search_sorted, "side")).as_text() == "right");
}
void lower_bound(const launch_call& c) { search(c, false); }
void upper_bound(const launch_call& c) { search(c, true); }

}  // namespace kerngrad::launch
