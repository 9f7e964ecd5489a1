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

namespace kerngrad::detail {

// Before and after an axis. A function that takes lists of these is a template, so that `{}` is a list of numbers
// without any.
using border = std::pair<std::int64_t, std::int64_t>;
inline std::vector<std::int64_t> in_one_list(std::initializer_list<border> pairs) {
  std::vector<std::int64_t> all;
  for (const auto& [before, after] : pairs) all.push_back(before), all.push_back(after);
  return all;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The same elements in another shape, in row-major order and without a copy. One size may be -1: it follows from the
/// others. Any dtype. Throws for another number of elements. Gradient: dy in x's shape.
inline tensor reshape(const tensor& x, std::initializer_list<std::int64_t> dims) {
  return detail::run_reshape(detail::known_entry<op_id<"Reshape">>(), x, {dims.begin(), dims.size()});
}
inline tensor reshape(const tensor& x, const shape& dims) {
  return detail::run_reshape(detail::known_entry<op_id<"Reshape">>(), x, dims.dims());
}
/// Inserts an axis of size 1 at position `axis` of the result, without a copy. A negative axis counts from the back of
/// the result: -1 appends an axis. Any dtype. Gradient: dy in x's shape.
inline tensor expand_dims(const tensor& x, axis_index axis = 0) {
  return call<"ExpandDims">(x, attr<"dim">(axis.value()));
}
/// Permutes the axes; without `perm` it reverses their order. Axis i of the result is axis perm[i] of x. Any dtype.
/// Throws unless `perm` has each axis once. Gradient: dy with the axes in the old order.
inline tensor transpose(const tensor& x) { return call<"Transpose">(x); }
inline tensor transpose(const tensor& x, std::span<const std::int64_t> perm) {
  return call<"Transpose">(x, attr<"perm">(attr_value(perm)));
}
inline tensor transpose(const tensor& x, std::initializer_list<std::int64_t> perm) {
  return call<"Transpose">(x, attr<"perm">(attr_value(perm)));
}
/// The part of x that starts at index `begin` and has size `size` on each axis. A size of -1 reaches to the end of the
/// axis; `begin` does not count from the back. Axes without a number begin at 0 and are whole. Any dtype. Throws for a
/// part that is not inside x. Gradient: dy at the elements taken, 0 elsewhere.
inline tensor slice(const tensor& x, std::span<const std::int64_t> begin, std::span<const std::int64_t> size) {
  return call<"Slice">(x, attr<"begin">(attr_value(begin)), attr<"size">(attr_value(size)));
}
inline tensor slice(const tensor& x, std::initializer_list<std::int64_t> begin,
                    std::initializer_list<std::int64_t> size) {
  return call<"Slice">(x, attr<"begin">(attr_value(begin)), attr<"size">(attr_value(size)));
}
/// Joins tensors along an axis: `concat({a, b})`, or any list of them. Sizes on all other axes are equal. Dtypes are
/// promoted. Throws for other shapes, for scalars and without tensors. Gradient: the parts of dy.
inline tensor concat(std::span<const tensor> tensors, axis_index axis = 0) {
  return call_list<"Concat">(tensors, attr<"axis">(axis.value())).front();
}
inline tensor concat(std::initializer_list<tensor> tensors, axis_index axis = 0) {
  return concat(std::span(tensors.begin(), tensors.size()), axis);
}
/// Joins tensors of one shape along a new axis, at position `axis` of the result. Dtypes are promoted. Throws for
/// different shapes and without tensors. Gradient: the slices of dy.
inline tensor stack(std::span<const tensor> tensors, axis_index axis = 0) {
  return call_list<"Pack">(tensors, attr<"axis">(axis.value())).front();
}
inline tensor stack(std::initializer_list<tensor> tensors, axis_index axis = 0) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}
/// The slices of x along an axis, each without that axis. Any dtype. Throws for a scalar and for more than 65536
/// slices. Gradient: the gradients of the slices, stacked.
inline tensor_list unstack(const tensor& x, axis_index axis = 0) {
  return call_list<"Unpack">(std::span(&x, 1), attr<"axis">(axis.value()));
}
/// Cuts x along an axis into equal parts, or into parts of given sizes. One of the sizes may be -1: it follows from the
/// others. Any dtype. Throws if the parts do not divide the axis, or if the sizes do not add up to it. Gradient: the
/// gradients of the parts, joined.
inline tensor_list split(const tensor& x, int parts, axis_index axis = 0) {
  return call_list<"SplitV">(std::span(&x, 1), attr<"numOrSizeSplits">(parts), attr<"axis">(axis.value()));
}
inline tensor_list split(const tensor& x, std::span<const std::int64_t> sizes, axis_index axis = 0) {
  return call_list<"SplitV">(std::span(&x, 1), attr<"numOrSizeSplits">(attr_value(sizes)), attr<"axis">(axis.value()));
}
inline tensor_list split(const tensor& x, std::initializer_list<std::int64_t> sizes, axis_index axis = 0) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}
/// Cuts x along an axis into `Parts` equal parts, for structured bindings: `auto [a, b, c] = split<3>(x)`. The rest is
/// as for `split` with a number of parts.
template <std::size_t Parts>
std::array<tensor, Parts> split(const tensor& x, axis_index axis = 0) {
  tensor_list list = split(x, static_cast<int>(Parts), axis);
  std::array<tensor, Parts> parts;
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = std::move(list[static_cast<int>(i)]);
  return parts;
}
/// The slices of x along an axis, each without that axis, as an array of `Parts`. Throws if the axis has another size.
/// The rest is as for `unstack` into a list.
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
/// Pads x with a value, by a list with a pair (before, after) for each axis. Any dtype. Throws for a negative padding,
/// and for a value that an integer dtype does not hold. Gradient: the part of dy that belongs to x.
inline tensor pad(const tensor& x, std::span<const std::int64_t> pairs, double value = 0) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
inline tensor pad(const tensor& x, std::initializer_list<std::int64_t> pairs, double value = 0) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
/// Pads a tensor of text with a string. `pad` without a value takes the empty string. The rest is as for `pad` with a
/// number, but there is no gradient.
inline tensor pad(const tensor& x, std::initializer_list<std::int64_t> pairs, std::string_view value) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
/// Pads x with a value, by a pair (before, after) for each axis: `pad(x, {{1, 1}, {0, 2}})`. The rest is as for a flat
/// list of pairs.
template <std::same_as<detail::border> Pair = detail::border>
tensor pad(const tensor& x, std::initializer_list<Pair> pairs, double value = 0) {
  return pad(x, detail::in_one_list(pairs), value);
}
template <std::same_as<detail::border> Pair = detail::border>
tensor pad(const tensor& x, std::initializer_list<Pair> pairs, std::string_view value) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(detail::in_one_list(pairs))), attr<"constantValue">(value));
}
/// Repeats x reps[i] times along each axis i. Any dtype. Unlike numpy.tile it throws unless there is one number for
/// each axis; numbers are 0 or more. Gradient: dy summed over the repetitions.
inline tensor tile(const tensor& x, std::span<const std::int64_t> reps) {
  return call<"Tile">(x, attr<"reps">(attr_value(reps)));
}
inline tensor tile(const tensor& x, std::initializer_list<std::int64_t> reps) {
  return tile(x, std::span(reps.begin(), reps.size()));
}
/// Repeats x to a shape that it broadcasts to by NumPy's rules. Any dtype. Throws for another shape. Gradient: dy
/// summed over the repetitions.
inline tensor broadcast_to(const tensor& x, const shape& dims) { return call<"BroadcastTo">(x, attr<"shape">(dims)); }
/// The slices of x along an axis at int32 or int64 indices. The axes of the indices replace the axis. Negative indices
/// do not count from the back: an index out of range throws. The first `batch_dims` axes of x and indices have equal
/// sizes and share one index. Any dtype. Gradient: dy added up at the indices.
inline tensor gather(const tensor& x, const tensor& indices, axis_index axis = 0, int batch_dims = 0) {
  return call<"GatherV2">(x, indices, attr<"axis">(axis.value()), attr<"batchDims">(batch_dims));
}
/// Sums the rows of x by segment: row i is added to row ids[i] of the result. The first axes of x are those of ids; one
/// axis of size `segments` replaces them in the result. Ids are int32 or int64; those outside of [0, segments) are
/// dropped. A segment without rows gives 0. x has floats, int32 or int64. Differentiable in x.
inline tensor segment_sum(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentSum">(x, ids, attr<"numSegments">(segments));
}
/// The mean of the rows of each segment, 0 for a segment without rows. Means of integers are rounded towards 0. The
/// rest is as for `segment_sum`.
inline tensor segment_mean(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("mean"));
}
/// The product of the rows of each segment, element by element, 1 for a segment without rows. The rest is as for
/// `segment_sum`. Differentiable to any order, with zeros among the factors too.
inline tensor segment_prod(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("prod"));
}
/// The largest elements in the rows of each segment, element by element; NaN if one is NaN. A segment without rows
/// gives -infinity, or the smallest integer. Gradient: the elements that equal the result share dy equally. The rest is
/// as for `segment_sum`.
inline tensor segment_max(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("max"));
}
/// The smallest elements in the rows of each segment, element by element; NaN if one is NaN. A segment without rows
/// gives infinity, or the largest integer. Gradient: the elements that equal the result share dy equally. The rest is
/// as for `segment_sum`.
inline tensor segment_min(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("min"));
}
/// A new last axis of size `depth` with `on` at the index and `off` elsewhere. An index outside of [0, depth) gives
/// `off` only. Indices are int32 or int64. Throws for a depth below 2. No gradient.
inline tensor one_hot(const tensor& indices, std::int64_t depth, double on = 1, double off = 0,
                      dtype type = dtype::float32) {
  return call<"OneHot">(indices, attr<"depth">(depth), attr<"onValue">(on), attr<"offValue">(off), attr<"dtype">(type));
}
/// Reverses the order of the elements along axes; all axes by default. Any dtype. Throws for an axis that x does not
/// have. Gradient: dy reversed.
inline tensor reverse(const tensor& x, const axes& over = all_axes) {
  return call<"Reverse">(x, attr<"dims">(over.value()));
}
/// Reverses the order of the elements along axes: `reverse` under NumPy's name.
inline tensor flip(const tensor& x, const axes& over = all_axes) { return reverse(x, over); }

/// Bit masks that change the meaning of indices of `strided_slice`. Bit 0 belongs to the first index.
struct slice_masks {
  std::uint32_t begin = 0;        ///< the axis begins at its start; the index is ignored
  std::uint32_t end = 0;          ///< the axis goes to its end; the index is ignored
  std::uint32_t ellipsis = 0;     ///< the index stands for all axes without an index: at most one bit
  std::uint32_t new_axis = 0;     ///< the index stands for a new axis of size 1
  std::uint32_t shrink_axis = 0;  ///< only the element at `begin`; the result lacks the axis
};
/// Every `strides`-th element from `begin` to before `end`, on each axis with an index; other axes are whole. Negative
/// indices count from the back, negative strides go backwards. Bounds outside of an axis are moved to its ends. Without
/// `strides` all are 1. Any dtype. Throws for a stride of 0 and for more indices than axes. Gradient: dy at the
/// elements taken, 0 elsewhere.
inline tensor strided_slice(const tensor& x, std::span<const std::int64_t> begin, std::span<const std::int64_t> end,
                            std::span<const std::int64_t> strides = {}, slice_masks masks = {}) {
  return call<"StridedSlice">(x, attr<"begin">(attr_value(begin)), attr<"end">(attr_value(end)),
                              attr<"strides">(attr_value(strides)), attr<"beginMask">(masks.begin),
                              attr<"endMask">(masks.end), attr<"ellipsisMask">(masks.ellipsis),
                              attr<"newAxisMask">(masks.new_axis), attr<"shrinkAxisMask">(masks.shrink_axis));
}
inline tensor strided_slice(const tensor& x, std::initializer_list<std::int64_t> begin,
                            std::initializer_list<std::int64_t> end, std::initializer_list<std::int64_t> strides = {},
                            slice_masks masks = {}) {
  const auto all = [](std::initializer_list<std::int64_t> list) { return std::span(list.begin(), list.size()); };
  return strided_slice(x, all(begin), all(end), all(strides), masks);
}
/// Elements that `mirror_pad` repeats: for [1 2 3], `reflect` gives [3 2 1 2 3 2 1] and `symmetric` [2 1 1 2 3 3 2].
enum class mirror : std::uint8_t { reflect, symmetric };
/// Pads x with mirrored elements, by a list with a pair (before, after) for each axis. A padding is at most the size of
/// the axis, or one less with `reflect`, which does not repeat the outermost elements. Else it throws. Any dtype.
/// Gradient: dy, plus the gradient of the border at the elements that it mirrors.
inline tensor mirror_pad(const tensor& x, std::span<const std::int64_t> pairs, mirror how = mirror::reflect) {
  return call<"MirrorPad">(x, attr<"paddings">(attr_value(pairs)),
                           attr<"mode">(how == mirror::reflect ? "reflect" : "symmetric"));
}
inline tensor mirror_pad(const tensor& x, std::initializer_list<std::int64_t> pairs, mirror how = mirror::reflect) {
  return mirror_pad(x, std::span(pairs.begin(), pairs.size()), how);
}
}  // namespace kerngrad
namespace kerngrad::detail {
/// Pads as `mirror_pad`, but reflects again if a border is wider than the axis.
tensor mirrored(const tensor& x, std::span<const std::int64_t> pairs, kerngrad::mirror how);
}  // namespace kerngrad::detail
export namespace kerngrad {

/// Elements around [1 2 3] for a border of four on either side. `constant` gives [0 0 0 0 1 2 3 0 0 0 0], `reflect` [1
/// 2 3 2 1 2 3 2 1 2 3], `symmetric` [3 3 2 1 1 2 3 3 2 1 1], `edge` [1 1 1 1 1 2 3 3 3 3 3], and `wrap` [3 1 2 3 1 2 3
/// 1 2 3 1].
enum class pad_mode : std::uint8_t { constant, reflect, symmetric, edge, wrap };
/// Pads x by (before, after) elements for each axis, as numpy.pad. The border has zeros, mirrored elements, the
/// outermost elements, or the whole axis repeated. A mirrored border wider than the axis is reflected again; an axis of
/// size 1 repeats its element. Any dtype. Throws for negative paddings, and if an empty axis needs elements other than
/// zeros. Differentiable to any order: the gradient of the border is added to the elements that it repeats.
inline tensor pad(const tensor& x, std::span<const std::int64_t> pairs, pad_mode mode) {
  switch (mode) {
    case pad_mode::constant: break;
    case pad_mode::reflect: return detail::mirrored(x, pairs, mirror::reflect);
    case pad_mode::symmetric: return detail::mirrored(x, pairs, mirror::symmetric);
    case pad_mode::edge: return call<"RepeatPad">(x, attr<"paddings">(attr_value(pairs)), attr<"mode">("edge"));
    case pad_mode::wrap: return call<"RepeatPad">(x, attr<"paddings">(attr_value(pairs)), attr<"mode">("wrap"));
  }
  return pad(x, pairs);
}
inline tensor pad(const tensor& x, std::initializer_list<std::int64_t> pairs, pad_mode mode) {
  return pad(x, std::span(pairs.begin(), pairs.size()), mode);
}
template <std::same_as<detail::border> Pair = detail::border>
tensor pad(const tensor& x, std::initializer_list<Pair> pairs, pad_mode mode) {
  return pad(x, detail::in_one_list(pairs), mode);
}
/// Pads axes 1, 2, ... with zeros by (before, after) each, and cuts them into blocks: `block` has a size for each of
/// these axes. The positions in a block move to the first axis, whose size is multiplied by the elements of a block.
/// They are its outer part. Any dtype. Throws if a block does not divide its padded axis, and for a negative padding.
/// Gradient: `batch_to_space` of dy.
inline tensor space_to_batch(const tensor& x, std::span<const std::int64_t> block,
                             std::span<const std::int64_t> paddings) {
  return call<"SpaceToBatchND">(x, attr<"blockShape">(attr_value(block)), attr<"paddings">(attr_value(paddings)));
}
inline tensor space_to_batch(const tensor& x, std::initializer_list<std::int64_t> block,
                             std::initializer_list<std::int64_t> paddings) {
  return space_to_batch(x, std::span(block.begin(), block.size()), std::span(paddings.begin(), paddings.size()));
}
/// The inverse of `space_to_batch`: moves parts of the first axis into blocks of the axes after it, then cuts off
/// `crops`. These are a pair (before, after) for each axis. Any dtype. Throws if the first axis is no multiple of a
/// block's elements, and for negative or too large crops. Gradient: `space_to_batch` of dy.
inline tensor batch_to_space(const tensor& x, std::span<const std::int64_t> block,
                             std::span<const std::int64_t> crops) {
  return call<"BatchToSpaceND">(x, attr<"blockShape">(attr_value(block)), attr<"crops">(attr_value(crops)));
}
inline tensor batch_to_space(const tensor& x, std::initializer_list<std::int64_t> block,
                             std::initializer_list<std::int64_t> crops) {
  return batch_to_space(x, std::span(block.begin(), block.size()), std::span(crops.begin(), crops.size()));
}
/// Moves channels of images [batch, height, width, channels] into blocks of height and width. The result is [batch,
/// height * block, width * block, channels / block^2]. Any dtype. Throws for a block below 2, or if block^2 does not
/// divide the channels. Gradient: the blocks of dy become channels again.
inline tensor depth_to_space(const tensor& x, std::int64_t block) {
  return call<"DepthToSpace">(x, attr<"blockSize">(block));
}
/// A tensor with x on its diagonal and 0 elsewhere. Its shape is x's shape twice: [n] gives the matrix [n, n]. Any
/// dtype. Throws if x has more than 4 axes. Gradient: the diagonal of dy.
inline tensor diag(const tensor& x) { return call<"Diag">(x); }
/// The matrices of the last two axes with 0 outside of a band around the main diagonal. The band has `lower` diagonals
/// below the main one and `upper` above it. A negative number keeps all of that side: `band_part(x, -1, 0)` is the
/// lower triangle. Any dtype. Throws if `lower` exceeds the number of rows or `upper` that of columns. Gradient: the
/// same part of dy.
inline tensor band_part(const tensor& x, std::int64_t lower, std::int64_t upper) {
  const auto scalar = [](std::int64_t value) { return tensor(std::vector<std::int64_t>{value}, shape{}); };
  return call<"MatrixBandPart">(x, scalar(lower), scalar(upper));
}
/// The slices of x at rows of indices. Indices [..., d] give slices [..., the axes of x after the first d]: each row of
/// d indices selects a slice. An index out of range throws; negative indices do not count from the back. Any dtype.
/// Gradient: dy added up at the rows.
inline tensor gather_nd(const tensor& x, const tensor& indices) { return call<"GatherNd">(x, indices); }
/// Zeros of shape `dims` with the updates added at rows of indices: the adjoint of `gather_nd`. There is an update, a
/// slice of the result, for each row. Indices of rank 1 are rows of one index. An index out of range throws. Updates
/// are floats, int32 or int64. Gradient: the slices of dy at the rows.
inline tensor scatter_nd(const tensor& indices, const tensor& updates, const shape& dims) {
  return call<"ScatterNd">(indices, updates, attr<"shape">(dims));
}
/// Returns x with the updates in place of its slices at rows of indices. Shapes are those of `scatter_nd`. If rows are
/// equal, the last update wins. Any dtype. An index out of range throws. Gradient for x: dy, with 0 at the replaced
/// slices. Gradient for the updates: dy at their slices, or 0 for an update that a later one replaced.
inline tensor tensor_scatter_update(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterUpdate">(x, indices, updates);
}
/// Returns x with the updates added to its slices at rows of indices. Shapes are those of `scatter_nd`. Rows are
/// processed in order, so results are bitwise identical for any number of threads. Floats, and int32 and int64, which
/// wrap. An index out of range throws. Gradient: dy for x, the slices of dy for the updates.
inline tensor scatter_add(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("add"));
}
/// Returns x with its slices at rows of indices multiplied by the updates. The rest is as for `scatter_add`.
/// Differentiable to any order, with zeros among the factors too.
inline tensor scatter_mul(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("mul"));
}
/// Returns x with the larger of slice and update, element by element, at rows of indices; NaN if one is NaN. The rest
/// is as for `scatter_add`. Gradient: the elements of x and of the updates that equal the result share dy equally.
inline tensor scatter_max(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("max"));
}
/// Returns x with the smaller of slice and update, element by element, at rows of indices. The rest is as for
/// `scatter_max`.
inline tensor scatter_min(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("min"));
}

/// The elements of x at indices along an axis, as NumPy's take_along_axis. x and indices have the same rank, or it
/// throws; their other axes broadcast. On the axis the result has the size of the indices. Indices are int32 or int64.
/// Negative indices count from the back; one out of range throws. Any dtype. Gradient: dy added up at the indices.
inline tensor take_along_axis(const tensor& x, const tensor& indices, axis_index axis = -1) {
  return call<"TakeAlongAxis">(x, indices, attr<"axis">(axis.value()));
}
/// Returns x with the updates in place of the elements that `take_along_axis` takes. The updates broadcast to the shape
/// of these elements. If an element is taken several times, the last update wins. Any dtype. Gradient for x: dy, with 0
/// at the replaced elements. Gradient for the updates: dy at their elements, or 0 for an update that a later one
/// replaced.
inline tensor put_along_axis(const tensor& x, const tensor& indices, const tensor& updates, axis_index axis = -1) {
  return call<"PutAlongAxis">(x, indices, updates, attr<"axis">(axis.value()));
}
/// The combination of an update with the current element by `scatter_along_axis`: sum, product, larger or smaller one.
enum class scatter_reduction : std::uint8_t { add, mul, max, min };
/// Returns x with the elements that `take_along_axis` takes combined with the updates. The updates broadcast to the
/// shape of these elements. Several updates of one element are combined one after another, in row-major order. Floats,
/// int32 and int64. Gradients are those of `scatter_add`, `scatter_mul`, `scatter_max` and `scatter_min`.
inline tensor scatter_along_axis(const tensor& x, const tensor& indices, const tensor& updates, scatter_reduction how,
                                 axis_index axis = -1) {
  constexpr std::string_view names[] = {"add", "mul", "max", "min"};
  return call<"ScatterAlongAxis">(x, indices, updates, attr<"axis">(axis.value()),
                                  attr<"reduction">(names[static_cast<std::size_t>(how)]));
}
/// A tensor of shape `dims` with `values` at `indices` and `otherwise` elsewhere. The indices are a scalar or a vector
/// for a result of one axis, or a matrix whose rows have an index for each axis. `values` has a value for each of them,
/// or is a scalar for all. If an index occurs twice, the last value wins. Any dtype. An index out of range throws.
/// Differentiable in the values.
inline tensor sparse_to_dense(const tensor& indices, const tensor& values, const shape& dims, double otherwise = 0) {
  return call<"SparseToDense">(
      indices, values, call<"Fill">(attr<"shape">(shape{}), attr<"value">(otherwise), attr<"dtype">(values.type())),
      attr<"outputShape">(dims));
}
/// The shape that two shapes broadcast to by NumPy's rules. Shapes are vectors of int32 or int64. Throws for shapes
/// that do not broadcast. No gradient.
inline tensor broadcast_args(const tensor& a, const tensor& b) { return call<"BroadcastArgs">(a, b); }

/// The indices of the elements of x that are not 0, in row-major order: int32 [count, rank], where numpy.nonzero has a
/// list of vectors. NaN is not 0. x has any real dtype or bool. Throws for a scalar. No gradient.
inline tensor nonzero(const tensor& x) { return call<"NonZero">(x); }
/// The slices of x where `mask` is not 0. x has any dtype, the mask a real dtype or bool. The mask has the shape of the
/// axes of x from `axis` on; in the result one axis replaces them. Throws if the mask is a scalar or has another shape.
/// Gradient: dy at the slices taken, 0 elsewhere.
tensor boolean_mask(const tensor& x, const tensor& mask, axis_index axis = 0);

}  // namespace kerngrad
