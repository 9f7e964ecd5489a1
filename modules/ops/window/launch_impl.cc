// SPDX-License-Identifier: Apache-2.0
// Launchers of the convolutions and poolings.
module;
#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include "kernels/common/abi.h"
#include "kernels/window/pool.h"
#include "kernels/window/window.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::launch {

namespace views = ranges::views;

namespace {

const kernels::window_geometry& window_of(const launch_call& c) {
  return detail::resolved(c, resolved_geometry::kind::window).window;
}

constexpr std::array<int, 4> to_last{0, 2, 3, 1}, to_first{0, 3, 1, 2};

// Which operands of a convolution are images, and whether its result is one: the others are filters.
struct window_images {
  std::array<bool, 2> operands;
  bool result;
};
// A convolution, in one piece: its kernel splits the work. NCHW images go through NHWC.
void run_window(const launch_call& c, window_images is_image) {
  if (detail::filled_without_products(c)) return;
  const kernels::window_geometry& g = window_of(c);
  if (!shapes::is_channels_first(c.call)) {
    const void* in[] = {c.in[0].data, c.in[1].data};
    void* out[] = {c.out[0].data};
    return c.kernel.run(in, out, &g);
  }
  tensor scratch[3];
  const void* in[2];
  std::size_t i = 0;
  const auto image = [&](const view& x, int at, std::span<const int> perm) {
    const auto size_at = [&x](int axis) { return x.dims[axis]; };
    const auto dims = perm | views::transform(size_at) | ranges::to<std::vector<std::int64_t>>();
    scratch[at] = tensor_access::adopt(detail::allocate(x.type, shape(dims)));
    return tensor_access::buffer(scratch[at])->data;
  };
  for (bool image_operand : is_image.operands) {
    in[i] = c.in[i].data;
    if (image_operand) {
      void* moved = image(c.in[i], static_cast<int>(i), to_last);
      detail::permute(c, c.in[i].data, moved, c.in[i].type, c.in[i].dims, to_last);
      in[i] = moved;
    }
    ++i;
  }
  void* result = is_image.result ? image(c.out[0], 2, to_last) : c.out[0].data;
  void* out[] = {result};
  c.kernel.run(in, out, &g);
  if (is_image.result) detail::permute(c, result, c.out[0].data, c.out[0].type, scratch[2].dims(), to_first);
}

}  // namespace

void conv(const launch_call& c) { run_window(c, {.operands = {true, false}, .result = true}); }
void conv_backprop_input(const launch_call& c) { run_window(c, {.operands = {true, false}, .result = true}); }
void conv_backprop_filter(const launch_call& c) { run_window(c, {.operands = {true, true}, .result = false}); }

namespace {

// Whole images: what a window gives back may reach its neighbours. Operands of the set `whole` are no images.
void run_images(const launch_call& c, unsigned whole = 0) {
  const kernels::window_geometry& all = window_of(c);
  detail::run_slices(c, all.batch, std::max(c.in[0].dims.size(), c.out[0].dims.size()), whole,
                     [&](std::int64_t batch, const void* const* in, void* const* out) {
                       kernels::window_geometry g = all;
                       g.batch = batch;
                       c.kernel.run(in, out, &g);
                     });
}

}  // namespace

void pool(const launch_call& c) {
  const void* in[] = {c.in[0].data, nullptr};
  detail::run_windows(c, in, c.out[0].data, window_of(c));
}
void pool_grad(const launch_call& c) { run_images(c); }
void pool_gather(const launch_call& c) { run_images(c); }

void pool_argmax(const launch_call& c) {
  const kernels::window_geometry& g = window_of(c);
  const std::int64_t image = g.in_h * g.in_w * g.in_c, row = g.out_w * g.in_c;
  const bool each_image = !c.call.attr(place_in(attributes::pool_argmax, "includeBatchInIndex")).as_bool();
  detail::in_window_rows(c, g, [&](const detail::window_rows& rows) {
    const kernels::argmax_geometry part{rows.part, each_image ? 0 : rows.image * image, each_image};
    const std::int64_t at = (rows.image * g.out_h + rows.first) * row;
    const auto size = [](const view& x) { return static_cast<std::int64_t>(size_of(x.type)); };
    const void* in[] = {detail::advanced(c.in[0].data, rows.image * image * size(c.in[0]))};
    void* out[] = {detail::advanced(c.out[0].data, at * size(c.out[0])),
                   detail::advanced(c.out[1].data, at * size(c.out[1]))};
    c.kernel.run(in, out, &part);
  });
}

void dilation(const launch_call& c) {
  const void* in[] = {c.in[0].data, c.in[1].data};
  detail::run_windows(c, in, c.out[0].data, window_of(c));
}
// Images in slices; operands without a batch, which are shaped like the filter, are whole.
void dilation_of_images(const launch_call& c) {
  if (detail::filled_without_products(c)) return;
  unsigned whole = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) whole |= c.in[i].dims.rank() == 3 ? 1U << i : 0;
  run_images(c, whole);
}
void dilation_backprop_filter(const launch_call& c) {
  if (!detail::filled_without_products(c)) detail::run_kernel_of(c, window_of(c));
}

}  // namespace kerngrad::launch
