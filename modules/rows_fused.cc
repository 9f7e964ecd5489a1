// SPDX-License-Identifier: Apache-2.0
// Rows of the fused layers: a product or a convolution, a bias and an activation in one op. Their kernel is the bias
// and the activation; the launcher runs the product's own.
module;
#include "kernels/abi.h"
#include "kernels/fused.h"
export module kerngrad:rows_fused;

import :std;
import :core;
import :op;
import :shapes;
import :rows_reduce;
import :rows_window;

export namespace kerngrad {

// What a fused layer does last: linear, relu, relu6, elu, sigmoid, leakyrelu, prelu.
using kerngrad::activation;

/// "linear", "relu", ...
constexpr std::string_view name_of(activation which) { return kernels::activations[static_cast<int>(which)].name; }

inline constexpr operand ab_fused[] = {
    {"a", floating},
    {"b", floating},
    {"bias", floating, role::value, true},
    {"preluActivationWeights", floating, role::value, true},
};
inline constexpr operand x_filter_fused[] = {
    {"x", floating},
    {"filter", floating},
    {"bias", floating, role::value, true},
    {"preluActivationWeights", floating, role::value, true},
};

inline constexpr attr_spec activation_attr{"activation",
                                           attr_kind::text,
                                           "what is done to the sum of product and bias",
                                           false,
                                           0,
                                           std::string_view(kernels::activation_texts).substr(1)};
inline constexpr attr_spec leaky_attr{"leakyreluAlpha", attr_kind::number, "slope of leakyrelu below 0", false, 0.2};

inline constexpr attr_spec fused_matmul_attrs[] = {transposes[0], transposes[1], activation_attr, leaky_attr};
inline constexpr attr_spec fused_conv_attrs[] = {strides_attr,  pad_attr,        format_attr, dilations_attr,
                                                 rounding_attr, activation_attr, leaky_attr};

/// The row of a fused layer, from that of its product.
consteval op_row fused_row(std::string_view name, std::string_view doc, const op_row& product,
                           std::span<const operand> operands, std::span<const attr_spec> attrs, infer_fn infer,
                           convention how) {
  return {.name = name,
          .doc = doc,
          .group = product.group,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .convention = how,
          .depthwise = product.depthwise,
          .cost = product.cost + 2};
}

inline constexpr op_row fused_rows[] = {
    fused_row("_FusedMatMul",
              "BatchMatMul, plus a bias, then an activation; bias and prelu's weights broadcast to the result.",
              matmul_rows[0], ab_fused, fused_matmul_attrs, shapes::fused_matmul, convention::fused_matmul),
    fused_row(
        "FusedConv2D",
        "Conv2D, plus a bias, then an activation; bias and prelu's weights broadcast to the result, one value per "
        "channel in either layout.",
        window_rows[0], x_filter_fused, fused_conv_attrs, shapes::fused_conv, convention::fused_conv),
    fused_row("FusedDepthwiseConv2D",
              "DepthwiseConv2dNative, plus a bias, then an activation; bias and prelu's weights as in FusedConv2D.",
              window_rows[3], x_filter_fused, fused_conv_attrs, shapes::fused_conv, convention::fused_conv),
};

}  // namespace kerngrad
