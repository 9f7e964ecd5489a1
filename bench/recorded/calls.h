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
    {kg::convention::copy, nullptr},
    {kg::convention::unpack, unpacked},
    {kg::convention::split, halved},
    {kg::convention::random, drawn},
};

/// The calls of an op that has a launcher of its own.
struct measured_op {
  std::string_view op;
  geometry_fn make;
};
inline constexpr measured_op own_launchers[] = {
    {"Softmax", rows},
    {"LogSoftmax", rows},
    {"LogSumExp", rows},
    {"SoftmaxCrossEntropy", rows},
    {"Cumsum", scanned},
    {"Cumprod", scanned},
    {"CumMax", scanned},
    {"CumMin", scanned},
    {"BatchMatMul", product},
    {"_FusedMatMul", product},
    {"Conv2D", convolution},
    {"DepthwiseConv2dNative", convolution},
    {"FusedConv2D", convolution},
    {"FusedDepthwiseConv2D", convolution},
    {"Conv2DBackpropInput", convolution},
    {"DepthwiseConv2dNativeBackpropInput", convolution},
    {"Conv2DBackpropFilter", convolution},
    {"DepthwiseConv2dNativeBackpropFilter", convolution},
    {"MaxPool", pooling},
    {"AvgPool", pooling},
    {"MaxPoolGrad", pooling},
    {"AvgPoolGrad", pooling},
    {"MaxPoolGather", pooling},
    {"ResizeBilinear", resized},
    {"ResizeNearestNeighbor", resized},
    {"ResizeBilinearGrad", resized},
    {"ResizeNearestNeighborGrad", resized},
    {"CropAndResize", cropped},
    {"CropAndResizeGrad", cropped},
    {"Transform", transformed},
    {"TransformGrad", transformed},
    {"Transpose", transposed},
    {"Slice", sliced},
    {"Concat", joined},
    {"Pack", joined},
    {"PadV2", padded},
    {"Tile", tiled},
    {"BroadcastTo", broadcast},
    {"GatherV2", gathered},
    {"GatherGrad", gathered_back},
    {"UnsortedSegmentSum", segments},
    {"OneHot", one_hot},
    {"Reverse", reversed},
    {"FlipLeftRight", reversed},
    {"Fill", filled},
    {"Range", ranged},
    {"LinSpace", spaced},
    {"FusedBatchNorm", batch_normalized},
    {"LayerNorm", layer_normalized},
    {"LRN", response_normalized},
    {"LRNGrad", response_normalized},
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
