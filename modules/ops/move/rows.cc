// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that move elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_move;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes_boxes;
import :shapes_indices;
import :shapes_move;
import :rows;

namespace kerngrad::launch {
void broadcast_to(const launch_call&);
void concat(const launch_call&);
void gather(const launch_call&);
void gather_grad(const launch_call&);
void one_hot(const launch_call&);
void pad(const launch_call&);
void reverse(const launch_call&);
void segment_sum(const launch_call&);
void slice(const launch_call&);
void tile(const launch_call&);
void transpose(const launch_call&);
void strided_slice(const launch_call&);
void strided_slice_grad(const launch_call&);
void mirror_pad(const launch_call&);
void repeat_pad(const launch_call&);
void space_to_batch(const launch_call&);
void batch_to_space(const launch_call&);
void depth_to_space(const launch_call&);
void diag(const launch_call&);
void band_part(const launch_call&);
void gather_nd(const launch_call&);
void scatter_nd(const launch_call&);
void tensor_scatter_update(const launch_call&);
void tensor_scatter_reduce(const launch_call&);
void segment_reduce(const launch_call&);
void take_along_axis(const launch_call&);
void put_along_axis(const launch_call&);
void scatter_along_axis(const launch_call&);
void sparse_to_dense(const launch_call&);
void broadcast_args(const launch_call&);
void nonzero(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand input_any[] = {{"input", any_element}};
inline constexpr operand value_any[] = {{"value", any_element}};
inline constexpr operand dy_any[] = {{"dy", any_dtype}};
inline constexpr operand list_any[] = {{.name = "tensors", .types = any_element, .list = true}};
inline constexpr dtype_set index_dtypes = only(dtype::int32) | only(dtype::int64);
inline constexpr operand x_indices[] = {{"x", any_element}, {"indices", index_dtypes, role::own}};
inline constexpr operand dy_indices[] = {{"dy", floating}, {"indices", index_dtypes, role::own}};
inline constexpr operand x_segments[] = {{"x", floating | only(dtype::int32) | only(dtype::int64)},
                                         {"segmentIds", index_dtypes, role::own}};
inline constexpr operand params_indices[] = {{"params", any_element}, {"indices", index_dtypes, role::own}};
inline constexpr operand indices_updates[] = {{"indices", index_dtypes, role::own},
                                              {"updates", floating | only(dtype::int32) | only(dtype::int64)}};
inline constexpr operand tensor_indices_updates[] = {
    {"tensor", any_element}, {"indices", index_dtypes, role::own}, {"updates", any_element}};
inline constexpr dtype_set combined_types = floating | only(dtype::int32) | only(dtype::int64);
inline constexpr operand tensor_indices_combined[] = {
    {"tensor", combined_types}, {"indices", index_dtypes, role::own}, {"updates", combined_types}};
inline constexpr operand x_indices_updates[] = {
    {"x", any_element}, {"indices", index_dtypes, role::own}, {"updates", any_element}};
inline constexpr operand x_indices_combined[] = {
    {"x", combined_types}, {"indices", index_dtypes, role::own}, {"updates", combined_types}};
inline constexpr operand sparse_values[] = {
    {"sparseIndices", index_dtypes, role::own}, {"sparseValues", any_element}, {"defaultValue", any_element}};
inline constexpr operand two_shapes[] = {{"s0", index_dtypes}, {"s1", index_dtypes}};
inline constexpr operand matrices_band[] = {
    {"input", any_element}, {"numLower", index_dtypes, role::own}, {"numUpper", index_dtypes, role::own}};
inline constexpr operand indices_only[] = {{"indices", index_dtypes, role::own}};

consteval op_row move_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                          std::span<const attr_spec> attrs, infer_fn infer, convention how) {
  return {.name = name,
          .doc = doc,
          .group = family::move,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .convention = how,
          .cost = 0};
}
/// A row of an op whose launcher belongs to the family.
consteval op_row move_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                          std::span<const attr_spec> attrs, infer_fn infer, launch_fn launch) {
  op_row row = move_row(name, doc, operands, attrs, infer, convention::custom);
  row.launch = launch;
  return row;
}
consteval op_row of_attribute_dtype(op_row row) {
  row.types = {lift::none, result::attribute};
  return row;
}
consteval op_row of_found_indices(op_row row) {
  row.types = {lift::none, result::int32};
  row.bounded = true;
  return row;
}

inline constexpr op_row move_rows[] = {
    move_row("Identity", "The same values.", x_element, {}, shapes::same, convention::copy),
    move_row("Reshape", "The same elements in the same order under another shape.", x_element, attributes::reshape,
             shapes::reshape, convention::copy),
    move_row("ExpandDims", "A new axis of size 1.", input_any, attributes::expand_dims, shapes::expand_dims,
             convention::copy),
    move_row("Transpose", "The axes in another order.", x_element, attributes::transpose, shapes::transpose,
             launch::transpose),
    move_row("Slice", "A box out of a tensor.", x_element, attributes::slice, shapes::slice, launch::slice),
    move_row("Concat", "Tensors joined along an axis.", list_any, attributes::join, shapes::concat, launch::concat),
    move_row("Pack", "Tensors of one shape joined along a new axis.", list_any, attributes::join, shapes::pack,
             launch::concat),
    move_row("Unpack", "The parts along an axis, without it.", value_any, attributes::join, shapes::unpack,
             convention::unpack),
    move_row("SplitV", "Consecutive parts along an axis.", x_element, attributes::split, shapes::split,
             convention::split),
    move_row("PadV2", "A constant border.", x_element, attributes::pad, shapes::pad, launch::pad),
    move_row("Tile", "A tensor repeated along its axes.", x_element, attributes::tile, shapes::tile, launch::tile),
    move_row("BroadcastTo", "A tensor repeated to a shape that it broadcasts to.", x_element,
             attributes::shape_of_result, shapes::broadcast_to, launch::broadcast_to),
    move_row("GatherV2", "The slices of x at the indices; an index outside throws.", x_indices, attributes::gather,
             shapes::gather, launch::gather),
    move_row("GatherGrad", "The gradient of GatherV2: dy added up at the indices.", dy_indices, attributes::gather_grad,
             shapes::gather_grad, launch::gather_grad) |
        with{.forward = "GatherV2", .cost = 1},
    move_row("UnsortedSegmentSum", "Rows added up by segment; ids outside are dropped.", x_segments,
             attributes::segments, shapes::segment_sum, launch::segment_sum) |
        with{.cost = 1},
    of_attribute_dtype(
        without_gradient(move_row("OneHot", "onValue at the index on a new last axis, offValue elsewhere.",
                                  indices_only, attributes::one_hot, shapes::one_hot, launch::one_hot),
                         "indices have no gradient")),
    move_row("Reverse", "Reverses axes.", x_element, attributes::reverse, shapes::reverse, launch::reverse),
    move_row("StridedSlice", "Every n-th index of each axis, forwards or backwards; axes may go and new ones come.",
             x_element, attributes::strided_slice, shapes::strided_slice, launch::strided_slice),
    move_row("StridedSliceGrad", "The gradient of StridedSlice: dy at the elements taken, 0 elsewhere.", dy_any,
             attributes::strided_slice_grad, shapes::strided_slice_grad, launch::strided_slice_grad) |
        with{.forward = "StridedSlice"},
    move_row("MirrorPad", "A border that mirrors the elements, with or without the outermost ones.", x_element,
             attributes::mirror_pad, shapes::mirror_pad, launch::mirror_pad),
    move_row("RepeatPad",
             "A border that repeats the outermost elements, or the axis as often as it takes; of any width.", x_element,
             attributes::repeat_pad, shapes::repeat_pad, launch::repeat_pad),
    move_row("SpaceToBatchND",
             "Blocks of the zero-padded axes after the first one; each position in a block is more batch.", x_element,
             attributes::space_to_batch, shapes::space_to_batch, launch::space_to_batch),
    move_row("BatchToSpaceND",
             "The inverse of SpaceToBatchND: parts of the batch are positions in blocks, and are cropped.", x_element,
             attributes::batch_to_space, shapes::batch_to_space, launch::batch_to_space),
    move_row("DepthToSpace", "Channels moved into blocks of height and width.", x_element, attributes::depth_to_space,
             shapes::depth_to_space, launch::depth_to_space),
    move_row("Diag", "The elements on the diagonal of a tensor of twice the axes, 0 elsewhere.", x_element, {},
             shapes::diag, launch::diag),
    move_row("MatrixBandPart",
             "Matrices, the last two axes, with 0 more than numLower below the diagonal or numUpper above it; negative "
             "numbers keep all.",
             matrices_band, {}, shapes::band_part, launch::band_part),
    move_row("GatherNd", "The slices of params that the rows of indices name; an index outside throws.", params_indices,
             {}, shapes::gather_nd, launch::gather_nd),
    move_row("ScatterNd", "Zeros of a shape with the updates added at the rows of indices; an index outside throws.",
             indices_updates, attributes::scatter_nd, shapes::scatter_nd, launch::scatter_nd),
    move_row(
        "TensorScatterUpdate",
        "A tensor with the updates at the rows of indices in place of its slices; of equal rows the last one stays.",
        tensor_indices_updates, {}, shapes::tensor_scatter_update, launch::tensor_scatter_update),
    move_row("TensorScatterReduce",
             "A tensor whose slices at the rows of indices are combined with the updates, one after the other; an "
             "extreme is NaN where one is NaN. Gradient: the element and the updates that equal an extreme share its "
             "gradient equally.",
             tensor_indices_combined, attributes::scatter_reduce, shapes::tensor_scatter_reduce,
             launch::tensor_scatter_reduce) |
        with{.cost = 1},
    move_row(
        "UnsortedSegmentReduce",
        "Mean, product, greatest or least elements of the rows of a segment; ids outside are dropped. The result "
        "for no rows is 0, 1, and a value beyond every element: infinite, or the least or greatest integer. Means "
        "of integers are rounded towards 0. Gradient: the elements that equal an extreme share its gradient equally.",
        x_segments, attributes::segment_reduce, shapes::segment_sum, launch::segment_reduce) |
        with{.cost = 1},
    move_row(
        "TakeAlongAxis",
        "The elements of x at the indices along an axis; the other axes broadcast. Negative indices count from the "
        "back, one outside throws.",
        x_indices, attributes::indexed_axis, shapes::take_along_axis, launch::take_along_axis),
    move_row("PutAlongAxis",
             "x with the updates, which broadcast, in place of the elements that TakeAlongAxis takes; of equal indices "
             "the last one stays.",
             x_indices_updates, attributes::indexed_axis, shapes::put_along_axis, launch::put_along_axis),
    move_row("ScatterAlongAxis",
             "x whose elements that TakeAlongAxis takes are combined with the updates, which broadcast, one after the "
             "other, as by TensorScatterReduce.",
             x_indices_combined, attributes::scatter_along_axis, shapes::put_along_axis, launch::scatter_along_axis) |
        with{.cost = 1},
    move_row("SparseToDense",
             "defaultValue of a shape with the values at the indices; of equal indices the last one stays.",
             sparse_values, attributes::sparse_to_dense, shapes::sparse_to_dense, launch::sparse_to_dense),
    without_gradient(move_row("BroadcastArgs", "The shape that two shapes broadcast to.", two_shapes, {},
                              shapes::broadcast_args, launch::broadcast_args),
                     "shapes have no gradient"),
    of_found_indices(without_gradient(
        move_row("NonZero",
                 "The indices of each element that is not 0, a row of them for each, in order; NaN is not 0.", x_real,
                 {}, shapes::nonzero, launch::nonzero),
        "indices have no gradient")),
};

}  // namespace kerngrad::rows
