// SPDX-License-Identifier: Apache-2.0
// Typed names of the fused layers. Defaults and meanings are those of their rows (docs/ops.md).
module;
#include "kernels/common/abi.h"
#include "kernels/fused/fused.h"
export module kerngrad:ops_fused;

import :std;
import :core;
import :op;
import :table;
import :rows_fused;
import :tensor;
import :engine;
import :call;
import :ops_window;

export namespace kerngrad {

/// Options of fused_matmul. `bias` and `prelu_weights` broadcast to the result. The weights are for the activation
/// prelu alone, which needs them.
struct fused_matmul_options {
  tensor bias{};
  kerngrad::activation activation = kerngrad::activation::linear;
  tensor prelu_weights{};
  double leakyrelu_alpha = 0.2;
  bool transpose_a = false;
  bool transpose_b = false;
};
/// activation(matmul(a, b) + bias) in one op, bitwise identical to the separate ops. The operands are matrices, with
/// batch axes that broadcast; vectors throw. Floating dtypes only. Differentiable in all operands, with every
/// activation.
inline tensor fused_matmul(const tensor& a, const tensor& b, const fused_matmul_options& options = {}) {
  return call<"_FusedMatMul">(a, b, options.bias, options.prelu_weights, attr<"transposeA">(options.transpose_a),
                              attr<"transposeB">(options.transpose_b), attr<"activation">(name_of(options.activation)),
                              attr<"leakyreluAlpha">(options.leakyrelu_alpha));
}

/// Options of the fused convolutions. A `bias` or `prelu_weights` of rank 1 has a value per channel; others broadcast
/// to the result. The weights are for the activation prelu alone, which needs them.
struct fused_conv_options {
  tensor bias{};
  kerngrad::activation activation = kerngrad::activation::linear;
  tensor prelu_weights{};
  double leakyrelu_alpha = 0.2;
  extent strides = 1;
  padding pad = valid;
  extent dilations = 1;
  bool channels_first = false;
};

/// Calls the fused convolution op `Op` with options. fused_conv2d and fused_depthwise_conv2d are calls of it, and
/// explain shapes, errors and gradients.
template <fixed_string Op>
  requires known_op<Op>
inline tensor fused_convolution(const tensor& x, const tensor& filter, const fused_conv_options& options) {
  return call<Op>(x, filter, options.bias, options.prelu_weights, attr<"strides">(options.strides.value()),
                  attr<"pad">(options.pad.value()), attr<"dilations">(options.dilations.value()),
                  attr<"dataFormat">(options.channels_first ? "NCHW" : "NHWC"),
                  attr<"activation">(name_of(options.activation)), attr<"leakyreluAlpha">(options.leakyrelu_alpha));
}
/// activation(conv2d(x, filter) + bias) in one op, bitwise identical to the separate ops. Shapes and errors are those
/// of `conv2d`. Differentiable in all operands, with every activation.
inline tensor fused_conv2d(const tensor& x, const tensor& filter, const fused_conv_options& options = {}) {
  return fused_convolution<"FusedConv2D">(x, filter, options);
}
/// activation(depthwise_conv2d(x, filter) + bias) in one op, bitwise identical to the separate ops. Shapes and errors
/// are those of `depthwise_conv2d`. Differentiable in all operands, with every activation.
inline tensor fused_depthwise_conv2d(const tensor& x, const tensor& filter, const fused_conv_options& options = {}) {
  return fused_convolution<"FusedDepthwiseConv2D">(x, filter, options);
}

}  // namespace kerngrad
