// SPDX-License-Identifier: Apache-2.0
// Typed names of the convolutions, poolings and dilations, and their options.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_window;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// Padding of an image: `same`, `valid`, a number of pixels on every side, or {top, bottom, left, right}.
class padding {
 public:
  constexpr padding(int pixels) : value_(pixels) {}
  constexpr padding(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right)
      : value_({top, bottom, left, right}) {}
  constexpr explicit padding(std::string_view name) : value_(name) {}
  constexpr const attr_value& value() const { return value_; }

 private:
  attr_value value_;
};
/// Padding that keeps the size of the image at stride 1. At stride s the size is divided by s and rounded up.
inline constexpr padding same{std::string_view("same")};
/// No padding: windows are inside the image.
inline constexpr padding valid{std::string_view("valid")};

/// Height and width of an image or window; one number serves both.
struct extent {
  std::int64_t height, width;
  constexpr extent(std::int64_t both) : height(both), width(both) {}
  constexpr extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  constexpr attr_value value() const { return {height, width}; }
};

/// Options of the convolutions: strides of the window and dilations of the filter in pixels. With `channels_first`
/// images are [batch, channels, height, width].
struct conv_options {
  extent strides = 1;
  padding pad = valid;
  extent dilations = 1;
  bool channels_first = false;
};
/// The convolution of images x [batch, height, width, in] with a filter [height, width, in, out], computed as
/// cross-correlation. A filter [height, width, in / groups, out] is for groups of channels, as in torch.nn.Conv2d. The
/// first out / groups channels of the result see the first in / groups ones of x, and so on. Throws if the filter's
/// channels do not divide those of x and of the result into groups. Throws if the filter does not fit into the padded
/// image. Floats. Differentiable in both operands to any order.
inline tensor conv2d(const tensor& x, const tensor& filter, const conv_options& options = {}) {
  return call<"Conv2D">(x, filter, attr<"strides">(options.strides.value()), attr<"pad">(options.pad.value()),
                        attr<"dilations">(options.dilations.value()),
                        attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"));
}
/// The convolution of each channel of x [batch, height, width, in] with its own filters, [height, width, in,
/// multiplier]. The result has in * multiplier channels: the first `multiplier` ones belong to channel 0, and so on.
/// Throws if the filter has another number of channels than x. Floats. Differentiable in both operands to any order.
inline tensor depthwise_conv2d(const tensor& x, const tensor& filter, const conv_options& options = {}) {
  return call<"DepthwiseConv2dNative">(x, filter, attr<"strides">(options.strides.value()),
                                       attr<"pad">(options.pad.value()), attr<"dilations">(options.dilations.value()),
                                       attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"));
}
/// The transposed convolution: the gradient of `conv2d` for its image. It takes dy [batch, height, width, in] to an
/// image of shape `output`, [batch, height, width, out]. The filter is [height, width, out, in], or [height, width, out
/// / groups, in] for groups of channels. Throws unless conv2d of that image has dy's shape. Floats. Differentiable in
/// both operands to any order.
inline tensor conv2d_transpose(const tensor& dy, const tensor& filter, const shape& output,
                               const conv_options& options = {}) {
  return call<"Conv2DBackpropInput">(dy, filter, attr<"strides">(options.strides.value()),
                                     attr<"pad">(options.pad.value()), attr<"dilations">(options.dilations.value()),
                                     attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"),
                                     attr<"inputShape">(output));
}
/// Options of the poolings. The strides are by default the window's size. With `ceil_mode` a last window may reach
/// beyond the padding, if it starts inside the image or the padding before it. With `count_include_pad` means count the
/// padding as zeros, but nothing beyond it. Both are as in PyTorch, where `count_include_pad` is true by default.
struct pool_options {
  std::optional<extent> strides{};
  padding pad = valid;
  bool ceil_mode = false;
  bool count_include_pad = false;
};

}  // namespace kerngrad
namespace kerngrad::detail {
/// Pools with the options that the pooling ops have no attribute for.
tensor pooled_beyond(std::string_view name, const tensor& x, extent window, const pool_options& options, bool mean);
}  // namespace kerngrad::detail
export namespace kerngrad {

/// The largest element of each window over images [batch, height, width, channels]. Floats and int32. NaN is ignored; a
/// window without a number gives -infinity, or the smallest int32. Throws if the window does not fit into the padded
/// image. Gradient: dy goes to the first of equal elements.
inline tensor max_pool(const tensor& x, extent window, const pool_options& options = {}) {
  if (options.ceil_mode) return detail::pooled_beyond("max_pool", x, window, options, false);
  return call<"MaxPool">(x, attr<"filterSize">(window.value()),
                         attr<"strides">((options.strides ? *options.strides : window).value()),
                         attr<"pad">(options.pad.value()));
}
/// The mean of each window over images [batch, height, width, channels]. It counts the elements inside the image, or
/// with `count_include_pad` those inside the padding as well. Without that option a window in the padding alone gives
/// NaN. Floats. Throws if the window does not fit into the padded image. Differentiable to any order.
inline tensor avg_pool(const tensor& x, extent window, const pool_options& options = {}) {
  if (options.ceil_mode || options.count_include_pad)
    return detail::pooled_beyond("avg_pool", x, window, options, true);
  return call<"AvgPool">(x, attr<"filterSize">(window.value()),
                         attr<"strides">((options.strides ? *options.strides : window).value()),
                         attr<"pad">(options.pad.value()));
}

/// Options of max_pool_with_argmax. The strides are by default the window's size. With `include_batch_in_index` indices
/// count the elements of all images, else those of one image.
struct argmax_pool_options {
  std::optional<extent> strides{};
  padding pad = valid;
  bool include_batch_in_index = false;
};
/// The results of max_pool_with_argmax: `result` has the maxima, `indexes` their int32 indices.
struct pooled_maxima {
  tensor result;
  tensor indexes;
};
/// The largest element of each window over images x [batch, height, width, channels], floats or int32, and the int32
/// index of its first occurrence. NaN is ignored. The index is (row * width + column) * channels + channel. With
/// `include_batch_in_index` it is ((image * height + row) * width + column) * channels + channel. A window without a
/// number gives -infinity, or the smallest int32, and the index -1. Throws if int32 cannot hold the indices, and if the
/// window does not fit into the padded image. The gradient of `result` goes to these positions.
inline pooled_maxima max_pool_with_argmax(const tensor& x, extent window, const argmax_pool_options& options = {}) {
  auto all = call<"MaxPoolWithArgmax">(
      x, attr<"filterSize">(window.value()), attr<"strides">((options.strides ? *options.strides : window).value()),
      attr<"pad">(options.pad.value()), attr<"includeBatchInIndex">(options.include_batch_in_index));
  return {std::move(all[0]), std::move(all[1])};
}

/// Options of dilation2d: strides of the window and dilations of the filter, in pixels.
struct dilation_options {
  extent strides = 1;
  padding pad = valid;
  extent dilations = 1;
};
/// Greyscale dilation of x [batch, height, width, channels] by a filter [height, width, channels]. In each channel it
/// is the largest x[row * strides + i * dilations] + filter[i] over the filter's elements inside the image (Serra,
/// Image Analysis and Mathematical Morphology, 1982). NaN is ignored. A window without a number gives -infinity, or the
/// smallest int32. Floats, and int32, whose sums wrap. Throws for a filter of other channels or one that does not fit.
/// Differentiable in both operands to any order: dy goes to the first of equal sums. The erosion is -dilation2d(-x,
/// filter) with the filter reflected.
inline tensor dilation2d(const tensor& x, const tensor& filter, const dilation_options& options = {}) {
  return call<"Dilation2D">(x, filter, attr<"strides">(options.strides.value()), attr<"pad">(options.pad.value()),
                            attr<"dilations">(options.dilations.value()));
}

}  // namespace kerngrad
