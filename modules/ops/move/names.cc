// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops that move elements. Defaults and meanings are those of their rows (docs/ops.md).
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_move;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :axes;

export namespace kerngrad {

/// The same elements under another shape, without a copy; one size may be -1.
inline tensor reshape(const tensor& x, std::initializer_list<std::int64_t> dims) {
  return detail::run_reshape(detail::known_entry<op_id<"Reshape">>(), x, {dims.begin(), dims.size()});
}
inline tensor reshape(const tensor& x, const shape& dims) {
  return detail::run_reshape(detail::known_entry<op_id<"Reshape">>(), x, dims.dims());
}
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
/// Reverses axes; all by default.
inline tensor reverse(const tensor& x, const axes& over = all_axes) {
  return call<"Reverse">(x, attr<"dims">(over.value()));
}

}  // namespace kerngrad
