// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops that take attributes. Defaults and meanings are those of their rows (docs/ops.md).
module;
#include "kernels/abi.h"
export module kerngrad:ops;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :axes;
export import :ops_elementwise;

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ reductions

/// The sum over axes; all by default.
inline tensor sum(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Sum">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The mean over axes.
inline tensor mean(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Mean">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The product over axes.
inline tensor prod(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Prod">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The largest element over axes.
inline tensor max(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Max">(x, attr<"reductionIndices">(over.value()), attr<"keepDims">(keep_dims));
}
/// The smallest element over axes.
inline tensor min(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Min">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// Whether all are true.
inline tensor all(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"All">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// Whether one is true.
inline tensor any(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Any">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The index of the first largest element along an axis, int32.
inline tensor argmax(const tensor& x, axis_index axis = 0) { return call<"ArgMax">(x, attr<"axis">(axis.value())); }
/// The index of the first smallest element along an axis, int32.
inline tensor argmin(const tensor& x, axis_index axis = 0) { return call<"ArgMin">(x, attr<"axis">(axis.value())); }
/// The running sum along an axis.
inline tensor cumsum(const tensor& x, axis_index axis = 0, bool exclusive = false, bool reverse = false) {
  return call<"Cumsum">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
/// The running product along an axis.
inline tensor cumprod(const tensor& x, axis_index axis = 0, bool exclusive = false, bool reverse = false) {
  return call<"Cumprod">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
/// exp(x) over its sum along an axis; the last by default.
inline tensor softmax(const tensor& logits, axis_index axis = -1) {
  return call<"Softmax">(logits, attr<"dim">(axis.value()));
}
/// The logarithm of softmax, without its underflow.
inline tensor log_softmax(const tensor& logits, axis_index axis = -1) {
  return call<"LogSoftmax">(logits, attr<"axis">(axis.value()));
}
/// log(sum(exp(x))) along an axis, which goes; without overflow.
inline tensor logsumexp(const tensor& logits, axis_index axis = -1) {
  return call<"LogSumExp">(logits, attr<"axis">(axis.value()));
}
/// The loss of each row: -sum(labels * log_softmax(logits)); take its mean to train.
inline tensor softmax_cross_entropy(const tensor& logits, const tensor& labels) {
  return call<"SoftmaxCrossEntropy">(logits, labels);
}

// ------------------------------------------------------------------------------------------ matrices and windows

/// The matrix product over the last two axes, either operand transposed if asked for.
inline tensor matmul(const tensor& a, const tensor& b, bool transpose_a = false, bool transpose_b = false) {
  return call<"BatchMatMul">(a, b, attr<"transposeA">(transpose_a), attr<"transposeB">(transpose_b));
}

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

// ------------------------------------------------------------------------------------------ movement

/// The same elements under another shape, without a copy; one size may be -1.
inline tensor reshape(const tensor& x, std::initializer_list<std::int64_t> dims) {
  return call<"Reshape">(x, attr<"shape">(attr_value(dims)));
}
inline tensor reshape(const tensor& x, const shape& dims) { return call<"Reshape">(x, attr<"shape">(dims)); }
/// A new axis of size 1, without a copy.
inline tensor expand_dims(const tensor& x, axis_index axis = 0) {
  return call<"ExpandDims">(x, attr<"dim">(axis.value()));
}
/// The axes in another order; reversed by default.
inline tensor transpose(const tensor& x) { return call<"Transpose">(x); }
inline tensor transpose(const tensor& x, std::span<const std::int64_t> perm) {
  return call<"Transpose">(x, attr<"perm">(attr_value(perm)));
}
inline tensor transpose(const tensor& x, std::initializer_list<std::int64_t> perm) {
  return call<"Transpose">(x, attr<"perm">(attr_value(perm)));
}
/// The box that starts at `begin` and has `size`, -1 reaching to the end.
inline tensor slice(const tensor& x, std::span<const std::int64_t> begin, std::span<const std::int64_t> size) {
  return call<"Slice">(x, attr<"begin">(attr_value(begin)), attr<"size">(attr_value(size)));
}
inline tensor slice(const tensor& x, std::initializer_list<std::int64_t> begin,
                    std::initializer_list<std::int64_t> size) {
  return call<"Slice">(x, attr<"begin">(attr_value(begin)), attr<"size">(attr_value(size)));
}
/// Tensors joined along an axis: `concat({a, b})`, or any list of them.
inline tensor concat(std::span<const tensor> tensors, axis_index axis = 0) {
  return call_list<"Concat">(tensors, attr<"axis">(axis.value())).front();
}
inline tensor concat(std::initializer_list<tensor> tensors, axis_index axis = 0) {
  return concat(std::span(tensors.begin(), tensors.size()), axis);
}
/// Tensors of one shape joined along a new axis.
inline tensor stack(std::span<const tensor> tensors, axis_index axis = 0) {
  return call_list<"Pack">(tensors, attr<"axis">(axis.value())).front();
}
inline tensor stack(std::initializer_list<tensor> tensors, axis_index axis = 0) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}
/// The parts along an axis, without it.
inline tensor_list unstack(const tensor& x, axis_index axis = 0) {
  return call_list<"Unpack">(std::span(&x, 1), attr<"axis">(axis.value()));
}
/// Parts along an axis: a number of equal ones, or their sizes.
inline tensor_list split(const tensor& x, int parts, axis_index axis = 0) {
  return call_list<"SplitV">(std::span(&x, 1), attr<"numOrSizeSplits">(parts), attr<"axis">(axis.value()));
}
inline tensor_list split(const tensor& x, std::span<const std::int64_t> sizes, axis_index axis = 0) {
  return call_list<"SplitV">(std::span(&x, 1), attr<"numOrSizeSplits">(attr_value(sizes)), attr<"axis">(axis.value()));
}
inline tensor_list split(const tensor& x, std::initializer_list<std::int64_t> sizes, axis_index axis = 0) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}
/// A number of parts that the compiler knows, for structured bindings: `auto [a, b, c] = split<3>(x)`.
template <std::size_t Parts>
std::array<tensor, Parts> split(const tensor& x, axis_index axis = 0) {
  tensor_list list = split(x, static_cast<int>(Parts), axis);
  std::array<tensor, Parts> parts;
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = std::move(list[static_cast<int>(i)]);
  return parts;
}
/// The same for the parts without the axis; throws when there are not as many.
template <std::size_t Parts>
std::array<tensor, Parts> unstack(const tensor& x, axis_index axis = 0) {
  tensor_list list = unstack(x, axis);
  if (list.size() != static_cast<int>(Parts))
    detail::fail_with("unstack", "# parts taken as #", {list.size(), static_cast<std::int64_t>(Parts)},
                      "as many as the axis has");
  std::array<tensor, Parts> parts;
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = std::move(list[static_cast<int>(i)]);
  return parts;
}
/// A constant border: (before, after) for each axis.
inline tensor pad(const tensor& x, std::span<const std::int64_t> pairs, double value = 0) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
inline tensor pad(const tensor& x, std::initializer_list<std::int64_t> pairs, double value = 0) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
/// x repeated along each of its axes.
inline tensor tile(const tensor& x, std::initializer_list<std::int64_t> reps) {
  return call<"Tile">(x, attr<"reps">(attr_value(reps)));
}
/// x repeated to a shape that it broadcasts to by NumPy's rules.
inline tensor broadcast_to(const tensor& x, const shape& dims) { return call<"BroadcastTo">(x, attr<"shape">(dims)); }
/// The slices of x along an axis at int32 indices.
inline tensor gather(const tensor& x, const tensor& indices, axis_index axis = 0, int batch_dims = 0) {
  return call<"GatherV2">(x, indices, attr<"axis">(axis.value()), attr<"batchDims">(batch_dims));
}
/// Rows added up by segment; ids outside [0, segments) are dropped.
inline tensor segment_sum(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentSum">(x, ids, attr<"numSegments">(segments));
}
/// `on` at the index on a new last axis, `off` elsewhere.
inline tensor one_hot(const tensor& indices, std::int64_t depth, double on = 1, double off = 0,
                      dtype type = dtype::float32) {
  return call<"OneHot">(indices, attr<"depth">(depth), attr<"onValue">(on), attr<"offValue">(off), attr<"dtype">(type));
}
/// Axes turned round; all by default.
inline tensor reverse(const tensor& x, const axes& over = all_axes) {
  return call<"Reverse">(x, attr<"dims">(over.value()));
}

// ------------------------------------------------------------------------------------------ creation

/// One value everywhere.
inline tensor full(const shape& dims, double value, dtype type = dtype::float32) {
  return call<"Fill">(attr<"shape">(dims), attr<"value">(value), attr<"dtype">(type));
}
/// 0 everywhere.
inline tensor zeros(const shape& dims, dtype type = dtype::float32) { return full(dims, 0, type); }
/// 1 everywhere.
inline tensor ones(const shape& dims, dtype type = dtype::float32) { return full(dims, 1, type); }
/// start, start + step, ... before stop.
inline tensor range(double start, double stop, double step = 1, dtype type = dtype::float32) {
  return call<"Range">(attr<"start">(start), attr<"stop">(stop), attr<"step">(step), attr<"dtype">(type));
}
/// `count` evenly spaced numbers from start to stop, both included.
inline tensor linspace(double start, double stop, std::int64_t count, dtype type = dtype::float32) {
  return call<"LinSpace">(attr<"start">(start), attr<"stop">(stop), attr<"num">(count), attr<"dtype">(type));
}
/// Uniform draws in [low, high), low <= high. The same seed gives the same bits on every CPU target.
inline tensor random_uniform(const shape& dims, double low, double high, std::int64_t seed,
                             dtype type = dtype::float32) {
  return call<"RandomUniform">(attr<"shape">(dims), attr<"low">(low), attr<"high">(high), attr<"seed">(seed),
                               attr<"dtype">(type));
}
/// Normal draws. The same seed gives the same bits on every CPU target.
inline tensor random_normal(const shape& dims, double mean, double stddev, std::int64_t seed,
                            dtype type = dtype::float32) {
  return call<"RandomNormal">(attr<"shape">(dims), attr<"mean">(mean), attr<"stddev">(stddev), attr<"seed">(seed),
                              attr<"dtype">(type));
}

}  // namespace kerngrad
