// SPDX-License-Identifier: Apache-2.0
// Rows of the convolutions and poolings of volumes, which are NDHWC (or NCDHW by transposition); filters are DHWIO.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_volume;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :rows;
import :shapes_volume;

namespace kerngrad::launch {
void volume_conv(const launch_call&);
void volume_conv_input(const launch_call&);
void volume_conv_filter(const launch_call&);
void volume_pool(const launch_call&);
void volume_pool_grad(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand volume_and_filter[] = {{"x", floating}, {"filter", floating}};
inline constexpr operand volume_dy_filter[] = {{"dy", floating}, {"filter", floating}};
inline constexpr operand volume_and_dy[] = {{"x", floating}, {"dy", floating}};
inline constexpr operand volume_only[] = {{"x", floating}};
inline constexpr operand volume_or_int32[] = {{"x", floating | only(dtype::int32)}};
inline constexpr operand volume_dy_input[] = {{"dy", floating}, {"input", floating}};
inline constexpr operand volume_dy_input_output[] = {{"dy", floating}, {"input", floating}, {"output", floating}};
inline constexpr operand volume_source_input[] = {{"source", floating}, {"input", floating}};

consteval op_row volume_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                            std::span<const attr_spec> attrs, infer_fn infer, launch_fn launch, double cost) {
  return {.name = name,
          .doc = doc,
          .group = family::volume,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .launch = launch,
          .cost = cost};
}
consteval op_row volume_conv_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                                 std::span<const attr_spec> attrs, infer_fn infer, launch_fn launch) {
  return volume_row(name, doc, operands, attrs, infer, launch, 54);
}
consteval op_row volume_pool_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                                 infer_fn infer, launch_fn launch) {
  return volume_row(name, doc, operands, attributes::volume_pool, infer, launch, 8);
}

inline constexpr op_row volume_rows[] = {
    volume_conv_row("Conv3D", "Three-dimensional cross-correlation of a volume with a filter.", volume_and_filter,
                    attributes::volume_conv, shapes::volume_conv, launch::volume_conv),
    volume_conv_row("Conv3DBackpropInputV2", "The gradient of Conv3D for the volume; also the transposed convolution.",
                    volume_dy_filter, attributes::volume_conv_input, shapes::volume_conv_input,
                    launch::volume_conv_input) |
        with{.forward = "Conv3D"},
    volume_conv_row("Conv3DBackpropFilterV2", "The gradient of Conv3D for the filter.", volume_and_dy,
                    attributes::volume_conv_filter, shapes::volume_conv_filter, launch::volume_conv_filter) |
        with{.forward = "Conv3D"},
    volume_pool_row("MaxPool3D",
                    "The largest element of each window, NaN ignored; -infinity (the least int32) when there is none. "
                    "Gradient: dy to the first largest.",
                    volume_or_int32, shapes::volume_pool, launch::volume_pool) |
        with{.kinks = kink::ties},
    volume_pool_row("AvgPool3D",
                    "The mean of each window's elements inside the volume; 0 when there is none, NaN when one is NaN.",
                    volume_only, shapes::volume_pool, launch::volume_pool),
    volume_pool_row("MaxPool3DGrad", "The gradient of MaxPool3D: dy to the first largest element of each window.",
                    volume_dy_input_output, shapes::volume_pool_grad, launch::volume_pool_grad) |
        with{.forward = "MaxPool3D", .kinks = kink::ties},
    volume_pool_row("AvgPool3DGrad", "The gradient of AvgPool3D: dy over the number of elements inside the volume.",
                    volume_dy_input, shapes::volume_pool_grad, launch::volume_pool_grad) |
        with{.forward = "AvgPool3D"},
    volume_pool_row("MaxPool3DGather",
                    "For each window the value of source where input is first largest: the adjoint of MaxPool3DGrad.",
                    volume_source_input, shapes::volume_pool_gather, launch::volume_pool) |
        with{.forward = "MaxPool3D", .kinks = kink::ties},
};

}  // namespace kerngrad::rows
