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

/// The same elements in another shape, without a copy. One size may be -1.
inline tensor reshape(const tensor& x, std::initializer_list<std::int64_t> dims) {
  return detail::run_reshape(detail::known_entry<op_id<"Reshape">>(), x, {dims.begin(), dims.size()});
}
inline tensor reshape(const tensor& x, const shape& dims) {
  return detail::run_reshape(detail::known_entry<op_id<"Reshape">>(), x, dims.dims());
}
/// Inserts an axis of size 1, without a copy.
inline tensor expand_dims(const tensor& x, axis_index axis = 0) {
  return call<"ExpandDims">(x, attr<"dim">(axis.value()));
}
/// Permutes the axes; reverses them by default.
inline tensor transpose(const tensor& x) { return call<"Transpose">(x); }
inline tensor transpose(const tensor& x, std::span<const std::int64_t> perm) {
  return call<"Transpose">(x, attr<"perm">(attr_value(perm)));
}
inline tensor transpose(const tensor& x, std::initializer_list<std::int64_t> perm) {
  return call<"Transpose">(x, attr<"perm">(attr_value(perm)));
}
/// The box that starts at `begin` and has `size`; a size of -1 reaches to the end.
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
/// The slices along an axis, each without that axis.
inline tensor_list unstack(const tensor& x, axis_index axis = 0) {
  return call_list<"Unpack">(std::span(&x, 1), attr<"axis">(axis.value()));
}
/// Cuts x along an axis into equal parts, or into parts of given sizes.
inline tensor_list split(const tensor& x, int parts, axis_index axis = 0) {
  return call_list<"SplitV">(std::span(&x, 1), attr<"numOrSizeSplits">(parts), attr<"axis">(axis.value()));
}
inline tensor_list split(const tensor& x, std::span<const std::int64_t> sizes, axis_index axis = 0) {
  return call_list<"SplitV">(std::span(&x, 1), attr<"numOrSizeSplits">(attr_value(sizes)), attr<"axis">(axis.value()));
}
inline tensor_list split(const tensor& x, std::initializer_list<std::int64_t> sizes, axis_index axis = 0) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}
/// Cuts x into a number of equal parts that the compiler knows, for structured bindings: `auto [a, b, c] =
/// split<3>(x)`.
template <std::size_t Parts>
std::array<tensor, Parts> split(const tensor& x, axis_index axis = 0) {
  tensor_list list = split(x, static_cast<int>(Parts), axis);
  std::array<tensor, Parts> parts;
  for (std::size_t i = 0; i < Parts; ++i) parts[i] = std::move(list[static_cast<int>(i)]);
  return parts;
}
/// The slices along an axis as an array of `Parts`. Throws if the axis has another size.
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
/// Pads x with a value, by a pair (before, after) for each axis. Throws for a number that an integer dtype does not
/// hold.
inline tensor pad(const tensor& x, std::span<const std::int64_t> pairs, double value = 0) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
inline tensor pad(const tensor& x, std::initializer_list<std::int64_t> pairs, double value = 0) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
/// Pads a tensor of text with a string; without a value, with the empty one.
inline tensor pad(const tensor& x, std::initializer_list<std::int64_t> pairs, std::string_view value) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(pairs)), attr<"constantValue">(value));
}
/// Pads by a pair (before, after) for each axis: `pad(x, {{1, 1}, {0, 2}})`.
template <std::same_as<detail::border> Pair = detail::border>
tensor pad(const tensor& x, std::initializer_list<Pair> pairs, double value = 0) {
  return pad(x, detail::in_one_list(pairs), value);
}
template <std::same_as<detail::border> Pair = detail::border>
tensor pad(const tensor& x, std::initializer_list<Pair> pairs, std::string_view value) {
  return call<"PadV2">(x, attr<"paddings">(attr_value(detail::in_one_list(pairs))), attr<"constantValue">(value));
}
/// x repeated along each of its axes.
inline tensor tile(const tensor& x, std::span<const std::int64_t> reps) {
  return call<"Tile">(x, attr<"reps">(attr_value(reps)));
}
inline tensor tile(const tensor& x, std::initializer_list<std::int64_t> reps) {
  return tile(x, std::span(reps.begin(), reps.size()));
}
/// x repeated to a shape that it broadcasts to by NumPy's rules.
inline tensor broadcast_to(const tensor& x, const shape& dims) { return call<"BroadcastTo">(x, attr<"shape">(dims)); }
/// The slices of x along an axis at int32 or int64 indices. Negative indices do not count from the back: an index out
/// of range throws. The first `batch_dims` axes of x and indices run together. Any dtype. Gradient: dy added up at the
/// indices.
inline tensor gather(const tensor& x, const tensor& indices, axis_index axis = 0, int batch_dims = 0) {
  return call<"GatherV2">(x, indices, attr<"axis">(axis.value()), attr<"batchDims">(batch_dims));
}
/// Sums the rows of each segment; ids outside of [0, segments) are dropped.
inline tensor segment_sum(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentSum">(x, ids, attr<"numSegments">(segments));
}
/// The means of the rows of each segment, 0 for an empty one; those of integers are rounded towards 0. Ids outside of
/// [0, segments) are dropped, here and below. x is of floats, int32 or int64.
inline tensor segment_mean(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("mean"));
}
/// The products of the rows of each segment, 1 for an empty one. Differentiable to any order, with zeros among the
/// factors too.
inline tensor segment_prod(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("prod"));
}
/// The largest elements of the rows of each segment; NaN if one is NaN. An empty segment gives -infinity as `max`, or
/// the smallest integer. Gradient: the elements that equal the result share dy equally.
inline tensor segment_max(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("max"));
}
/// The smallest elements of the rows of each segment. An empty one gives infinity, or the largest integer.
inline tensor segment_min(const tensor& x, const tensor& ids, std::int64_t segments) {
  return call<"UnsortedSegmentReduce">(x, ids, attr<"numSegments">(segments), attr<"reduction">("min"));
}
/// A new last axis of size `depth` with `on` at the index and `off` elsewhere. For an index outside of [0, depth) all
/// are `off`.
inline tensor one_hot(const tensor& indices, std::int64_t depth, double on = 1, double off = 0,
                      dtype type = dtype::float32) {
  return call<"OneHot">(indices, attr<"depth">(depth), attr<"onValue">(on), attr<"offValue">(off), attr<"dtype">(type));
}
/// Reverses axes; all by default.
inline tensor reverse(const tensor& x, const axes& over = all_axes) {
  return call<"Reverse">(x, attr<"dims">(over.value()));
}
/// `reverse` under NumPy's name.
inline tensor flip(const tensor& x, const axes& over = all_axes) { return reverse(x, over); }

/// Bits for the indices of `strided_slice`. The first index is bit 0.
struct slice_masks {
  std::uint32_t begin = 0;        ///< this axis begins at its start, whatever the index
  std::uint32_t end = 0;          ///< this axis goes to its end
  std::uint32_t ellipsis = 0;     ///< this index stands for all axes that no other one names: at most one bit
  std::uint32_t new_axis = 0;     ///< this index is a new axis of size 1
  std::uint32_t shrink_axis = 0;  ///< this axis goes: it is of the one index `begin`
};
/// Every `strides`-th index from `begin` to before `end`, on each named axis. Negative indices count from the back,
/// negative strides go backwards; bounds outside of an axis are its ends. Without `strides` all are 1. Any dtype.
/// Throws for a stride of 0 and for more indices than axes. Gradient: dy at the positions that were taken.
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
/// Elements that the border of `mirror_pad` repeats: [1 2 3] becomes [3 2 1 2 3 2 1] or [2 1 1 2 3 3 2].
enum class mirror : std::uint8_t { reflect, symmetric };
/// Pads x with mirrored elements, by a pair (before, after) for each axis. Each is at most the axis' size, or one less
/// with `reflect`, which does not repeat the outermost elements. Any dtype. Gradient: dy, plus that of the border at
/// the elements that it mirrors.
inline tensor mirror_pad(const tensor& x, std::span<const std::int64_t> pairs, mirror how = mirror::reflect) {
  return call<"MirrorPad">(x, attr<"paddings">(attr_value(pairs)),
                           attr<"mode">(how == mirror::reflect ? "reflect" : "symmetric"));
}
inline tensor mirror_pad(const tensor& x, std::initializer_list<std::int64_t> pairs, mirror how = mirror::reflect) {
  return mirror_pad(x, std::span(pairs.begin(), pairs.size()), how);
}
}  // namespace kerngrad
namespace kerngrad::detail {
/// mirror_pad that reflects again where a border is wider than the axis.
tensor mirrored(const tensor& x, std::span<const std::int64_t> pairs, kerngrad::mirror how);
}  // namespace kerngrad::detail
export namespace kerngrad {

/// Elements around [1 2 3] for a border of four on either side: `constant` [0 0 0 0 1 2 3 0 0 0 0], `reflect` [1 2 3 2
/// 1 2 3 2 1 2 3], `symmetric` [3 3 2 1 1 2 3 3 2 1 1], `edge` [1 1 1 1 1 2 3 3 3 3 3] and `wrap` [3 1 2 3 1 2 3 1 2 3
/// 1].
enum class pad_mode : std::uint8_t { constant, reflect, symmetric, edge, wrap };
/// Pads x by (before, after) elements for each axis, as numpy.pad: zeros, mirrored elements, the outermost elements, or
/// the whole axis repeated. A mirrored border wider than the axis is reflected again; an axis of size 1 repeats its
/// element. Any dtype. Throws for negative paddings, and if an empty axis needs elements other than zeros. Gradient, of
/// any order: that of the border is added to the elements that it repeats.
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
/// Cuts the axes after the first one into blocks, after padding them with zeros by (before, after) each. The positions
/// in a block become the outer part of the result's batch. Gradient: `batch_to_space` of dy.
inline tensor space_to_batch(const tensor& x, std::span<const std::int64_t> block,
                             std::span<const std::int64_t> paddings) {
  return call<"SpaceToBatchND">(x, attr<"blockShape">(attr_value(block)), attr<"paddings">(attr_value(paddings)));
}
inline tensor space_to_batch(const tensor& x, std::initializer_list<std::int64_t> block,
                             std::initializer_list<std::int64_t> paddings) {
  return space_to_batch(x, std::span(block.begin(), block.size()), std::span(paddings.begin(), paddings.size()));
}
/// The inverse of `space_to_batch`, which crops the padding. Gradient: `space_to_batch` of dy.
inline tensor batch_to_space(const tensor& x, std::span<const std::int64_t> block,
                             std::span<const std::int64_t> crops) {
  return call<"BatchToSpaceND">(x, attr<"blockShape">(attr_value(block)), attr<"crops">(attr_value(crops)));
}
inline tensor batch_to_space(const tensor& x, std::initializer_list<std::int64_t> block,
                             std::initializer_list<std::int64_t> crops) {
  return batch_to_space(x, std::span(block.begin(), block.size()), std::span(crops.begin(), crops.size()));
}
/// Moves channels of images [batch, height, width, channels] into blocks of height and width. The result is [batch,
/// height * block, width * block, channels / block^2]. Gradient: the blocks of dy become channels again.
inline tensor depth_to_space(const tensor& x, std::int64_t block) {
  return call<"DepthToSpace">(x, attr<"blockSize">(block));
}
/// A tensor with x on its diagonal and 0 elsewhere. Its shape is x's shape twice: [n] gives the matrix [n, n]. Rank at
/// most 4. Gradient: the diagonal of dy.
inline tensor diag(const tensor& x) { return call<"Diag">(x); }
/// The matrices of the last two axes with 0 more than `lower` below the diagonal or more than `upper` above it. A
/// negative number keeps that whole side: `band_part(x, -1, 0)` is the lower triangle. Both are at most the number of
/// rows and columns. Gradient: the same part of dy.
inline tensor band_part(const tensor& x, std::int64_t lower, std::int64_t upper) {
  const auto scalar = [](std::int64_t value) { return tensor(std::vector<std::int64_t>{value}, shape{}); };
  return call<"MatrixBandPart">(x, scalar(lower), scalar(upper));
}
/// The slices of x at the rows of indices. Indices [n, d] give n slices, each of the axes after the first d. An index
/// out of range throws. Gradient: dy added up at the rows.
inline tensor gather_nd(const tensor& x, const tensor& indices) { return call<"GatherNd">(x, indices); }
/// Zeros of a shape with the updates added at the rows of indices: the adjoint of `gather_nd`. Indices of rank 1 are
/// rows of one index. An index out of range throws. Gradient: the slices of dy at the rows.
inline tensor scatter_nd(const tensor& indices, const tensor& updates, const shape& dims) {
  return call<"ScatterNd">(indices, updates, attr<"shape">(dims));
}
/// Replaces the slices of x at the rows of indices by the updates; of equal rows the last one wins. Gradient: for x
/// that of the slices that stayed, for an update that of its slice, or 0 if a later one replaced it.
inline tensor tensor_scatter_update(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterUpdate">(x, indices, updates);
}
/// Adds the updates to the slices of x at the rows of indices. Rows are processed in order, so results are bitwise
/// identical for any number of threads. Floats, and int32 and int64, which wrap. An index out of range throws.
/// Gradient: dy for x, the slices of dy for the updates.
inline tensor scatter_add(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("add"));
}
/// Multiplies the slices of x at the rows of indices by the updates. The rest is as for `scatter_add`. Differentiable
/// to any order, with zeros among the factors too.
inline tensor scatter_mul(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("mul"));
}
/// The larger of slice and update at the rows of indices; NaN if one is NaN. The rest is as for `scatter_add`.
/// Gradient: x and the updates that equal the result share dy equally.
inline tensor scatter_max(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("max"));
}
/// The smaller of slice and update. The rest is as for `scatter_max`.
inline tensor scatter_min(const tensor& x, const tensor& indices, const tensor& updates) {
  return call<"TensorScatterReduce">(x, indices, updates, attr<"reduction">("min"));
}

/// The elements of x at indices along an axis, as NumPy's take_along_axis. x and indices, int32 or int64, have one
/// rank; their other axes broadcast. The result's axis has as many elements as indices. Negative indices count from the
/// back; one out of range throws. Any dtype. Gradient: dy added up at the indices.
inline tensor take_along_axis(const tensor& x, const tensor& indices, axis_index axis = -1) {
  return call<"TakeAlongAxis">(x, indices, attr<"axis">(axis.value()));
}
/// Replaces the elements of x that `take_along_axis` takes by the updates, which broadcast to their shape; of equal
/// indices the last one wins. Gradient: for x that of the elements that stayed, for an update that of its element, or 0
/// if a later one replaced it.
inline tensor put_along_axis(const tensor& x, const tensor& indices, const tensor& updates, axis_index axis = -1) {
  return call<"PutAlongAxis">(x, indices, updates, attr<"axis">(axis.value()));
}
/// How an update is combined with the current element.
enum class scatter_reduction : std::uint8_t { add, mul, max, min };
/// Combines the elements of x that `take_along_axis` takes with the updates, which broadcast to their shape, in
/// row-major order. Floats, int32 and int64. Gradients are those of `scatter_add`, `scatter_mul`, `scatter_max` and
/// `scatter_min`. Several updates of one element are combined one after another.
inline tensor scatter_along_axis(const tensor& x, const tensor& indices, const tensor& updates, scatter_reduction how,
                                 axis_index axis = -1) {
  constexpr std::string_view names[] = {"add", "mul", "max", "min"};
  return call<"ScatterAlongAxis">(x, indices, updates, attr<"axis">(axis.value()),
                                  attr<"reduction">(names[static_cast<std::size_t>(how)]));
}
/// A tensor of shape `dims` with `values` at `indices` and `otherwise` elsewhere. The indices are a number, a list, or
/// rows with an index for each axis. There is one value for each of them, or one for all. If an index occurs twice, the
/// last value wins.
inline tensor sparse_to_dense(const tensor& indices, const tensor& values, const shape& dims, double otherwise = 0) {
  return call<"SparseToDense">(
      indices, values, call<"Fill">(attr<"shape">(shape{}), attr<"value">(otherwise), attr<"dtype">(values.type())),
      attr<"outputShape">(dims));
}
/// The shape that two shapes, given as vectors of integers, broadcast to by NumPy's rules. Throws if they do not.
inline tensor broadcast_args(const tensor& a, const tensor& b) { return call<"BroadcastArgs">(a, b); }

/// The indices of the elements of x that are not 0, in row-major order: int32 [count, rank]. NaN is not 0. x has any
/// real dtype or bool and rank 1 or more. No gradient.
inline tensor nonzero(const tensor& x) { return call<"NonZero">(x); }
/// The slices of x where `mask` is not 0. The mask has the shape of the axes of x from `axis` on; in the result one
/// axis replaces them. Throws if the mask is a scalar or has another shape. Gradient: dy at the slices that were taken.
tensor boolean_mask(const tensor& x, const tensor& mask, axis_index axis = 0);

}  // namespace kerngrad
