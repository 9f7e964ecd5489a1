// SPDX-License-Identifier: Apache-2.0
// Launchers of the reductions and scans.
module;
#include <algorithm>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/remove_if.hpp>
#include <range/v3/view/transform.hpp>
#include "kernels/common/abi.h"
#include "kernels/move/move.h"
#include "kernels/reduce/reduce.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::launch {

namespace views = ranges::views;

void reduce(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const shapes::axis_set axes = detail::resolved(c, resolved_geometry::kind::axes).axes;
  const auto is_reduced = [axes](int i) { return ((axes >> i) & 1) != 0; };
  const auto size_at = [&dims](int i) { return dims[i]; };
  int first = dims.rank(), last = -1;
  for (int i : views::iota(0, dims.rank())) {
    if (!is_reduced(i)) continue;
    first = std::min(first, i);
    last = i;
  }
  if (last < 0) return detail::run_outer(c, kernels::reduce_geometry{dims.size(), 1, 1});
  const bool gap =
      std::ranges::any_of(views::iota(first, last + 1), [&](int i) { return !is_reduced(i) && dims[i] != 1; });
  if (!gap) {
    const kernels::reduce_geometry g{detail::extent_of(dims, 0, first), detail::extent_of(dims, first, last + 1),
                                     detail::extent_of(dims, last + 1, dims.rank())};
    return detail::run_outer(c, g);
  }
  // Reduced axes with kept ones between them: bring the reduced ones to the end first.
  const auto all = views::iota(0, dims.rank());
  auto kept = all | views::remove_if(is_reduced);
  auto reduced = all | views::filter(is_reduced);
  const std::vector<int> perm = views::concat(kept, reduced) | ranges::to<std::vector>();
  const auto extent_at = [&](auto axes_of) {
    return ranges::accumulate(axes_of | views::transform(size_at), std::int64_t{1}, std::multiplies{});
  };
  const std::int64_t outer = extent_at(kept), count = extent_at(reduced);
  const tensor scratch = tensor_access::adopt(detail::allocate(c.in[0].type, dims));
  void* moved = tensor_access::buffer(scratch)->data;
  detail::permute(c, c.in[0].data, moved, c.in[0].type, dims, perm);
  const view in[] = {{moved, dims, c.in[0].type}};
  detail::run_outer(
      {.call = c.call, .kernel = c.kernel, .from = c.from, .built_in = c.built_in, .in = in, .out = c.out},
      kernels::reduce_geometry{.outer = outer, .count = count, .inner = 1});
}

void scan(const launch_call& c) {
  const kernels::reduce_geometry g = detail::split_at_axis(c);
  detail::run_outer(c, kernels::scan_geometry{g.outer, g.count, g.inner,
                                              c.call.attr(place_in(attributes::scan, "exclusive")).as_bool(),
                                              c.call.attr(place_in(attributes::scan, "reverse")).as_bool()});
}

}  // namespace kerngrad::launch
