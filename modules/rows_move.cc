// SPDX-License-Identifier: Apache-2.0
// Rows of the ops that move, create or draw elements.
module;
#include "kernels/abi.h"
export module kerngrad:rows_move;

import :std;
import :core;
import :op;
import :shapes;
import :shapes_move;
import :rows_binary;

export namespace kerngrad {

inline constexpr operand input_any[] = {{"input", any_dtype}};
inline constexpr operand value_any[] = {{"value", any_dtype}};
inline constexpr operand list_any[] = {{"tensors", any_dtype, role::value, false, true}};
inline constexpr operand x_indices[] = {{"x", any_dtype}, {"indices", only(dtype::int32), role::own}};
inline constexpr operand dy_indices[] = {{"dy", floating}, {"indices", only(dtype::int32), role::own}};
inline constexpr operand x_segments[] = {{"x", floating | only(dtype::int32) | only(dtype::int64)},
                                         {"segmentIds", only(dtype::int32), role::own}};
inline constexpr operand indices_only[] = {{"indices", only(dtype::int32), role::own}};

inline constexpr attr_spec shape_required[] = {{"shape", attr_kind::list, "sizes of the axes", true}};
inline constexpr attr_spec reshape_attrs[] = {{"shape", attr_kind::list, "sizes of the axes; one may be -1", true}};
inline constexpr attr_spec dim_attr[] = {{"dim", attr_kind::integer, "where the new axis goes", false, 0, {}, -8, 7}};
inline constexpr attr_spec perm_attr[] = {
    {"perm", attr_kind::list, "the old axis of each new one; reversed when left out"}};
inline constexpr attr_spec slice_attrs[] = {
    {"begin", attr_kind::list, "first index on each axis", true, 0, {}, 0, 1e18, true},
    {"size", attr_kind::list, "number of indices, -1 to the end", false, -1, {}, -1, 1e18, true}};
inline constexpr attr_spec axis_zero[] = {{"axis", attr_kind::integer, "axis", false, 0, {}, -8, 7}};
inline constexpr attr_spec split_attrs[] = {
    {"numOrSizeSplits", attr_kind::list, "number of equal parts, or their sizes", true, 0, {}, -1, 1e18, true},
    {"axis", attr_kind::integer, "axis", false, 0, {}, -8, 7}};
inline constexpr attr_spec pad_attrs[] = {{"paddings", attr_kind::list, "a pair (before, after) for each axis", true},
                                          {"constantValue", attr_kind::number, "value of the new elements"}};
inline constexpr attr_spec reps_attr[] = {{"reps", attr_kind::list, "how often each axis is repeated", true}};
inline constexpr attr_spec gather_attrs[] = {
    {"axis", attr_kind::integer, "axis of x that is indexed", false, 0, {}, -8, 7},
    {"batchDims", attr_kind::integer, "leading axes walked together", false, 0, {}, -8, 7}};
inline constexpr attr_spec gather_grad_attrs[] = {
    gather_attrs[0], gather_attrs[1], {"inputShape", attr_kind::list, "shape of x", true}};
inline constexpr attr_spec segments_attr[] = {
    {"numSegments", attr_kind::integer, "size of the result's first axis", true, 0, {}, 0, 1e9}};
inline constexpr attr_spec one_hot_attrs[] = {
    {"depth", attr_kind::integer, "number of classes", true, 0, {}, 0, 1e9},
    {"onValue", attr_kind::number, "value at the index", false, 1},
    {"offValue", attr_kind::number, "value elsewhere", false, 0},
    {"dtype", attr_kind::dtype, "dtype of the result", false, static_cast<double>(dtype::int32)}};
inline constexpr attr_spec dims_attr[] = {
    {"dims", attr_kind::list, "axes to turn round, all when left out", false, 0, {}, -8, 7, true}};
inline constexpr attr_spec fill_attrs[] = {{"shape", attr_kind::list, "sizes of the axes", true},
                                           {"value", attr_kind::number, "value of every element", true},
                                           {"dtype", attr_kind::dtype, "dtype of the result"}};
inline constexpr attr_spec range_attrs[] = {
    {"start", attr_kind::number, "first element", true},
    {"stop", attr_kind::number, "bound, left out", true},
    {"step", attr_kind::number, "distance; 1 counts down when stop < start", false, 1},
    {"dtype", attr_kind::dtype, "dtype of the result"}};
inline constexpr attr_spec linspace_attrs[] = {{"start", attr_kind::number, "first element", true},
                                               {"stop", attr_kind::number, "last element", true},
                                               {"num", attr_kind::integer, "number of elements", true, 0, {}, 1, 1e15},
                                               {"dtype", attr_kind::dtype, "dtype of the result"}};
inline constexpr attr_spec uniform_attrs[] = {
    {"shape", attr_kind::list, "sizes of the axes", true},
    {"low", attr_kind::number, "lower bound, included, at most high", false, 0},
    {"high", attr_kind::number, "upper bound, left out unless it is low", false, 1},
    {"seed", attr_kind::integer, "chooses the stream", false, 0},
    {"dtype", attr_kind::dtype, "dtype of the result"}};
inline constexpr attr_spec normal_attrs[] = {{"shape", attr_kind::list, "sizes of the axes", true},
                                             {"mean", attr_kind::number, "mean", false, 0},
                                             {"stddev",
                                              attr_kind::number,
                                              "standard deviation, not negative",
                                              false,
                                              1,
                                              {},
                                              0,
                                              std::numeric_limits<double>::max()},
                                             {"seed", attr_kind::integer, "chooses the stream", false, 0},
                                             {"dtype", attr_kind::dtype, "dtype of the result"}};

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
consteval op_row create_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs,
                            infer_fn infer, convention how, family group = family::create) {
  return {.name = name,
          .doc = doc,
          .group = group,
          .operands = {},
          .attrs = attrs,
          .types = {lift::none, result::attribute},
          .infer = infer,
          .convention = how,
          .no_gradient = "there is no operand",
          .cost = 0};
}
inline constexpr op_row move_rows[] = {
    move_row("Identity", "The same values.", x_any, {}, shapes::same, convention::copy),
    move_row("Reshape", "The same elements in the same order under another shape.", x_any, reshape_attrs,
             shapes::reshape, convention::copy),
    move_row("ExpandDims", "A new axis of size 1.", input_any, dim_attr, shapes::expand_dims, convention::copy),
    move_row("Transpose", "The axes in another order.", x_any, perm_attr, shapes::transpose, convention::transpose),
    move_row("Slice", "A box out of a tensor.", x_any, slice_attrs, shapes::slice, convention::slice),
    move_row("Concat", "Tensors joined along an axis.", list_any, axis_zero, shapes::concat, convention::concat),
    move_row("Pack", "Tensors of one shape joined along a new axis.", list_any, axis_zero, shapes::pack,
             convention::concat),
    move_row("Unpack", "The parts along an axis, without it.", value_any, axis_zero, shapes::unpack,
             convention::unpack),
    move_row("SplitV", "Consecutive parts along an axis.", x_any, split_attrs, shapes::split, convention::split),
    move_row("PadV2", "A constant border.", x_any, pad_attrs, shapes::pad, convention::pad),
    move_row("Tile", "A tensor repeated along its axes.", x_any, reps_attr, shapes::tile, convention::tile),
    move_row("BroadcastTo", "A tensor repeated to a shape that it broadcasts to.", x_any, shape_required,
             shapes::broadcast_to, convention::broadcast_to),
    move_row("GatherV2", "The slices of x at the indices; an index outside is refused.", x_indices, gather_attrs,
             shapes::gather, convention::gather),
    move_row("GatherGrad", "The gradient of GatherV2: dy added up at the indices.", dy_indices, gather_grad_attrs,
             shapes::gather_grad, convention::gather_grad),
    move_row("UnsortedSegmentSum", "Rows added up by segment; ids outside are dropped.", x_segments, segments_attr,
             shapes::segment_sum, convention::segment_sum),
    of_attribute_dtype(
        without_gradient(move_row("OneHot", "onValue at the index on a new last axis, offValue elsewhere.",
                                  indices_only, one_hot_attrs, shapes::one_hot, convention::one_hot),
                         "indices have no gradient")),
    move_row("Reverse", "Axes turned round.", x_any, dims_attr, shapes::reverse, convention::reverse),
};

inline constexpr op_row create_rows[] = {
    create_row("Fill", "One value everywhere.", fill_attrs, shapes::fill, convention::fill),
    move_row("ZerosLike", "Zeros with the shape and dtype of x. Gradient: 0.", x_any, {}, shapes::same,
             convention::zeros_like),
    move_row("OnesLike", "Ones with the shape and dtype of x. Gradient: 0.", x_any, {}, shapes::same,
             convention::ones_like),
    create_row("Range", "start, start + step, ... before stop; element i is start + i * step, rounded once.",
               range_attrs, shapes::range, convention::range),
    create_row("LinSpace", "Evenly spaced numbers, both ends included.", linspace_attrs, shapes::linspace,
               convention::linspace),
    create_row("RandomUniform", "Uniform draws by Philox 4x32-10: element i depends on seed and i alone.",
               uniform_attrs, shapes::random_uniform, convention::random, family::random),
    create_row("RandomNormal", "Normal draws by Philox 4x32-10 and Box-Muller: element i depends on seed and i alone.",
               normal_attrs, shapes::random_normal, convention::random, family::random),
};

}  // namespace kerngrad
