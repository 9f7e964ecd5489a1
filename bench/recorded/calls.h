// SPDX-License-Identifier: Apache-2.0
// The calls of each op: the benchmarks measure their time, bench/recorded/op_memory.cc their memory.
// To be included after `import kerngrad; import kerngrad.testkit;`.
#pragma once
#include <algorithm>
#include <string_view>

#include "bench/geometry.h"

namespace kgbench {

/// The calls of all ops with one calling convention.
struct measured_convention {
  kg::convention how;
  geometry_fn make;  // null: what runs is no kernel, the engine shares the operand's elements
};
inline constexpr measured_convention conventions[] = {
    {kg::convention::unary, flat},
    {kg::convention::binary, flat},
    {kg::convention::select, flat},
    {kg::convention::convert, flat},
    {kg::convention::zeros_like, filled_like},
    {kg::convention::ones_like, filled_like},
    {kg::convention::add_n, flat_list},
    {kg::convention::cast, cast},
    {kg::convention::reduce, reduction},
    {kg::convention::along_axis, rows},
    {kg::convention::cross_entropy, rows},
    {kg::convention::scan, scanned},
    {kg::convention::matmul, product},
    {kg::convention::fused_matmul, product},
    {kg::convention::conv, convolution},
    {kg::convention::fused_conv, convolution},
    {kg::convention::conv_backprop_input, convolution},
    {kg::convention::conv_backprop_filter, convolution},
    {kg::convention::pool, pooling},
    {kg::convention::pool_grad, pooling},
    {kg::convention::pool_gather, pooling},
    {kg::convention::resize, resized},
    {kg::convention::resize_grad, resized},
    {kg::convention::crop, cropped},
    {kg::convention::crop_grad, cropped},
    {kg::convention::transform, transformed},
    {kg::convention::transform_grad, transformed},
    {kg::convention::copy, nullptr},
    {kg::convention::transpose, transposed},
    {kg::convention::slice, sliced},
    {kg::convention::concat, joined},
    {kg::convention::unpack, unpacked},
    {kg::convention::split, halved},
    {kg::convention::pad, padded},
    {kg::convention::tile, tiled},
    {kg::convention::broadcast_to, broadcast},
    {kg::convention::gather, gathered},
    {kg::convention::gather_grad, gathered_back},
    {kg::convention::segment_sum, segments},
    {kg::convention::one_hot, one_hot},
    {kg::convention::reverse, reversed},
    {kg::convention::fill, filled},
    {kg::convention::range, ranged},
    {kg::convention::linspace, spaced},
    {kg::convention::random, drawn},
    {kg::convention::batch_norm, batch_normalized},
    {kg::convention::layer_norm, layer_normalized},
    {kg::convention::response_norm, response_normalized},
};

/// The calls of an op that has a launcher of its own.
struct measured_op {
  std::string_view op;
  geometry_fn make;
};
inline constexpr measured_op own_launchers[] = {
    {"StridedSlice", strided},
    {"StridedSliceGrad", strided_back},
    {"MirrorPad", mirrored},
    {"RepeatPad", repeated},
    {"SpaceToBatchND", to_batch},
    {"BatchToSpaceND", from_batch},
    {"DepthToSpace", from_depth},
    {"Diag", diagonal},
    {"MatrixBandPart", band},
    {"GatherNd", gathered_rows},
    {"ScatterNd", scattered_rows},
    {"TensorScatterUpdate", updated_rows},
    {"TensorScatterReduce", added_rows},
    {"UnsortedSegmentReduce", greatest_of_segments},
    {"TakeAlongAxis", taken_along_axes},
    {"PutAlongAxis", put_along_axes},
    {"ScatterAlongAxis", put_along_axes},
    {"SparseToDense", densified},
    {"BroadcastArgs", two_shapes},
    {"Sort", sorted},
    {"ArgSort", sorted},
    {"TopK", largest},
    {"SearchSorted", searched},
    {"LowerBound", searched},
    {"UpperBound", searched},
    {"NonZero", found_places},
    {"Multinomial", drawn_outcomes},
    {"FFT", transformed_rows},
    {"IFFT", transformed_rows},
    {"RFFT", transformed_rows},
    {"IRFFT", transformed_rows},
    {"MaxPoolWithArgmax", pooling},
    {"Dilation2D", dilated},
    {"Dilation2DBackpropInput", dilated},
    {"Dilation2DBackpropFilter", dilated},
    {"Dilation2DGatherInput", dilated},
    {"Dilation2DGatherFilter", dilated_of_filters},
    {"Conv3D", volume_convolution},
    {"Conv3DBackpropInputV2", volume_convolution},
    {"Conv3DBackpropFilterV2", volume_convolution},
    {"MaxPool3D", volume_pooling},
    {"AvgPool3D", volume_pooling},
    {"MaxPool3DGrad", volume_pooling},
    {"AvgPool3DGrad", volume_pooling},
    {"MaxPool3DGather", volume_pooling},
    {"SparseFillEmptyRows", rows_filled},
    {"SparseReshape", indices_reshaped},
    {"SparseSegmentSum", sparse_segments},
    {"SparseSegmentMean", sparse_segments},
    {"EmbeddingBag", embedding_bags},
    {"RaggedRange", ranges_of_rows},
    {"RaggedGather", ragged_rows},
    {"RaggedTensorToTensor", ragged_padded},
    {"RotateWithOffset", turned},
    {"ScaledDotProductAttention", attention},
    {"ScaledDotProductAttentionGrad", attention},
    {"RotateWithOffsetGrad", turned},
    {"NonMaxSuppressionV3", scattered_boxes},
    {"NonMaxSuppressionV4", scattered_boxes},
    {"NonMaxSuppressionV5", scattered_boxes},
    {"Einsum", contraction},
    {"Bincount", counted},
    {"DenseBincount", counted},
    {"Unique", distinct},
    {"Betainc", incomplete_betas},
    {"StringSplit", split_texts},
    {"StringNGrams", joined_texts},
    {"StringToHashBucketFast", hashed_texts},
};

/// The calls of an op, if one of the two tables has them.
struct measured_calls {
  bool known = false;
  geometry_fn make = nullptr;
};
constexpr measured_calls calls_of(const kg::op_row& row) {
  for (const measured_op& o : own_launchers)
    if (o.op == row.name) return {true, o.make};
  for (const measured_convention& c : conventions)
    if (c.how == row.convention) return {true, c.make};
  return {};
}

static_assert(std::all_of(kg::op_table.begin(), kg::op_table.end(),
                          [](const kg::op_row& row) { return calls_of(row).known; }),
              "[bench] an op whose calling convention `conventions` does not know, or with a launcher of its own that "
              "`own_launchers` does not know: say there what to measure it with");

}  // namespace kgbench
