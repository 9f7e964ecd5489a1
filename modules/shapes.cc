// SPDX-License-Identifier: Apache-2.0
// The shape rules: constexpr functions that give an op's result shapes or refuse the call. Rows name them; the typed
// door, the by-name door and static assertions run the same code.
module;
#include "kernels/abi.h"
#include "kernels/sizes.h"
#include "kernels/window.h"
export module kerngrad:shapes;

import :std;
import :core;
import :op;

export namespace kerngrad::shapes {

/// A set of axes, one bit each.
using axis_set = std::uint32_t;

/// `axis` counted from the front, or a refusal. Negative axes count from the back.
constexpr int normalized_axis(const inference& call, std::string_view name, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    call.refuse(std::string(name) + " " + std::to_string(axis),
                "an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// The axes of a reduction: an integer, a list, or nothing for all of them.
constexpr axis_set reduced_axes(const inference& call, std::string_view name, int rank) {
  const attr_value& value = call.attr(name);
  if (!value.given()) return (axis_set{1} << rank) - 1;
  axis_set axes = 0;
  if (value.kind() == attr_kind::integer) {
    // An axis of 0 or -1 on a scalar is tolerated, as NumPy-like libraries do: there is nothing to reduce.
    if (rank == 0 && (value.as_integer() == 0 || value.as_integer() == -1)) return 0;
    return axis_set{1} << normalized_axis(call, name, value.as_integer(), rank);
  }
  for (std::int64_t axis : value.as_list()) {
    const axis_set bit = axis_set{1} << normalized_axis(call, name, axis, rank);
    if (axes & bit) call.refuse(std::string(name) + " names axis " + std::to_string(axis) + " twice", "distinct axes");
    axes |= bit;
  }
  return axes;
}

/// `dims` without the axes in the set, or with size 1 there.
constexpr shape without_axes(const shape& dims, axis_set axes, bool keep) {
  std::int64_t kept[max_rank]{};
  std::size_t rank = 0;
  for (int i = 0; i < dims.rank(); ++i) {
    if (!((axes >> i) & 1)) kept[rank++] = dims[i];
    else if (keep) kept[rank++] = 1;
  }
  return shape(std::span<const std::int64_t>(kept, rank));
}

/// The most elements of a shape, and so the largest size of an axis.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 58;
/// The sum of two sizes, which cannot overflow; a result that no shape has is refused.
constexpr std::int64_t sum_of_sizes(const inference& call, std::int64_t a, std::int64_t b) {
  if (a > most_elements || b > most_elements - a) call.refuse("sizes that add up to more than 2^58", "at most 2^58");
  return a + b;
}

/// `dims` with one axis replaced.
constexpr shape with_axis(const shape& dims, int axis, std::int64_t size) {
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < dims.rank(); ++i) sizes[i] = i == axis ? size : dims[i];
  return shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank())));
}

/// `dims` with an axis inserted before `axis`.
constexpr shape with_inserted(const shape& dims, int axis, std::int64_t size) {
  std::int64_t sizes[max_rank + 1]{};
  for (int i = 0; i <= dims.rank(); ++i) sizes[i] = i < axis ? dims[i] : i == axis ? size : dims[i - 1];
  return shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(dims.rank()) + 1));
}

/// A list attribute that also takes one integer for all: `count` values. Empty or missing gives `fallback`.
constexpr std::array<std::int64_t, 3> extents(const inference& call, std::string_view name, std::size_t count,
                                              std::int64_t least) {
  const attr_value& value = call.attr(name);
  std::array<std::int64_t, 3> sizes{1, 1, 1};
  if (value.kind() == attr_kind::integer || value.kind() == attr_kind::number) {
    sizes.fill(value.as_integer());
  } else if (value.given()) {
    const std::span<const std::int64_t> list = value.as_list();
    if (list.size() != count && list.size() != 1)
      call.refuse(std::string(name) + " of " + std::to_string(list.size()) + " values",
                  std::to_string(count) + " values, or one for all");
    for (std::size_t i = 0; i < count; ++i) sizes[i] = list[list.size() == 1 ? 0 : i];
  }
  for (std::size_t i = 0; i < count; ++i)
    if (sizes[i] < least)
      call.refuse(std::string(name) + " of " + std::to_string(sizes[i]), "values of at least " + std::to_string(least));
  return sizes;
}

// ------------------------------------------------------------------------------------------ elementwise

/// The result has the first operand's shape.
constexpr void same(inference& call) { call.give(call.in[0].dims); }

/// The result has the shape that all operands broadcast to.
constexpr void broadcasted(inference& call) {
  shape dims = call.in[0].dims;
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    const std::optional<shape> both = broadcast(dims, call.in[i].dims);
    if (!both)
      call.refuse("shapes " + to_string(dims) + " and " + to_string(call.in[i].dims),
                  "shapes that broadcast: aligned at the last axis, each pair of sizes equal or one of them 1",
                  "reshape one of the operands");
    dims = *both;
  }
  call.give(dims);
}

/// All operands have one shape.
constexpr void all_equal(inference& call) {
  for (std::size_t i = 1; i < call.in.size(); ++i)
    if (!(call.in[i].dims == call.in[0].dims))
      call.refuse("shapes " + to_string(call.in[0].dims) + " and " + to_string(call.in[i].dims), "equal shapes");
  call.give(call.in[0].dims);
}

/// ClipByValue: the bounds are in order, and a value of the dtype lies between them. They may lie outside of the dtype,
/// or be NaN, which excludes nothing.
constexpr void clip(inference& call) {
  const double least = call.attr("clipValueMin").as_number(), most = call.attr("clipValueMax").as_number();
  const auto refuse = [&](std::string_view wanted) {
    call.refuse("clipValueMin " + to_string(call.attr("clipValueMin")) + " and clipValueMax " +
                    to_string(call.attr("clipValueMax")),
                wanted);
  };
  if (least > most) refuse("clipValueMin <= clipValueMax");
  if (integral.has(call.compute)) {
    const double end = call.compute == dtype::uint8 ? 256 : call.compute == dtype::int32 ? 0x1p31 : 0x1p63;
    const double first = __builtin_ceil(least), last = __builtin_floor(most);
    if (first > last || first >= end || last < (call.compute == dtype::uint8 ? 0 : -end))
      refuse("bounds with a value of " + std::string(name_of(call.compute)) + " between them");
  }
  same(call);
}

/// Cast: the shape stays, the dtype is the attribute's.
constexpr void cast(inference& call) {
  const dtype to = call.attr("dtype").as_dtype();
  if (!any_dtype.has(to)) call.refuse("dtype " + std::string(name_of(to)), "one of " + to_string(any_dtype));
  call.give(call.in[0].dims, to);
}

// ------------------------------------------------------------------------------------------ reductions

constexpr void reduce(inference& call) {
  const shape& dims = call.in[0].dims;
  call.give(
      without_axes(dims, reduced_axes(call, call.row.attrs[0].name, dims.rank()), call.attr("keepDims").as_bool()));
}

/// ArgMax and ArgMin: one axis, which must not be empty.
constexpr void arg_reduce(inference& call) {
  const shape& dims = call.in[0].dims;
  const std::int64_t wanted = call.attr("axis").as_integer();
  if (dims.rank() == 0 && (wanted == 0 || wanted == -1)) return call.give(dims);
  const int axis = normalized_axis(call, "axis", wanted, dims.rank());
  if (dims[axis] == 0) call.refuse("axis " + std::to_string(axis) + " of size 0", "an axis with elements");
  call.give(without_axes(dims, axis_set{1} << axis, false));
}

/// Softmax and its kin: the shape stays, `dim` or `axis` must exist. A scalar is its own axis.
constexpr void along_axis(inference& call) {
  const shape& dims = call.in[0].dims;
  const std::string_view name = call.row.attrs[0].name;
  if (dims.rank() > 0) normalized_axis(call, name, call.attr(name).as_integer(), dims.rank());
  call.give(dims);
}

/// SoftmaxCrossEntropy: labels and logits of one shape, a loss per row of the last axis.
constexpr void cross_entropy(inference& call) {
  const shape& dims = call.in[0].dims;
  if (!(dims == call.in[1].dims) || dims.rank() == 0)
    call.refuse("logits " + to_string(dims) + " and labels " + to_string(call.in[1].dims),
                "two tensors of one shape and rank 1 or more", "use one_hot for class indices");
  call.give(without_axes(dims, axis_set{1} << (dims.rank() - 1), false));
}

constexpr void matmul(inference& call) {
  const shape &a = call.in[0].dims, &b = call.in[1].dims;
  if (a.rank() < 2 || b.rank() < 2)
    call.refuse("shapes " + to_string(a) + " and " + to_string(b), "rank 2 or more", "reshape vectors to matrices");
  const bool ta = call.attr("transposeA").as_bool(), tb = call.attr("transposeB").as_bool();
  const std::int64_t m = a[a.rank() - (ta ? 1 : 2)], ka = a[a.rank() - (ta ? 2 : 1)];
  const std::int64_t kb = b[b.rank() - (tb ? 1 : 2)], n = b[b.rank() - (tb ? 2 : 1)];
  if (ka != kb)
    call.refuse(
        "shapes " + to_string(a) + (ta ? " transposed" : "") + " and " + to_string(b) + (tb ? " transposed" : ""),
        "equal inner sizes, here " + std::to_string(ka) + " and " + std::to_string(kb));
  if (a.rank() == 2 && b.rank() == 2) return call.give({m, n});
  const std::optional<shape> batch = broadcast(shape(a.dims().first(static_cast<std::size_t>(a.rank()) - 2)),
                                               shape(b.dims().first(static_cast<std::size_t>(b.rank()) - 2)));
  if (!batch) call.refuse("shapes " + to_string(a) + " and " + to_string(b), "batch axes that broadcast");
  call.give(with_inserted(with_inserted(*batch, batch->rank(), m), batch->rank() + 1, n));
}

// ------------------------------------------------------------------------------------------ windows

/// Which way the sizes of a pooling or convolution are rounded when explicit padding does not divide evenly.
constexpr std::int64_t rounded_quotient(std::int64_t a, std::int64_t b, std::string_view mode) {
  if (mode == "ceil") return (a + b - 1) / b;
  if (mode == "round") return (2 * a + b) / (2 * b);
  return a / b;
}

/// One spatial axis of a window: output size and leading padding.
struct window_axis {
  std::int64_t out, before;
};

constexpr window_axis resolve_axis(const inference& call, std::int64_t in, std::int64_t filter, std::int64_t stride,
                                   std::int64_t dilation, int axis) {
  const attr_value& pad = call.attr("pad");
  const int rounding = call.row.attr_index("dimRoundingMode");
  const std::string_view mode = rounding < 0 ? std::string_view("floor") : call.attr("dimRoundingMode").as_text();
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
      // One pair per axis in the order of dataFormat, or the two spatial pairs alone.
      const std::span<const std::int64_t> list = pad.as_list();
      const bool channels_first = call.row.attr_index("dataFormat") >= 0 && call.attr("dataFormat").as_text() == "NCHW";
      if (list.size() != 8 && list.size() != 4)
        call.refuse("pad of " + std::to_string(list.size()) + " values",
                    "a pair for each of the 4 axes, or for height and width");
      const std::size_t first = (list.size() == 4 ? 0 : channels_first ? 4 : 2) + 2 * static_cast<std::size_t>(axis);
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
  if (result.out <= 0 && in > 0)
    call.refuse("a window of " + std::to_string(reach) + " over an axis of " + std::to_string(in),
                "a window that fits into the padded image", "use smaller filters or dilations, or pad \"same\"");
  return result;
}

/// The geometry of a window over an NHWC image. `out_c` is filled in by the caller.
constexpr kernels::window_geometry resolve_window(const inference& call, const shape& x, std::int64_t filter_h,
                                                  std::int64_t filter_w) {
  if (x.rank() != 4) call.refuse("an image of shape " + to_string(x), "rank 4: batch, height, width, channels");
  const auto strides = extents(call, "strides", 2, 1);
  std::array<std::int64_t, 3> dilations{1, 1, 1};
  if (call.row.attr_index("dilations") >= 0) dilations = extents(call, "dilations", 2, 1);
  const window_axis h = resolve_axis(call, x[1], filter_h, strides[0], dilations[0], 0);
  const window_axis w = resolve_axis(call, x[2], filter_w, strides[1], dilations[1], 1);
  return {x[0],     x[1],       x[2],       x[3],         h.out,        w.out,    x[3],    filter_h,
          filter_w, strides[0], strides[1], dilations[0], dilations[1], h.before, w.before};
}

/// An image's shape with the channels last, whatever the attribute `dataFormat` says of its layout.
constexpr bool is_channels_first(const inference& call) {
  return call.row.attr_index("dataFormat") >= 0 && call.attr("dataFormat").as_text() == "NCHW";
}
constexpr shape channels_last(const inference& call, const shape& x) {
  if (!is_channels_first(call) || x.rank() != 4) return x;
  return {x[0], x[2], x[3], x[1]};
}
constexpr shape as_format(const inference& call, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  if (is_channels_first(call)) return {n, c, h, w};
  return {n, h, w, c};
}

/// The geometry of a convolution from the shapes of image and filter; for depthwise ones the filter's last two axes
/// are input channels and multiplier.
constexpr kernels::window_geometry convolution(const inference& call, const shape& x, const shape& filter,
                                               bool depthwise) {
  if (filter.rank() != 4) call.refuse("a filter of shape " + to_string(filter), "rank 4: height, width, in, out");
  if (filter[0] < 1 || filter[1] < 1) call.refuse("a filter of shape " + to_string(filter), "a filter with elements");
  kernels::window_geometry g = resolve_window(call, channels_last(call, x), filter[0], filter[1]);
  if (g.in_c != filter[2])
    call.refuse("an image with " + std::to_string(g.in_c) + " channels and a filter for " + std::to_string(filter[2]),
                "equal numbers of channels");
  g.out_c = depthwise ? filter[2] * filter[3] : filter[3];
  return g;
}

constexpr void conv(inference& call) {
  const kernels::window_geometry g = convolution(call, call.in[0].dims, call.in[1].dims, call.row.depthwise);
  call.give(as_format(call, g.batch, g.out_h, g.out_w, g.out_c));
}

constexpr shape shape_attr(const inference& call, std::string_view name) {
  for (std::int64_t size : call.attr(name).as_list())
    if (size < 0) call.refuse(std::string(name) + " with the size " + std::to_string(size), "sizes of 0 or more");
  return shape(call.attr(name).as_list());
}

constexpr void check_dy(const inference& call, const kernels::window_geometry& g, const shape& dy) {
  const shape wanted = as_format(call, g.batch, g.out_h, g.out_w, g.out_c);
  if (!(dy == wanted)) call.refuse("dy of shape " + to_string(dy), "the shape of the result, " + to_string(wanted));
}

/// dy and filter give the gradient of the image, whose shape is the attribute `inputShape`.
constexpr void conv_backprop_input(inference& call) {
  const shape x = shape_attr(call, "inputShape");
  check_dy(call, convolution(call, x, call.in[1].dims, call.row.depthwise), call.in[0].dims);
  call.give(x);
}

/// x and dy give the gradient of the filter, whose shape is the attribute `filterShape`.
constexpr void conv_backprop_filter(inference& call) {
  const shape filter = shape_attr(call, "filterShape");
  check_dy(call, convolution(call, call.in[0].dims, filter, call.row.depthwise), call.in[1].dims);
  call.give(filter);
}

constexpr kernels::window_geometry pooling(const inference& call, const shape& x) {
  const auto size = extents(call, "filterSize", 2, 1);
  return resolve_window(call, x, size[0], size[1]);
}

constexpr void pool(inference& call) {
  const kernels::window_geometry g = pooling(call, call.in[0].dims);
  call.give({g.batch, g.out_h, g.out_w, g.in_c});
}

/// dy, input (and output) give the gradient of the image.
constexpr void pool_grad(inference& call) {
  const kernels::window_geometry g = pooling(call, call.in[1].dims);
  check_dy(call, g, call.in[0].dims);
  if (call.in.size() > 2) check_dy(call, g, call.in[2].dims);
  call.give(call.in[1].dims);
}

/// source and x, both images, give a value per window.
constexpr void pool_gather(inference& call) {
  if (!(call.in[0].dims == call.in[1].dims))
    call.refuse("shapes " + to_string(call.in[0].dims) + " and " + to_string(call.in[1].dims), "equal shapes");
  pool(call);
}

// ------------------------------------------------------------------------------------------ fused layers

/// The operands of a fused layer after those of its product.
inline constexpr std::size_t fused_bias = 2, fused_weights = 3;

/// A bias or prelu's weights as they are aligned with the result: one value per channel belongs to the channels' axis.
constexpr shape aligned_to_channels(const inference& call, const shape& dims) {
  if (!is_channels_first(call) || dims.rank() != 1) return dims;
  return {dims[0], 1, 1};
}

/// An operand of that shape is repeated over y without making it larger.
constexpr bool broadcasts_into(const shape& dims, const shape& y) {
  const int more = y.rank() - dims.rank();
  for (int i = 0; more >= 0 && i < dims.rank(); ++i)
    if (dims[i] != 1 && dims[i] != y[more + i]) return false;
  return more >= 0;
}

/// Bias and weights broadcast to the result, and there are weights where the activation asks for them.
constexpr void check_finish(const inference& call) {
  const shape& y = call.out[0].dims;
  for (std::size_t i : {fused_bias, fused_weights})
    if (call.has(i) && !broadcasts_into(aligned_to_channels(call, call.in[i].dims), y))
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                  "a shape that broadcasts to the result's, " + to_string(y));
  const std::string_view activation = call.attr("activation").as_text();
  const bool has_weights = call.has(fused_weights);
  if ((activation == "prelu") == has_weights) return;
  const std::string weights(call.row.operands[fused_weights].name);
  if (!has_weights) call.refuse("activation prelu without " + weights, "its slopes below 0 as operand " + weights);
  call.refuse(weights + " with activation " + std::string(activation), "activation prelu, which alone reads them",
              "leave them out");
}

constexpr void fused_matmul(inference& call) {
  matmul(call);
  check_finish(call);
}
constexpr void fused_conv(inference& call) {
  conv(call);
  check_finish(call);
}

}  // namespace kerngrad::shapes
