// SPDX-License-Identifier: Apache-2.0
// Typed names of the convolutions and poolings, and their options.
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

/// Padding of an image: `same`, `valid`, pixels on every side, or {top, bottom, left, right}.
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
/// As many pixels around the image as keep its size at stride 1.
inline constexpr padding same{std::string_view("same")};
/// None: windows lie inside the image.
inline constexpr padding valid{std::string_view("valid")};

/// Height and width; one number serves both.
struct extent {
  std::int64_t height, width;
  constexpr extent(std::int64_t both) : height(both), width(both) {}
  constexpr extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  constexpr attr_value value() const { return {height, width}; }
};

/// Options of the convolutions. `channels_first` takes and gives NCHW images.
struct conv_options {
  extent strides = 1;
  padding pad = valid;
  extent dilations = 1;
  bool channels_first = false;
};
/// x [batch, height, width, in] with a filter [height, width, in, out].
inline tensor conv2d(const tensor& x, const tensor& filter, const conv_options& options = {}) {
  return call<"Conv2D">(x, filter, attr<"strides">(options.strides.value()), attr<"pad">(options.pad.value()),
                        attr<"dilations">(options.dilations.value()),
                        attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"));
}
/// x [batch, height, width, in] with a filter [height, width, in, multiplier] gives in * multiplier channels.
inline tensor depthwise_conv2d(const tensor& x, const tensor& filter, const conv_options& options = {}) {
  return call<"DepthwiseConv2dNative">(x, filter, attr<"strides">(options.strides.value()),
                                       attr<"pad">(options.pad.value()), attr<"dilations">(options.dilations.value()),
                                       attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"));
}
/// The transposed convolution: from dy to an image of shape `output`.
inline tensor conv2d_transpose(const tensor& dy, const tensor& filter, const shape& output,
                               const conv_options& options = {}) {
  return call<"Conv2DBackpropInput">(dy, filter, attr<"strides">(options.strides.value()),
                                     attr<"pad">(options.pad.value()), attr<"dilations">(options.dilations.value()),
                                     attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"),
                                     attr<"inputShape">(output));
}
/// Options of the poolings; the strides are the window's size unless they are given.
struct pool_options {
  std::optional<extent> strides{};
  padding pad = valid;
};
/// The largest element of each window over an NHWC image.
inline tensor max_pool(const tensor& x, extent window, const pool_options& options = {}) {
  return call<"MaxPool">(x, attr<"filterSize">(window.value()),
                         attr<"strides">((options.strides ? *options.strides : window).value()),
                         attr<"pad">(options.pad.value()));
}
/// The mean of each window's elements inside an NHWC image.
inline tensor avg_pool(const tensor& x, extent window, const pool_options& options = {}) {
  return call<"AvgPool">(x, attr<"filterSize">(window.value()),
                         attr<"strides">((options.strides ? *options.strides : window).value()),
                         attr<"pad">(options.pad.value()));
}

}  // namespace kerngrad
