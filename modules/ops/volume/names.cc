// SPDX-License-Identifier: Apache-2.0
// Typed names of the convolutions and poolings of volumes, and their options.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_volume;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :ops_window;

export namespace kerngrad {

/// Depth, height and width of a volume or window; one number serves all three.
struct extent3d {
  std::int64_t depth, height, width;
  constexpr extent3d(std::int64_t all) : depth(all), height(all), width(all) {}
  constexpr extent3d(std::int64_t d, std::int64_t h, std::int64_t w) : depth(d), height(h), width(w) {}
  constexpr attr_value value() const { return {depth, height, width}; }
};

/// Padding of a volume: `same`, `valid`, a number of elements on every side, or a pair (before, after) for each axis.
class padding3d {
 public:
  constexpr padding3d(int elements) : value_(elements) {}
  constexpr padding3d(const padding& by_name) : value_(by_name.value()) {}
  constexpr padding3d(std::array<std::int64_t, 2> depth, std::array<std::int64_t, 2> height,
                      std::array<std::int64_t, 2> width)
      : value_({depth[0], depth[1], height[0], height[1], width[0], width[1]}) {}
  constexpr const attr_value& value() const { return value_; }

 private:
  attr_value value_;
};

/// Options of the convolutions of volumes: strides of the window and dilations of the filter on each axis. With
/// `channels_first` volumes are NCDHW.
struct conv3d_options {
  extent3d strides = 1;
  padding3d pad = valid;
  extent3d dilations = 1;
  bool channels_first = false;
};
/// The convolution of volumes x [batch, depth, height, width, in] with a filter [depth, height, width, in, out],
/// computed as cross-correlation, without reflecting the filter. Floating dtypes. Padding adds nothing to a sum, even
/// next to infinite weights. Throws if the window does not fit or the channels differ. Differentiable in both operands
/// to any order.
inline tensor conv3d(const tensor& x, const tensor& filter, const conv3d_options& options = {}) {
  return call<"Conv3D">(x, filter, attr<"strides">(options.strides.value()), attr<"pad">(options.pad.value()),
                        attr<"dilations">(options.dilations.value()),
                        attr<"dataFormat">(options.channels_first ? "NCDHW" : "NDHWC"));
}
/// The transposed convolution: the gradient of `conv3d` for its volume. It takes dy [batch, depth, height, width, in]
/// to a volume of shape `output`, [batch, depth, height, width, out]. The filter is [depth, height, width, out, in].
/// Throws unless conv3d of that volume has dy's shape. Floats. Differentiable in both operands to any order.
inline tensor conv3d_transpose(const tensor& dy, const tensor& filter, const shape& output,
                               const conv3d_options& options = {}) {
  return call<"Conv3DBackpropInputV2">(dy, filter, attr<"strides">(options.strides.value()),
                                       attr<"pad">(options.pad.value()), attr<"dilations">(options.dilations.value()),
                                       attr<"dataFormat">(options.channels_first ? "NCDHW" : "NDHWC"),
                                       attr<"inputShape">(output));
}

/// Options of the poolings of volumes. The strides are by default the window's size. `ceil_mode` and
/// `count_include_pad` are those of `pool_options`.
struct pool3d_options {
  std::optional<extent3d> strides{};
  padding3d pad = valid;
  bool channels_first = false;
  bool ceil_mode = false;
  bool count_include_pad = false;
};

}  // namespace kerngrad
namespace kerngrad::detail {
/// Pools with the options that the pooling ops have no attribute for.
tensor pooled_beyond(std::string_view name, const tensor& x, extent3d window, const pool3d_options& options, bool mean);
}  // namespace kerngrad::detail
export namespace kerngrad {

/// The largest element of each window over volumes [batch, depth, height, width, channels]. Floats and int32. NaN is
/// ignored; a window without a number gives -infinity, or the smallest int32. If the window does not fit into the
/// padded volume, the result has no elements; with `ceil_mode` it throws. Differentiable to any order: dy goes to the
/// first of equal elements.
inline tensor max_pool3d(const tensor& x, extent3d window, const pool3d_options& options = {}) {
  if (options.ceil_mode) return detail::pooled_beyond("max_pool3d", x, window, options, false);
  return call<"MaxPool3D">(
      x, attr<"filterSize">(window.value()), attr<"strides">((options.strides ? *options.strides : window).value()),
      attr<"pad">(options.pad.value()), attr<"dataFormat">(options.channels_first ? "NCDHW" : "NDHWC"));
}
/// The mean of each window over volumes [batch, depth, height, width, channels]. It counts the elements inside the
/// volume, or with `count_include_pad` those inside the padding as well. A window without elements gives 0. Floats. If
/// the window does not fit into the padded volume, the result has no elements; with `ceil_mode` or `count_include_pad`
/// it throws. Differentiable to any order.
inline tensor avg_pool3d(const tensor& x, extent3d window, const pool3d_options& options = {}) {
  if (options.ceil_mode || options.count_include_pad)
    return detail::pooled_beyond("avg_pool3d", x, window, options, true);
  return call<"AvgPool3D">(
      x, attr<"filterSize">(window.value()), attr<"strides">((options.strides ? *options.strides : window).value()),
      attr<"pad">(options.pad.value()), attr<"dataFormat">(options.channels_first ? "NCDHW" : "NDHWC"));
}

}  // namespace kerngrad
