// SPDX-License-Identifier: Apache-2.0
// Rows of the convolutions and poolings. Images are NHWC (or NCHW by transposition for convolutions), filters HWIO.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_window;

import :std;
import :core;
import :op;
import :attributes;
import :shapes_window;

namespace kerngrad::rows {

inline constexpr operand x_filter[] = {{"x", floating}, {"filter", floating}};
inline constexpr operand dy_filter[] = {{"dy", floating}, {"filter", floating}};
inline constexpr operand x_dy[] = {{"x", floating}, {"dy", floating}};
inline constexpr operand x_image[] = {{"x", floating}};
inline constexpr operand x_image_or_int32[] = {{"x", floating | only(dtype::int32)}};
inline constexpr operand dy_input[] = {{"dy", floating}, {"input", floating}};
inline constexpr operand dy_input_output[] = {{"dy", floating}, {"input", floating}, {"output", floating}};
inline constexpr operand source_input[] = {{"source", floating}, {"input", floating}};

consteval op_row conv_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                          std::span<const attr_spec> attrs, infer_fn infer, convention how) {
  return {.name = name,
          .doc = doc,
          .group = family::window,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .convention = how,
          .cost = 18};
}
consteval op_row pool_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                          infer_fn infer, convention how) {
  return {.name = name,
          .doc = doc,
          .group = family::window,
          .operands = operands,
          .attrs = attributes::pool,
          .infer = infer,
          .convention = how,
          .cost = 4};
}

/// Each channel with filters of its own.
consteval op_row depthwise(op_row row) {
  row.depthwise = true;
  return row;
}

inline constexpr op_row window_rows[] = {
    conv_row("Conv2D", "Two-dimensional cross-correlation of an image with a filter.", x_filter, attributes::conv,
             shapes::conv, convention::conv),
    conv_row("Conv2DBackpropInput", "The gradient of Conv2D for the image; also the transposed convolution.", dy_filter,
             attributes::conv_input, shapes::conv_backprop_input, convention::conv_backprop_input),
    conv_row("Conv2DBackpropFilter", "The gradient of Conv2D for the filter.", x_dy, attributes::conv_filter,
             shapes::conv_backprop_filter, convention::conv_backprop_filter),
    depthwise(conv_row("DepthwiseConv2dNative", "Each channel with filters of its own.", x_filter, attributes::conv,
                       shapes::conv, convention::conv)),
    depthwise(conv_row("DepthwiseConv2dNativeBackpropInput", "The gradient of DepthwiseConv2dNative for the image.",
                       dy_filter, attributes::conv_input, shapes::conv_backprop_input,
                       convention::conv_backprop_input)),
    depthwise(conv_row("DepthwiseConv2dNativeBackpropFilter", "The gradient of DepthwiseConv2dNative for the filter.",
                       x_dy, attributes::conv_filter, shapes::conv_backprop_filter, convention::conv_backprop_filter)),
    pool_row("MaxPool",
             "The largest element of each window, NaN ignored; -infinity (the least int32) when there is none. "
             "Gradient: dy to the first "
             "largest.",
             x_image_or_int32, shapes::pool, convention::pool),
    pool_row("AvgPool", "The mean of each window's elements inside the image; NaN when there is none.", x_image,
             shapes::pool, convention::pool),
    pool_row("MaxPoolGrad", "The gradient of MaxPool: dy to the first largest element of each window.", dy_input_output,
             shapes::pool_grad, convention::pool_grad),
    pool_row("AvgPoolGrad", "The gradient of AvgPool: dy over the number of elements inside the image.", dy_input,
             shapes::pool_grad, convention::pool_grad),
    pool_row("MaxPoolGather",
             "For each window the value of source where input is first largest: the adjoint of MaxPoolGrad.",
             source_input, shapes::pool_gather, convention::pool_gather),
};

}  // namespace kerngrad::rows
