// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that move elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_move;

import :std;
import :core;
import :op;
import :attributes;
import :shapes_move;
import :rows;

namespace kerngrad::rows {

inline constexpr operand input_any[] = {{"input", any_dtype}};
inline constexpr operand value_any[] = {{"value", any_dtype}};
inline constexpr operand list_any[] = {{.name = "tensors", .types = any_dtype, .list = true}};
inline constexpr dtype_set index_dtypes = only(dtype::int32) | only(dtype::int64);
inline constexpr operand x_indices[] = {{"x", any_dtype}, {"indices", index_dtypes, role::own}};
inline constexpr operand dy_indices[] = {{"dy", floating}, {"indices", index_dtypes, role::own}};
inline constexpr operand x_segments[] = {{"x", floating | only(dtype::int32) | only(dtype::int64)},
                                         {"segmentIds", index_dtypes, role::own}};
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
consteval op_row of_attribute_dtype(op_row row) {
  row.types = {lift::none, result::attribute};
  return row;
}

inline constexpr op_row move_rows[] = {
    move_row("Identity", "The same values.", x_any, {}, shapes::same, convention::copy),
    move_row("Reshape", "The same elements in the same order under another shape.", x_any, attributes::reshape,
             shapes::reshape, convention::copy),
    move_row("ExpandDims", "A new axis of size 1.", input_any, attributes::expand_dims, shapes::expand_dims,
             convention::copy),
    move_row("Transpose", "The axes in another order.", x_any, attributes::transpose, shapes::transpose,
             convention::transpose),
    move_row("Slice", "A box out of a tensor.", x_any, attributes::slice, shapes::slice, convention::slice),
    move_row("Concat", "Tensors joined along an axis.", list_any, attributes::join, shapes::concat, convention::concat),
    move_row("Pack", "Tensors of one shape joined along a new axis.", list_any, attributes::join, shapes::pack,
             convention::concat),
    move_row("Unpack", "The parts along an axis, without it.", value_any, attributes::join, shapes::unpack,
             convention::unpack),
    move_row("SplitV", "Consecutive parts along an axis.", x_any, attributes::split, shapes::split, convention::split),
    move_row("PadV2", "A constant border.", x_any, attributes::pad, shapes::pad, convention::pad),
    move_row("Tile", "A tensor repeated along its axes.", x_any, attributes::tile, shapes::tile, convention::tile),
    move_row("BroadcastTo", "A tensor repeated to a shape that it broadcasts to.", x_any, attributes::shape_of_result,
             shapes::broadcast_to, convention::broadcast_to),
    move_row("GatherV2", "The slices of x at the indices; an index outside is refused.", x_indices, attributes::gather,
             shapes::gather, convention::gather),
    move_row("GatherGrad", "The gradient of GatherV2: dy added up at the indices.", dy_indices, attributes::gather_grad,
             shapes::gather_grad, convention::gather_grad),
    move_row("UnsortedSegmentSum", "Rows added up by segment; ids outside are dropped.", x_segments,
             attributes::segments, shapes::segment_sum, convention::segment_sum),
    of_attribute_dtype(
        without_gradient(move_row("OneHot", "onValue at the index on a new last axis, offValue elsewhere.",
                                  indices_only, attributes::one_hot, shapes::one_hot, convention::one_hot),
                         "indices have no gradient")),
    move_row("Reverse", "Reverses axes.", x_any, attributes::reverse, shapes::reverse, convention::reverse),
};

}  // namespace kerngrad::rows
