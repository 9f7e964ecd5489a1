// SPDX-License-Identifier: Apache-2.0
// Rows of the convolutions, poolings and dilations. Images are NHWC (or NCHW by transposition for convolutions),
// filters HWIO.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_window;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :rows;
import :shapes_window;

namespace kerngrad::launch {
void conv(const launch_call&);
void conv_backprop_filter(const launch_call&);
void conv_backprop_input(const launch_call&);
void pool(const launch_call&);
void pool_gather(const launch_call&);
void pool_grad(const launch_call&);
void pool_argmax(const launch_call&);
void dilation(const launch_call&);
void dilation_of_images(const launch_call&);
void dilation_backprop_filter(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand x_filter[] = {{"x", floating}, {"filter", floating}};
inline constexpr operand dy_filter[] = {{"dy", floating}, {"filter", floating}};
inline constexpr operand x_dy[] = {{"x", floating}, {"dy", floating}};
inline constexpr operand x_image[] = {{"x", floating}};
inline constexpr operand x_image_or_int32[] = {{"x", floating | only(dtype::int32)}};
inline constexpr operand dy_input[] = {{"dy", floating}, {"input", floating}};
inline constexpr operand dy_input_output[] = {{"dy", floating}, {"input", floating}, {"output", floating}};
inline constexpr operand source_input[] = {{"source", floating}, {"input", floating}};
inline constexpr operand x_filter_or_int32[] = {{"x", floating | only(dtype::int32)},
                                                {"filter", floating | only(dtype::int32)}};
inline constexpr operand x_filter_dy[] = {{"x", floating}, {"filter", floating}, {"dy", floating}};
inline constexpr operand source_x_filter[] = {{"source", floating}, {"x", floating}, {"filter", floating}};
inline constexpr result_spec maxima_positions[] = {
    {"result", "the largest element of each window"},
    {"indexes", "where it was first met, counted through the image; -1 where nothing was", result::int32}};

consteval op_row conv_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                          std::span<const attr_spec> attrs, infer_fn infer, launch_fn launch) {
  return {.name = name,
          .doc = doc,
          .group = family::window,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .launch = launch,
          .cost = 18};
}
consteval op_row pool_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                          infer_fn infer, launch_fn launch) {
  return {.name = name,
          .doc = doc,
          .group = family::window,
          .operands = operands,
          .attrs = attributes::pool,
          .infer = infer,
          .launch = launch,
          .cost = 4};
}

consteval op_row dilation_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                              infer_fn infer, launch_fn launch) {
  return {.name = name,
          .doc = doc,
          .group = family::window,
          .operands = operands,
          .attrs = attributes::dilation,
          .infer = infer,
          .launch = launch,
          .kinks = kink::ties,
          .cost = 18};
}

/// The row of a convolution that filters each channel on its own.
consteval op_row depthwise(op_row row) {
  row.depthwise = true;
  return row;
}

inline constexpr op_row window_rows[] = {
    conv_row(
        "Conv2D",
        "Two-dimensional cross-correlation of an image with a filter, or of groups of its channels where the filter "
        "has a part of them.",
        x_filter, attributes::conv, shapes::conv, launch::conv),
    conv_row("Conv2DBackpropInput", "The gradient of Conv2D for the image; also the transposed convolution.", dy_filter,
             attributes::conv_input, shapes::conv_backprop_input, launch::conv_backprop_input) |
        with{.forward = "Conv2D"},
    conv_row("Conv2DBackpropFilter", "The gradient of Conv2D for the filter.", x_dy, attributes::conv_filter,
             shapes::conv_backprop_filter, launch::conv_backprop_filter) |
        with{.forward = "Conv2D"},
    depthwise(conv_row("DepthwiseConv2dNative", "Each channel with filters of its own.", x_filter, attributes::conv,
                       shapes::conv, launch::conv)),
    depthwise(conv_row("DepthwiseConv2dNativeBackpropInput", "The gradient of DepthwiseConv2dNative for the image.",
                       dy_filter, attributes::conv_input, shapes::conv_backprop_input, launch::conv_backprop_input)) |
        with{.forward = "DepthwiseConv2dNative"},
    depthwise(conv_row("DepthwiseConv2dNativeBackpropFilter", "The gradient of DepthwiseConv2dNative for the filter.",
                       x_dy, attributes::conv_filter, shapes::conv_backprop_filter, launch::conv_backprop_filter)) |
        with{.forward = "DepthwiseConv2dNative"},
    pool_row("MaxPool",
             "The largest element of each window, NaN ignored; -infinity (the least int32) when there is none. "
             "Gradient: dy to the first "
             "largest.",
             x_image_or_int32, shapes::pool, launch::pool) |
        with{.kinks = kink::ties},
    pool_row("AvgPool", "The mean of each window's elements inside the image; NaN when there is none.", x_image,
             shapes::pool, launch::pool),
    pool_row("MaxPoolGrad", "The gradient of MaxPool: dy to the first largest element of each window.", dy_input_output,
             shapes::pool_grad, launch::pool_grad) |
        with{.forward = "MaxPool", .kinks = kink::ties},
    pool_row("AvgPoolGrad", "The gradient of AvgPool: dy over the number of elements inside the image.", dy_input,
             shapes::pool_grad, launch::pool_grad) |
        with{.forward = "AvgPool"},
    pool_row("MaxPoolGather",
             "For each window the value of source where input is first largest: the adjoint of MaxPoolGrad.",
             source_input, shapes::pool_gather, launch::pool_gather) |
        with{.forward = "MaxPool", .kinks = kink::ties},
    {.name = "MaxPoolWithArgmax",
     .doc = "MaxPool, and where each window's largest element first is, in row-major order of the image with its "
            "channels; -1 where all are NaN or none is inside. Gradient: dy to that element.",
     .group = family::window,
     .operands = x_image_or_int32,
     .attrs = attributes::pool_argmax,
     .infer = shapes::pool_argmax,
     .launch = launch::pool_argmax,
     .kinks = kink::ties,
     .cost = 8,
     .results = maxima_positions},
    dilation_row("Dilation2D",
                 "The largest x + filter of each window's elements inside the image, channel by channel; NaN ignored, "
                 "-infinity (the least int32) when there is none. Gradient: dy to the first largest.",
                 x_filter_or_int32, shapes::dilation, launch::dilation),
    dilation_row("Dilation2DBackpropInput",
                 "The gradient of Dilation2D for x: dy to the pixel of the first largest sum of each window.",
                 x_filter_dy, shapes::dilation_backprop_input, launch::dilation_of_images) |
        with{.forward = "Dilation2D"},
    dilation_row(
        "Dilation2DBackpropFilter",
        "The gradient of Dilation2D for the filter: dy to the element of the first largest sum of each window.",
        x_filter_dy, shapes::dilation_backprop_filter, launch::dilation_backprop_filter) |
        with{.forward = "Dilation2D"},
    dilation_row("Dilation2DGatherInput",
                 "For each window the value of source at the pixel of the first largest x + filter, 0 where there is "
                 "none: the adjoint of Dilation2DBackpropInput.",
                 source_x_filter, shapes::dilation_gather_input, launch::dilation_of_images) |
        with{.forward = "Dilation2D"},
    dilation_row("Dilation2DGatherFilter",
                 "For each window the value of source at the filter's element of the first largest x + filter, 0 where "
                 "there is none: the adjoint of Dilation2DBackpropFilter.",
                 source_x_filter, shapes::dilation_gather_filter, launch::dilation_of_images) |
        with{.forward = "Dilation2D"},
};

}  // namespace kerngrad::rows
