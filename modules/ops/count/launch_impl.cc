// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops that count elements.
module;
#include "kernels/common/abi.h"
#include "kernels/count/bincount.h"
#include "kernels/count/unique.h"
#include "kernels/move/move.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::launch {

using namespace detail;

namespace {

template <class T>
void refuse_negative(const launch_call& c, const T* x, std::int64_t count) {
  T signs = 0;  // of all elements together, which vectors find
  for (std::int64_t i = 0; i < count; ++i) signs = static_cast<T>(signs | x[i]);
  if (signs >= 0) return;
  std::int64_t i = 0;
  while (x[i] >= 0) ++i;
  c.call.refuse("the element " + std::to_string(x[i]) + " at " + std::to_string(i) + " of x", "elements of 0 or more",
                "clip them, or add what is missing to all");
}

}  // namespace

void bincount(const launch_call& c) {
  const view& x = c.in[0];
  kernels::with_counted_elements(x.type, x.data, [&]<class T>(const T* elements) {
    if constexpr (std::is_signed_v<T>) refuse_negative(c, elements, x.dims.size());
  });
  const bool dense = c.call.row.attrs.size() > 1;
  const std::int64_t size = c.call.attr(place_in(attributes::bincount, "size")).as_integer();
  const std::int64_t rows = dense ? extent_of(x.dims, 0, x.dims.rank() - 1) : 1;
  const kernels::bincount_geometry g{
      .rows = rows,
      .count = x.dims.size() / rows,
      .size = size,
      .elements = x.type,
      .weighted = shapes::has_weights(c.call),
      .binary = dense && c.call.attr(place_in(attributes::dense_bincount, "binaryOutput")).as_bool()};
  run_kernel_of(c, g);
}

void unique(const launch_call& c) {
  const view& x = c.in[0];
  const int axis = resolved(c, resolved_geometry::kind::axis).axis.at;
  const std::int64_t count = x.dims[axis], outer = extent_of(x.dims, 0, axis),
                     inner = extent_of(x.dims, axis + 1, x.dims.rank());
  const auto room = [](dtype type, std::int64_t size) { return tensor_access::adopt(allocate(type, {size})); };
  const auto data = [](const tensor& t) { return tensor_access::buffer(t)->data; };
  tensor rows;  // slices that do not lie together, as rows
  if (outer > 1) {
    rows = room(x.type, x.dims.size());
    copy_strided(c, x.data, data(rows), x.type,
                 {{count, inner, outer * inner}, {outer, count * inner, inner}, {inner, 1, 1}});
  }
  const tensor firsts = room(dtype::int32, count);
  std::int64_t found = 0;
  const kernels::unique_geometry g{count, outer * inner, c.call.attr(place_in(attributes::unique, "sorted")).as_bool()};
  const void* in[] = {outer > 1 ? data(rows) : x.data};
  void* out[] = {c.out[1].data, data(firsts), &found};
  c.kernel.run(in, out, &g);
  if (x.dims.size() > 0) {
    const kernels::gather_geometry taken{outer, count, inner, found, 1};
    const void* from[] = {x.data, data(firsts)};
    kernel_of<"GatherV2">(c.from, x.type).run(from, &c.out[0].data, &taken);
  }
  made(c, 0, shapes::with_axis(x.dims, axis, found));
}

}  // namespace kerngrad::launch
