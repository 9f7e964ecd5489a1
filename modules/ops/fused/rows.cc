// SPDX-License-Identifier: Apache-2.0
// Rows of the fused layers: a product or a convolution, a bias and an activation in one op. Their kernel is the bias
// and the activation; the launcher runs the product's own.
module;
#include "kernels/common/abi.h"
#include "kernels/fused/fused.h"
export module kerngrad:rows_fused;

import :std;
import :core;
import :op;
import :attributes;
import :shapes_window;
import :rows_matmul;
import :rows_window;

export namespace kerngrad {

/// Last step of a fused layer: linear, relu, relu6, elu, sigmoid, leakyrelu, prelu.
using kerngrad::activation;

/// The name of an activation: "linear", "relu" and so on.
constexpr std::string_view name_of(activation which) { return kernels::activations[static_cast<int>(which)].name; }

}  // namespace kerngrad

namespace kerngrad::launch {
void fused_conv(const launch_call&);
void fused_matmul(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand bias{.name = "bias", .types = floating, .optional = true};
inline constexpr operand prelu_weights{.name = "preluActivationWeights", .types = floating, .optional = true};
inline constexpr operand ab_fused[] = {{"a", floating}, {"b", floating}, bias, prelu_weights};
inline constexpr operand x_filter_fused[] = {{"x", floating}, {"filter", floating}, bias, prelu_weights};

/// The row of a fused layer, made from the row of its product. The products of the domain are small next to biases that
/// lie between the kinks of the activations.
consteval op_row fused_row(std::string_view name, std::string_view doc, const op_row& product,
                           std::span<const operand> operands, std::span<const attr_spec> attrs, infer_fn infer,
                           launch_fn launch) {
  return {.name = name,
          .doc = doc,
          .group = family::fused,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .launch = launch,
          .depthwise = product.depthwise,
          .domain = {{-0.4, 0.4}, {-0.4, 0.4}},
          .cost = product.cost + 2};
}

inline constexpr op_row fused_rows[] = {
    fused_row(
        "_FusedMatMul",
        "BatchMatMul, plus a bias, then an activation; bias and prelu's weights broadcast to the result. Gradient: "
        "that of elu and sigmoid is made of the result, and loses digits where that is near -1 or 1.",
        matmul_rows[0], ab_fused, attributes::fused_matmul, shapes::fused_matmul, launch::fused_matmul),
    fused_row(
        "FusedConv2D",
        "Conv2D, plus a bias, then an activation; bias and prelu's weights broadcast to the result, one value per "
        "channel in either layout. Gradient: as that of _FusedMatMul.",
        window_rows[0], x_filter_fused, attributes::fused_conv, shapes::fused_conv, launch::fused_conv),
    fused_row("FusedDepthwiseConv2D",
              "DepthwiseConv2dNative, plus a bias, then an activation; bias and prelu's weights as in FusedConv2D. "
              "Gradient: as that of _FusedMatMul.",
              window_rows[3], x_filter_fused, attributes::fused_conv, shapes::fused_conv, launch::fused_conv),
};

}  // namespace kerngrad::rows
