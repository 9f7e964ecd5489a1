// SPDX-License-Identifier: Apache-2.0
// Recurrent layers over whole sequences.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_sequences;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Options of lstm. `bias` [4 * units] and the first states `h` and `c` [batch, units] are zeros by default. With
/// `batch_first`, x and y are [batch, steps, ...]. With `reverse` the steps are computed from the last to the first; y
/// keeps the order of x.
struct lstm_options {
  tensor bias{};
  tensor h{};
  tensor c{};
  bool batch_first = false;
  bool reverse = false;
};
/// The result of lstm: the outputs of all steps [steps, batch, units], and the states after the last one.
struct lstm_result {
  tensor y, h, c;
};
/// Long short-term memory over a sequence x [steps, batch, in], with kernel [in, 4 * units] and recurrent [units, 4 *
/// units]. Columns are input gate i, forget gate f, new memory g, output gate o. Each step computes z = x kernel + h
/// recurrent + bias, c = sigmoid(f) c + sigmoid(i) tanh(g) and h = sigmoid(o) tanh(c). Kernels are those of
/// torch.nn.LSTM transposed; the bias is the sum of its two biases. Floats; half precision is computed in float32.
/// Throws for shapes that do not fit. Differentiable in all operands to any order. The first order has its own backward
/// pass, which keeps the gates of all steps; higher orders record each step.
lstm_result lstm(const tensor& x, const tensor& kernel, const tensor& recurrent, const lstm_options& options = {});

/// Options of gru. `bias` and `recurrent_bias` [3 * units] and the first state `h` [batch, units] are zeros by default.
/// The others are those of lstm_options.
struct gru_options {
  tensor bias{};
  tensor recurrent_bias{};
  tensor h{};
  bool batch_first = false;
  bool reverse = false;
};
/// The result of gru: the outputs of all steps [steps, batch, units], and the last output.
struct gru_result {
  tensor y, h;
};
/// Gated recurrent units over a sequence x [steps, batch, in], with kernel [in, 3 * units] and recurrent [units, 3 *
/// units]. Columns are reset gate r, update gate z, new state n. A step computes p = x kernel + bias and q = h
/// recurrent + recurrent_bias, then r = sigmoid(p_r + q_r) and z = sigmoid(p_z + q_z). The new h is (1 - z) n + z h
/// with n = tanh(p_n + r q_n). Kernels are those of torch.nn.GRU transposed. Dtypes, errors and gradients are those of
/// lstm.
gru_result gru(const tensor& x, const tensor& kernel, const tensor& recurrent, const gru_options& options = {});

}  // namespace kerngrad
