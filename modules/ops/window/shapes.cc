// SPDX-License-Identifier: Apache-2.0
// Shape rules of convolutions, poolings and fused layers. The launchers use the window that they resolve.
module;
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "kernels/window/window.h"
export module kerngrad:shapes_window;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// Positions of a window's attributes in the rows of convolutions and poolings; those that poolings lack have no value.
struct window_attrs {
  attr_place strides, pad, rounding;
  std::optional<attr_place> dilations{}, format{};
  bool may_be_empty = false;  ///< a window that does not fit gives a result without elements; if false it throws
};
inline constexpr window_attrs conv_attrs{.strides = place_in(attributes::conv, "strides"),
                                         .pad = place_in(attributes::conv, "pad"),
                                         .rounding = place_in(attributes::conv, "dimRoundingMode"),
                                         .dilations = place_in(attributes::conv, "dilations"),
                                         .format = place_in(attributes::conv, "dataFormat")};
inline constexpr window_attrs pool_attrs{.strides = place_in(attributes::pool, "strides"),
                                         .pad = place_in(attributes::pool, "pad"),
                                         .rounding = place_in(attributes::pool, "dimRoundingMode")};
inline constexpr window_attrs dilation_attrs{.strides = place_in(attributes::dilation, "strides"),
                                             .pad = place_in(attributes::dilation, "pad"),
                                             .rounding = place_in(attributes::dilation, "dimRoundingMode"),
                                             .dilations = place_in(attributes::dilation, "dilations")};

/// Reads pixels for each of the `Axes` axes of a window: a list of as many, or one number for all. Images have the two
/// axes height and width.
template <std::size_t Axes = 2>
constexpr std::array<std::int64_t, Axes> pixels(const inference& call, attr_place at) {
  const attr_value& value = call.attr(at);
  std::array<std::int64_t, Axes> sizes{};
  sizes.fill(1);
  if (value.kind() == attr_kind::integer || value.kind() == attr_kind::number) {
    sizes.fill(value.as_integer());
  } else if (value.given()) {
    const std::span<const std::int64_t> list = value.as_list();
    if (list.size() != Axes && list.size() != 1)
      call.refuse(std::string(at.name) + " of " + std::to_string(list.size()) + " values",
                  std::to_string(Axes) + " values, or one for all");
    for (std::size_t i = 0; i < Axes; ++i) sizes[i] = list[list.size() == 1 ? 0 : i];
  }
  for (std::int64_t size : sizes)
    if (size < 1) call.refuse(std::string(at.name) + " of " + std::to_string(size), "values of at least 1");
  return sizes;
}

/// True if the operand has its channels before its height or depth: NCHW, NCDHW.
constexpr bool is_channels_first(const inference& call, const window_attrs& at = conv_attrs) {
  return at.format && call.attr(*at.format).as_text().starts_with("NC");
}

/// Divides sizes of a pooling or convolution. `mode` tells how to round if explicit padding does not divide evenly.
constexpr std::int64_t rounded_quotient(std::int64_t a, std::int64_t b, std::string_view mode) {
  if (mode == "ceil") return (a + b - 1) / b;
  if (mode == "round") return (2 * a + b) / (2 * b);
  return a / b;
}

/// Output size and leading padding of a window on one axis.
struct window_axis {
  std::int64_t out, before;
};

/// Resolves axis number `axis` of the `axes` axes of a window.
constexpr window_axis resolve_window_axis(const inference& call, const window_attrs& at, std::int64_t in,
                                          std::int64_t filter, std::int64_t stride, std::int64_t dilation,
                                          std::size_t axis, std::size_t axes = 2) {
  const attr_value& pad = call.attr(at.pad);
  const std::string_view mode = call.attr(at.rounding).as_text();
  if (pad.kind() == attr_kind::text && mode != "floor")
    call.refuse("dimRoundingMode \"" + std::string(mode) + "\" with pad \"" + std::string(pad.as_text()) + "\"",
                "a padding in pixels, or no rounding mode");
  // Far below 2^63, so that no position of a window overflows, wherever in the padding it lies.
  constexpr std::int64_t most_reach = std::int64_t{1} << 61;
  const std::int64_t reach = kernels::saturated_sum(kernels::saturated_product(filter - 1, dilation), 1);
  if (reach > most_reach)
    call.refuse("a window of " + std::to_string(filter) + " elements, " + std::to_string(dilation) + " pixels apart",
                "a window of at most 2^61 pixels", "use smaller filters or dilations");
  window_axis result{};
  if (pad.kind() == attr_kind::text && pad.as_text() == "same") {
    result.out = (in + stride - 1) / stride;
    const std::int64_t total = (result.out - 1) * stride + reach - in;
    result.before = total > 0 ? total / 2 : 0;
  } else if (pad.kind() == attr_kind::text) {
    result.out = in < reach ? 0 : (in - reach) / stride + 1;
  } else {
    std::int64_t before = 0, after = 0;
    if (pad.kind() == attr_kind::list) {
      // One pair per axis in the order of dataFormat, or those of the window's axes alone.
      const std::span<const std::int64_t> list = pad.as_list();
      if (list.size() != 2 * (axes + 2) && list.size() != 2 * axes)
        call.refuse("pad of " + std::to_string(list.size()) + " values",
                    "a pair for each of the " + std::to_string(axes + 2) + " axes, or for " +
                        (axes == 3 ? "depth, height and width" : "height and width"));
      const std::size_t first = (list.size() == 2 * axes ? 0 : is_channels_first(call, at) ? 4 : 2) + 2 * axis;
      before = list[first];
      after = list[first + 1];
    } else {
      before = after = pad.as_integer();
    }
    if (before < 0 || after < 0) call.refuse("a negative padding", "paddings of 0 or more");
    const std::int64_t span = in + before + after - reach;
    result.out = span < 0 ? 0 : rounded_quotient(span, stride, mode) + 1;
    result.before = before;
  }
  if (result.out <= 0 && in > 0 && !at.may_be_empty)
    call.refuse("a window of " + std::to_string(reach) + " over an axis of " + std::to_string(in),
                "a window that fits into the padded image", "use smaller filters or dilations, or pad \"same\"");
  return result;
}

/// The geometry of a window over an NHWC image. `out_c` is filled in by the caller.
constexpr kernels::window_geometry resolve_window(const inference& call, const window_attrs& at, const shape& x,
                                                  std::int64_t filter_h, std::int64_t filter_w) {
  if (x.rank() != 4) call.refuse("an image of shape " + to_string(x), "rank 4: batch, height, width, channels");
  const auto strides = pixels(call, at.strides);
  const auto dilations = at.dilations ? pixels(call, *at.dilations) : std::array<std::int64_t, 2>{1, 1};
  const window_axis h = resolve_window_axis(call, at, x[1], filter_h, strides[0], dilations[0], 0);
  const window_axis w = resolve_window_axis(call, at, x[2], filter_w, strides[1], dilations[1], 1);
  return {.batch = x[0],
          .in_h = x[1],
          .in_w = x[2],
          .in_c = x[3],
          .out_h = h.out,
          .out_w = w.out,
          .out_c = x[3],
          .filter_h = filter_h,
          .filter_w = filter_w,
          .stride_h = strides[0],
          .stride_w = strides[1],
          .dilation_h = dilations[0],
          .dilation_w = dilations[1],
          .pad_top = h.before,
          .pad_left = w.before};
}

/// The shape of an image with the channels last. The attribute `dataFormat` tells its own layout.
constexpr shape channels_last(const inference& call, const shape& x) {
  if (!is_channels_first(call) || x.rank() != 4) return x;
  return {x[0], x[2], x[3], x[1]};
}
/// The shape of a convolution's result in the layout of its image.
constexpr shape window_result(const inference& call, const kernels::window_geometry& g) {
  if (is_channels_first(call)) return {g.batch, g.out_c, g.out_h, g.out_w};
  return {g.batch, g.out_h, g.out_w, g.out_c};
}

/// The number of groups of channels that a filter [height, width, channels of a group, out] is for. It is 1 if the
/// filter has as many channels as the image.
constexpr std::int64_t groups_of_channels(const inference& call, std::int64_t channels, const shape& filter) {
  if (channels == filter[2]) return 1;
  if (call.row.depthwise || filter[2] == 0 || channels == 0 || channels % filter[2] != 0)
    call.refuse("an image with " + std::to_string(channels) + " channels and a filter for " + std::to_string(filter[2]),
                call.row.depthwise ? "equal numbers of channels" : "as many channels, or a group of the image's");
  const std::int64_t groups = channels / filter[2];
  if (filter[3] % groups != 0)
    call.refuse("a filter that gives " + std::to_string(filter[3]) + " channels for " + std::to_string(groups) +
                    " groups of " + std::to_string(filter[2]) + " channels",
                "as many channels for each group");
  return groups;
}

/// Resolves the window of a convolution from the shapes of image and filter, for the launcher as well. The last two
/// axes of the filter of a depthwise convolution are input channels and multiplier.
constexpr const kernels::window_geometry& resolve_convolution(inference& call, const shape& x, const shape& filter) {
  if (filter.rank() != 4) call.refuse("a filter of shape " + to_string(filter), "rank 4: height, width, in, out");
  if (filter[0] < 1 || filter[1] < 1) call.refuse("a filter of shape " + to_string(filter), "a filter with elements");
  kernels::window_geometry g = resolve_window(call, conv_attrs, channels_last(call, x), filter[0], filter[1]);
  g.groups = groups_of_channels(call, g.in_c, filter);
  g.out_c = call.row.depthwise ? filter[2] * filter[3] : filter[3];
  call.resolved.set_window(g);
  return call.resolved.window;
}

/// Conv2D and DepthwiseConv2dNative: an image with a pixel for each position of the window, and the channels that the
/// filter makes.
export constexpr void conv(inference& call) {
  call.give(window_result(call, resolve_convolution(call, call.in[0].dims, call.in[1].dims)));
}

constexpr void check_dy(const inference& call, const shape& dy, const shape& wanted) {
  if (!(dy == wanted)) call.refuse("dy of shape " + to_string(dy), "the shape of the result, " + to_string(wanted));
}

/// Conv2DBackpropInput and its depthwise form: the shape of the image in the attribute `inputShape`. Operands are dy
/// and the filter.
export constexpr void conv_backprop_input(inference& call) {
  const shape x = shape_attr(call, place_in(attributes::conv_input, "inputShape"));
  check_dy(call, call.in[0].dims, window_result(call, resolve_convolution(call, x, call.in[1].dims)));
  call.give(x);
}

/// Conv2DBackpropFilter and its depthwise form: the shape of the filter in the attribute `filterShape`. Operands are x
/// and dy.
export constexpr void conv_backprop_filter(inference& call) {
  const shape filter = shape_attr(call, place_in(attributes::conv_filter, "filterShape"));
  check_dy(call, call.in[1].dims, window_result(call, resolve_convolution(call, call.in[0].dims, filter)));
  call.give(filter);
}

/// Resolves the window of a pooling over an image, for the launcher as well, and gives the result's shape.
constexpr shape resolve_pooling(inference& call, const shape& x) {
  const auto size = pixels(call, place_in(attributes::pool, "filterSize"));
  const kernels::window_geometry g = resolve_window(call, pool_attrs, x, size[0], size[1]);
  call.resolved.set_window(g);
  return {g.batch, g.out_h, g.out_w, g.in_c};
}

/// MaxPool and AvgPool: an image with a pixel for each position of the window.
export constexpr void pool(inference& call) { call.give(resolve_pooling(call, call.in[0].dims)); }

/// The gradients of MaxPool and AvgPool: the shape of the image, operand 1. Operands are dy, the input, and for MaxPool
/// the output.
export constexpr void pool_grad(inference& call) {
  const shape y = resolve_pooling(call, call.in[1].dims);
  check_dy(call, call.in[0].dims, y);
  if (call.in.size() > 2) check_dy(call, call.in[2].dims, y);
  call.give(call.in[1].dims);
}

/// The adjoint of the gradient of a pooling: a value for each window. Operands are source and x, both images.
export constexpr void pool_gather(inference& call) {
  if (!(call.in[0].dims == call.in[1].dims))
    call.refuse("shapes " + to_string(call.in[0].dims) + " and " + to_string(call.in[1].dims), "equal shapes");
  pool(call);
}

/// MaxPoolWithArgmax: maxima and indices in the shape of MaxPool. Throws if int32 cannot hold the indices.
export constexpr void pool_argmax(inference& call) {
  const shape y = resolve_pooling(call, call.in[0].dims);
  const kernels::window_geometry& g = call.resolved.window;
  const bool all = call.attr(place_in(attributes::pool_argmax, "includeBatchInIndex")).as_bool();
  if (kernels::saturated_product(all ? g.batch : 1, g.in_h, g.in_w, g.in_c) > std::numeric_limits<std::int32_t>::max())
    call.refuse("an image of shape " + to_string(call.in[0].dims), "at most 2^31 - 1 elements, which int32 can number",
                all ? "leave out includeBatchInIndex" : "cut the image");
  call.give(y);
  call.give(y);
}

// ------------------------------------------------------------------------------------------ greyscale dilation

/// Resolves the window of a greyscale dilation, for the launcher as well, and gives the result's shape.
constexpr shape resolve_dilation(inference& call, const shape& x, const shape& filter) {
  if (filter.rank() != 3) call.refuse("a filter of shape " + to_string(filter), "rank 3: height, width, channels");
  if (filter[0] < 1 || filter[1] < 1) call.refuse("a filter of shape " + to_string(filter), "a filter with elements");
  const kernels::window_geometry g = resolve_window(call, dilation_attrs, x, filter[0], filter[1]);
  if (g.in_c != filter[2])
    call.refuse("an image with " + std::to_string(g.in_c) + " channels and a filter for " + std::to_string(filter[2]),
                "equal numbers of channels");
  call.resolved.set_window(g);
  return {g.batch, g.out_h, g.out_w, g.in_c};
}

/// Dilation2D: an image with a pixel for each position of the window.
export constexpr void dilation(inference& call) { call.give(resolve_dilation(call, call.in[0].dims, call.in[1].dims)); }

/// The gradient of Dilation2D for operand `Of`: the shape of that operand. Operands are x, filter and dy.
template <std::size_t Of>
constexpr void dilation_backprop(inference& call) {
  check_dy(call, call.in[2].dims, resolve_dilation(call, call.in[0].dims, call.in[1].dims));
  call.give(call.in[Of].dims);
}
/// Dilation2DBackpropInput: the shape of the image x.
export constexpr void dilation_backprop_input(inference& call) { dilation_backprop<0>(call); }
/// Dilation2DBackpropFilter: the shape of the filter.
export constexpr void dilation_backprop_filter(inference& call) { dilation_backprop<1>(call); }

/// The adjoint of a gradient of Dilation2D: a value for each window. Operands are source, x and filter; `source` has
/// the shape of operand `Of`.
template <std::size_t Of>
constexpr void dilation_gather(inference& call) {
  if (!(call.in[0].dims == call.in[Of].dims))
    call.refuse("source of shape " + to_string(call.in[0].dims),
                "the shape of " + std::string(call.row.operands[Of].name) + ", " + to_string(call.in[Of].dims));
  call.give(resolve_dilation(call, call.in[1].dims, call.in[2].dims));
}
/// The adjoint of Dilation2DBackpropInput: a value for each window.
export constexpr void dilation_gather_input(inference& call) { dilation_gather<1>(call); }
/// The adjoint of Dilation2DBackpropFilter: a value for each window.
export constexpr void dilation_gather_filter(inference& call) { dilation_gather<2>(call); }

// ------------------------------------------------------------------------------------------ fused layers

/// Positions of the operands bias and prelu weights of a fused layer, after those of its product.
inline constexpr std::size_t fused_bias = 2, fused_weights = 3;

/// The shape of a bias or of prelu weights, aligned with the result. One value per channel belongs to the axis of the
/// channels.
constexpr shape aligned_to_channels(const shape& dims, bool channels_first) {
  if (!channels_first || dims.rank() != 1) return dims;
  return {dims[0], 1, 1};
}

/// True if an operand of shape `dims` broadcasts to y without making it larger.
constexpr bool broadcasts_into(const shape& dims, const shape& y) {
  const int more = y.rank() - dims.rank();
  for (int i = 0; more >= 0 && i < dims.rank(); ++i)
    if (dims[i] != 1 && dims[i] != y[more + i]) return false;
  return more >= 0;
}

/// Positions of the attributes of the activation in the row of a fused layer.
struct finish_attrs {
  attr_place activation, leaky_slope;
};
inline constexpr finish_attrs matmul_finish{place_in(attributes::fused_matmul, "activation"),
                                            place_in(attributes::fused_matmul, "leakyreluAlpha")};
inline constexpr finish_attrs conv_finish{place_in(attributes::fused_conv, "activation"),
                                          place_in(attributes::fused_conv, "leakyreluAlpha")};

/// Checks that bias and weights broadcast to the result, and that there are weights if the activation needs them.
constexpr void check_finish(const inference& call, attr_place activation_at, bool channels_first) {
  const shape& y = call.out[0].dims;
  for (std::size_t i : {fused_bias, fused_weights})
    if (call.has(i) && !broadcasts_into(aligned_to_channels(call.in[i].dims, channels_first), y))
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                  "a shape that broadcasts to the result's, " + to_string(y));
  const std::string_view activation = call.attr(activation_at).as_text();
  const bool has_weights = call.has(fused_weights);
  if ((activation == "prelu") == has_weights) return;
  const std::string weights(call.row.operands[fused_weights].name);
  if (!has_weights) call.refuse("activation prelu without " + weights, "its slopes below 0 as operand " + weights);
  call.refuse(weights + " with activation " + std::string(activation), "activation prelu, which alone reads them",
              "leave them out");
}

/// _FusedMatMul: the shape of the product.
export constexpr void fused_matmul(inference& call) {
  matmul(call);
  check_finish(call, matmul_finish.activation, false);
}
/// FusedConv2D and FusedDepthwiseConv2D: the shape of the convolution.
export constexpr void fused_conv(inference& call) {
  conv(call);
  check_finish(call, conv_finish.activation, is_channels_first(call));
}

}  // namespace kerngrad::shapes
