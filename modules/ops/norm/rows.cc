// SPDX-License-Identifier: Apache-2.0
// Rows of the normalizations.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_norm;

import :std;
import :core;
import :op;
import :attributes;
import :rows;
import :shapes_norm;

namespace kerngrad::launch {
void batch_norm(const launch_call&);
void layer_norm(const launch_call&);
void response_norm(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand offset_operand{.name = "offset", .types = floating, .optional = true};
inline constexpr operand scale_operand{.name = "scale", .types = floating, .optional = true};
inline constexpr operand x_moments[] = {
    {"x", floating}, {"mean", floating}, {"variance", floating}, offset_operand, scale_operand};
inline constexpr operand x_scale_offset[] = {{"x", floating}, scale_operand, offset_operand};
inline constexpr operand x_pixels[] = {{"x", floating}};
inline constexpr operand x_y_dy[] = {{"x", floating}, {"y", floating}, {"dy", floating}};

consteval op_row response_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                              double cost) {
  return {.name = name,
          .doc = doc,
          .group = family::norm,
          .operands = operands,
          .attrs = attributes::response_norm,
          .infer = shapes::response_norm,
          .launch = launch::response_norm,
          .cost = cost};
}

inline constexpr op_row norm_rows[] = {
    {.name = "FusedBatchNorm",
     .doc = "(x - mean) / sqrt(variance + varianceEpsilon) * scale + offset; the moments are operands of their own, of "
            "one shape that broadcasts to x.",
     .group = family::norm,
     .operands = x_moments,
     .attrs = attributes::batch_norm,
     .infer = shapes::batch_norm,
     .launch = launch::batch_norm,
     .domain = {{-2, 2}, {0.5, 2}},  // the variance is positive
     .in_place = true,
     .cost = 3},
    {.name = "LayerNorm",
     .doc = "(x - mean) / sqrt(variance + epsilon) * scale + offset, the moments those of x along its last axis; the "
            "variance divides by the number of elements.",
     .group = family::norm,
     .operands = x_scale_offset,
     .attrs = attributes::layer_norm,
     .infer = shapes::layer_norm,
     .launch = launch::layer_norm,
     .in_place = true,
     .cost = 8},
    response_row("LRN",
                 "x / (bias + alpha * sum(x^2))^beta, the sum over the channels up to depthRadius away in the pixel.",
                 x_pixels, 24),
    response_row("LRNGrad", "The gradient of LRN; y is its result.", x_y_dy, 40) | with{.forward = "LRN"},
};

}  // namespace kerngrad::rows
