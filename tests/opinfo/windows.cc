// SPDX-License-Identifier: Apache-2.0
// Calls of convolutions, poolings and resizing. PyTorch's operands are [batch, channels, ...], with the batch or
// without; the library's have the channels last.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;
using sizes = std::vector<std::int64_t>;

// So many numbers: one for each axis, or one for all.
sizes spread(in s, const char* name, int place, std::size_t count, std::int64_t otherwise) {
  if (!s.has(name, place)) return sizes(count, otherwise);
  sizes list = s.list(name, place);
  if (list.empty()) return sizes(count, otherwise);
  if (list.size() == 1) list.resize(count, list[0]);
  return list;
}

// Operands as volumes [batch, depth, height, width, channels], and back.
class volumes {
 public:
  volumes(const kg::tensor& x, int axes) : axes_(axes), batched_(x.rank() == axes + 2) {
    if (x.rank() != axes + 1 && !batched_) throw skip{"an operand of another rank"};
  }
  kg::tensor in(const kg::tensor& x) const {
    kg::tensor y = batched_ ? x : kg::expand_dims(x, 0);
    for (int i = axes_; i < 3; ++i) y = kg::expand_dims(y, 2);
    return kg::moveaxis(y, 1, -1);
  }
  kg::tensor out(const kg::tensor& y) const {
    sizes dims = {y.dims()[0], y.dims()[4]};
    for (int i = 3 - axes_; i < 3; ++i) dims.push_back(y.dims()[1 + i]);
    if (!batched_) dims.erase(dims.begin());
    return kg::reshape(kg::moveaxis(y, -1, 1), kg::shape(dims));
  }

 private:
  int axes_;
  bool batched_;
};

// [out, in, ...] as [depth, height, width, in, out].
kg::tensor filter_of(const kg::tensor& weight) {
  kg::tensor y = weight;
  for (int rank = weight.rank(); rank < 5; ++rank) y = kg::expand_dims(y, 2);
  return kg::transpose(y, {2, 3, 4, 1, 0});
}

struct geometry {
  sizes stride, pad, dilation;
  kg::conv3d_options options() const {
    return {.strides = {stride[0], stride[1], stride[2]},
            .pad = kg::padding3d({pad[0], pad[0]}, {pad[1], pad[1]}, {pad[2], pad[2]}),
            .dilations = {dilation[0], dilation[1], dilation[2]}};
  }
};

sizes in_front(sizes list, std::int64_t otherwise) {
  while (list.size() < 3) list.insert(list.begin(), otherwise);
  return list;
}

// With images the library's conv2d, with volumes its conv3d; lists are images of height 1.
kg::tensor convolved(const kg::tensor& x, const kg::tensor& filter, const geometry& g, int axes) {
  if (axes == 3) return kg::conv3d(x, filter, g.options());
  const auto flat = [](const kg::tensor& t, int axis) { return kg::squeeze(t, axis); };
  const kg::tensor y = kg::conv2d(flat(x, 1), flat(filter, 0),
                                  {.strides = {g.stride[1], g.stride[2]},
                                   .pad = kg::padding(g.pad[1], g.pad[1], g.pad[2], g.pad[2]),
                                   .dilations = {g.dilation[1], g.dilation[2]}});
  return kg::expand_dims(y, 1);
}

template <int Axes>
results convolution(in s) {
  const kg::tensor x = s.x(), filter = filter_of(s.x(1));
  const volumes as(x, Axes);
  const bool by_name = s.has("padding", 4) && s.raw("padding", 4).is_string();
  if (by_name && s.text("padding", 4, "") != "valid") throw skip{"padding to the same size"};
  const geometry g{in_front(spread(s, "stride", 3, Axes, 1), 1),
                   by_name ? sizes{0, 0, 0} : in_front(spread(s, "padding", 4, Axes, 0), 0),
                   in_front(spread(s, "dilation", 5, Axes, 1), 1)};
  s.whole("groups", 6, 1);  // as many as the filter's channels say
  kg::tensor y = convolved(as.in(x), filter, g, Axes);
  if (s.has("bias", 2)) y = y + s.tensor("bias", 2);
  return list_of(as.out(y));
}

template <int Axes>
results transposed(in s) {
  const kg::tensor x = s.x(), filter = filter_of(s.x(1));
  const volumes as(x, Axes);
  if (s.whole("groups", 6, 1) != 1) throw skip{"groups of a transposed convolution"};
  const sizes extra = in_front(spread(s, "output_padding", 5, Axes, 0), 0);
  const geometry g{in_front(spread(s, "stride", 3, Axes, 1), 1), in_front(spread(s, "padding", 4, Axes, 0), 0),
                   in_front(spread(s, "dilation", 7, Axes, 1), 1)};
  const kg::tensor dy = as.in(x);
  sizes dims = {dy.dims()[0], 0, 0, 0, filter.dims()[3]};
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    dims[at + 1] =
        (dy.dims()[i + 1] - 1) * g.stride[at] - 2 * g.pad[at] + g.dilation[at] * (filter.dims()[i] - 1) + extra[at] + 1;
  }
  kg::tensor y;
  if (Axes == 3) {
    y = kg::conv3d_transpose(dy, filter, kg::shape(dims), g.options());
  } else {
    dims.erase(dims.begin() + 1);
    y = kg::expand_dims(kg::conv2d_transpose(kg::squeeze(dy, 1), kg::squeeze(filter, 0), kg::shape(dims),
                                             {.strides = {g.stride[1], g.stride[2]},
                                              .pad = kg::padding(g.pad[1], g.pad[1], g.pad[2], g.pad[2]),
                                              .dilations = {g.dilation[1], g.dilation[2]}}),
                        1);
  }
  if (s.has("bias", 2)) y = y + s.tensor("bias", 2);
  return list_of(as.out(y));
}

// ---- poolings

template <int Axes>
kg::tensor pooled(const kg::tensor& x, bool greatest, const sizes& window, const sizes& stride, const sizes& pad) {
  if constexpr (Axes == 3) {
    const kg::pool3d_options how{.strides = kg::extent3d(stride[0], stride[1], stride[2]),
                                 .pad = kg::padding3d({pad[0], pad[0]}, {pad[1], pad[1]}, {pad[2], pad[2]})};
    const kg::extent3d size(window[0], window[1], window[2]);
    return greatest ? kg::max_pool3d(x, size, how) : kg::avg_pool3d(x, size, how);
  } else {
    const kg::pool_options how{.strides = kg::extent(stride[1], stride[2]),
                               .pad = kg::padding(pad[1], pad[1], pad[2], pad[2])};
    const kg::extent size(window[1], window[2]);
    const kg::tensor images = kg::squeeze(x, 1);
    return kg::expand_dims(greatest ? kg::max_pool(images, size, how) : kg::avg_pool(images, size, how), 1);
  }
}

// Zeros around volumes.
kg::tensor bordered(const kg::tensor& x, const sizes& pad) {
  return kg::pad(x, sizes{0, 0, pad[0], pad[0], pad[1], pad[1], pad[2], pad[2], 0, 0});
}

template <int Axes>
results pooling(in s, bool greatest) {
  const volumes as(s.x(), Axes);
  const sizes window = in_front(spread(s, "kernel_size", 1, Axes, 1), 1);
  const sizes stride =
      s.has("stride", 2) && !s.list("stride", 2).empty() ? in_front(spread(s, "stride", 2, Axes, 1), 1) : window;
  const sizes pad = in_front(spread(s, "padding", 3, Axes, 0), 0);
  if (s.truth("ceil_mode", greatest ? 5 : 4)) throw skip{"windows that reach outside"};
  if (greatest) {
    for (const std::int64_t apart : spread(s, "dilation", 4, Axes, 1))
      if (apart != 1) throw skip{"windows with gaps"};
    if (s.truth("return_indices", 6)) throw skip{"the indices of a maximum"};
  } else {
    if (s.has("divisor_override", 6)) throw skip{"a divisor"};
    for (std::size_t i = 0; i < pad.size(); ++i)
      if (2 * pad[i] > window[i]) throw skip{"a border wider than half the window"};
    // A border that counts is one of zeros, which are pixels then.
    if (s.truth("count_include_pad", 5, true))
      return list_of(as.out(pooled<Axes>(bordered(as.in(s.x()), pad), false, window, stride, {0, 0, 0})));
  }
  return list_of(as.out(pooled<Axes>(as.in(s.x()), greatest, window, stride, pad)));
}

// Windows of equal sizes: those of others overlap.
template <int Axes>
results adaptive(in s, bool greatest) {
  const volumes as(s.x(), Axes);
  const kg::tensor x = as.in(s.x());
  const json& wanted = s.raw("output_size", 1);
  sizes window;
  for (int i = 0; i < Axes; ++i) {
    const json& out = wanted.is_array() ? wanted.at(static_cast<std::size_t>(i)) : wanted;
    const std::int64_t size = x.dims()[1 + 3 - Axes + i], parts = out.is_null() ? size : out.get<std::int64_t>();
    if (parts == 0 || size % parts != 0) throw skip{"windows of unequal sizes"};
    window.push_back(size / parts);
  }
  if (s.truth("return_indices", 2)) throw skip{"the indices of a maximum"};
  window = in_front(window, 1);
  return list_of(as.out(pooled<Axes>(x, greatest, window, window, {0, 0, 0})));
}

// ---- resizing

results resized(in s) {
  const kg::tensor x = s.x();
  if (x.rank() != 4) throw skip{"resizing of other operands than images"};
  const std::string mode = s.text("mode", 3, "nearest");
  kg::tensor images = kg::transpose(x, {0, 2, 3, 1});
  s.truth("recompute_scale_factor", -1), s.truth("antialias", -1);
  if (s.has("scale_factor", 2)) throw skip{"a factor in place of a size"};
  const sizes size = spread(s, "size", 1, 2, 1);
  const kg::extent to(size[0], size[1]);
  if (mode == "nearest") return list_of(kg::transpose(kg::resize_nearest_neighbor(images, to), {0, 3, 1, 2}));
  if (mode != "bilinear") throw skip{"the interpolation " + mode};
  const bool corners = s.truth("align_corners", 4);
  return list_of(kg::transpose(
      kg::resize_bilinear(images, to, {.align_corners = corners, .half_pixel_centers = !corners}), {0, 3, 1, 2}));
}

results enlarged(in s, bool bilinear) {
  const kg::tensor x = s.x();
  if (x.rank() != 4 || !s.has("size", 1)) throw skip{"resizing of other operands than images"};
  const sizes size = spread(s, "size", 1, 2, 1);
  const kg::extent to(size[0], size[1]);
  const kg::tensor images = kg::transpose(x, {0, 2, 3, 1});
  return list_of(kg::transpose(
      bilinear ? kg::resize_bilinear(images, to, {.align_corners = true}) : kg::resize_nearest_neighbor(images, to),
      {0, 3, 1, 2}));
}

constexpr call_line lines[] = {
    {"signals", "nn.functional.conv1d", convolution<1>},
    {"signals", "nn.functional.conv2d", convolution<2>},
    {"signals", "nn.functional.conv_transpose1d", transposed<1>},
    {"signals", "nn.functional.conv_transpose2d", transposed<2>},
    {"signals", "nn.functional.conv_transpose3d", transposed<3>},
    {"signals", "nn.functional.avg_pool1d", [](in s) { return pooling<1>(s, false); }},
    {"signals", "nn.functional.avg_pool2d", [](in s) { return pooling<2>(s, false); }},
    {"signals", "nn.functional.avg_pool3d", [](in s) { return pooling<3>(s, false); }},
    {"signals", "nn.functional.max_pool1d", [](in s) { return pooling<1>(s, true); }},
    {"signals", "nn.functional.max_pool2d", [](in s) { return pooling<2>(s, true); }},
    {"signals", "nn.functional.max_pool3d", [](in s) { return pooling<3>(s, true); }},
    {"signals", "nn.functional.adaptive_avg_pool1d", [](in s) { return adaptive<1>(s, false); }},
    {"signals", "nn.functional.adaptive_avg_pool2d", [](in s) { return adaptive<2>(s, false); }},
    {"signals", "nn.functional.adaptive_avg_pool3d", [](in s) { return adaptive<3>(s, false); }},
    {"signals", "nn.functional.adaptive_max_pool1d", [](in s) { return adaptive<1>(s, true); }},
    {"signals", "nn.functional.adaptive_max_pool2d", [](in s) { return adaptive<2>(s, true); }},
    {"signals", "nn.functional.adaptive_max_pool3d", [](in s) { return adaptive<3>(s, true); }},
    {"signals", "nn.functional.interpolate", resized},
    {"signals", "nn.functional.upsample_bilinear", [](in s) { return enlarged(s, true); }},
    {"signals", "nn.functional.upsample_nearest", [](in s) { return enlarged(s, false); }},
};

}  // namespace

std::span<const call_line> windows_calls() { return lines; }

}  // namespace opinfo
