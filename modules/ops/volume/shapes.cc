// SPDX-License-Identifier: Apache-2.0
// Shape rules of the convolutions and poolings of volumes: those of images with an axis more. The launchers use the
// window that they resolve.
module;
#include "kernels/common/abi.h"
#include "kernels/volume/volume.h"
export module kerngrad:shapes_volume;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :shapes_window;

namespace kerngrad::shapes {

inline constexpr window_attrs volume_conv_attrs{.strides = place_in(attributes::volume_conv, "strides"),
                                                .pad = place_in(attributes::volume_conv, "pad"),
                                                .rounding = place_in(attributes::volume_conv, "dimRoundingMode"),
                                                .dilations = place_in(attributes::volume_conv, "dilations"),
                                                .format = place_in(attributes::volume_conv, "dataFormat")};
inline constexpr window_attrs volume_pool_attrs{.strides = place_in(attributes::volume_pool, "strides"),
                                                .pad = place_in(attributes::volume_pool, "pad"),
                                                .rounding = place_in(attributes::volume_pool, "dimRoundingMode"),
                                                .format = place_in(attributes::volume_pool, "dataFormat"),
                                                .may_be_empty = true};

/// The shape of a volume with the channels last. The attribute `dataFormat` tells its own layout.
constexpr shape volume_channels_last(const inference& call, const window_attrs& at, const shape& x) {
  if (x.rank() != 5) call.refuse("a volume of shape " + to_string(x), "rank 5: batch, depth, height, width, channels");
  return is_channels_first(call, at) ? shape{x[0], x[2], x[3], x[4], x[1]} : x;
}

/// The geometry of a window over a volume in its layout. `out_c` is filled in by the caller.
constexpr kernels::volume_geometry resolve_volume(const inference& call, const window_attrs& at, const shape& given,
                                                  const std::array<std::int64_t, 3>& filter) {
  const shape x = volume_channels_last(call, at, given);
  const auto strides = pixels<3>(call, at.strides);
  const auto dilations = at.dilations ? pixels<3>(call, *at.dilations) : std::array<std::int64_t, 3>{1, 1, 1};
  const auto axis = [&](std::size_t i) {
    const std::int64_t in = x[static_cast<int>(i) + 1];
    const window_axis found = resolve_window_axis(call, at, in, filter[i], strides[i], dilations[i], i, 3);
    return kernels::volume_axis{in, found.out, filter[i], strides[i], dilations[i], found.before};
  };
  return {.batch = x[0], .in_c = x[4], .out_c = x[4], .depth = axis(0), .height = axis(1), .width = axis(2)};
}

/// The shape of a result in the layout of the operand.
constexpr shape volume_result(const inference& call, const window_attrs& at, const kernels::volume_geometry& g) {
  if (is_channels_first(call, at)) return {g.batch, g.out_c, g.depth.out, g.height.out, g.width.out};
  return {g.batch, g.depth.out, g.height.out, g.width.out, g.out_c};
}

/// Resolves the window of a convolution from the shapes of volume and filter, for the launcher as well, and gives the
/// result's shape.
constexpr shape resolve_volume_conv(inference& call, const shape& x, const shape& filter) {
  if (filter.rank() != 5)
    call.refuse("a filter of shape " + to_string(filter), "rank 5: depth, height, width, in, out");
  if (filter[0] < 1 || filter[1] < 1 || filter[2] < 1)
    call.refuse("a filter of shape " + to_string(filter), "a filter with elements");
  kernels::volume_geometry g = resolve_volume(call, volume_conv_attrs, x, {filter[0], filter[1], filter[2]});
  if (g.in_c != filter[3])
    call.refuse("a volume with " + std::to_string(g.in_c) + " channels and a filter for " + std::to_string(filter[3]),
                "equal numbers of channels");
  g.out_c = filter[4];
  call.resolved.set_volume(g);
  return volume_result(call, volume_conv_attrs, g);
}

/// Conv3D: a volume with an element for each position of the window, and the channels that the filter makes.
export constexpr void volume_conv(inference& call) {
  call.give(resolve_volume_conv(call, call.in[0].dims, call.in[1].dims));
}

/// Conv3DBackpropInputV2: the shape of the volume in the attribute `inputShape`. Operands are dy and the filter.
export constexpr void volume_conv_input(inference& call) {
  const shape x = shape_attr(call, place_in(attributes::volume_conv_input, "inputShape"));
  check_dy(call, call.in[0].dims, resolve_volume_conv(call, x, call.in[1].dims));
  call.give(x);
}

/// Conv3DBackpropFilterV2: the shape of the filter in the attribute `filterShape`. Operands are x and dy.
export constexpr void volume_conv_filter(inference& call) {
  const shape filter = shape_attr(call, place_in(attributes::volume_conv_filter, "filterShape"));
  check_dy(call, call.in[1].dims, resolve_volume_conv(call, call.in[0].dims, filter));
  call.give(filter);
}

/// Resolves the window of a pooling over a volume, for the launcher as well, and gives the result's shape.
constexpr shape resolve_volume_pool(inference& call, const shape& x) {
  const auto size = pixels<3>(call, place_in(attributes::volume_pool, "filterSize"));
  const kernels::volume_geometry g = resolve_volume(call, volume_pool_attrs, x, size);
  call.resolved.set_volume(g);
  return volume_result(call, volume_pool_attrs, g);
}

/// MaxPool3D and AvgPool3D: a volume with an element for each position of the window.
export constexpr void volume_pool(inference& call) { call.give(resolve_volume_pool(call, call.in[0].dims)); }

/// The gradients of MaxPool3D and AvgPool3D: the shape of the volume, operand 1. Operands are dy, the input, and for
/// MaxPool3D the output.
export constexpr void volume_pool_grad(inference& call) {
  const shape y = resolve_volume_pool(call, call.in[1].dims);
  check_dy(call, call.in[0].dims, y);
  if (call.in.size() > 2) check_dy(call, call.in[2].dims, y);
  call.give(call.in[1].dims);
}

/// The adjoint of the gradient of a pooling: a value for each window. Operands are source and x, both volumes.
export constexpr void volume_pool_gather(inference& call) {
  if (!(call.in[0].dims == call.in[1].dims))
    call.refuse("shapes " + to_string(call.in[0].dims) + " and " + to_string(call.in[1].dims), "equal shapes");
  volume_pool(call);
}

}  // namespace kerngrad::shapes
