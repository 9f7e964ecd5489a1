// SPDX-License-Identifier: Apache-2.0
// Layers that are made of others.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_layers;

import :std;
import :core;
import :tensor;
import :engine;
import :ops_window;

export namespace kerngrad {

/// Options of conv1d. `pad` is `same`, `valid`, elements on both sides, or {0, 0, before, after}.
struct conv1d_options {
  std::int64_t stride = 1;
  padding pad = valid;
  std::int64_t dilation = 1;
};
/// The convolution of sequences x [batch, width, in] or [width, in] with a filter [width, in, out]: by `conv2d` of
/// images of height 1, for groups of channels with a filter [width, in / groups, out]. Floats. Differentiable in both.
tensor conv1d(const tensor& x, const tensor& filter, const conv1d_options& options = {});

/// A depthwise convolution followed by one of 1 x 1 pixels: x [batch, height, width, in] or [height, width, in], the
/// filters [height, width, in, multiplier] and [1, 1, in * multiplier, out]. The options are those of the first.
/// Floats. Differentiable in all operands.
tensor separable_conv2d(const tensor& x, const tensor& depthwise_filter, const tensor& pointwise_filter,
                        const conv_options& options = {});

/// Reduction of a window by a pooling.
enum class pooling : std::uint8_t { max, avg };
/// Options of pool. If elements of a window are further apart than 1, by `dilations`, the strides are 1.
struct dilated_pool_options {
  padding pad = valid;
  extent dilations = 1;
  extent strides = 1;
};
/// The pooling of windows whose elements may be apart: x [batch, height, width, channels] or without the batch.
/// Elements outside of the image do not count, as in `max_pool` and `avg_pool`. float32 and float64. Throws where both
/// strides and dilations are above 1. Differentiable.
tensor pool(const tensor& x, extent window, pooling type, const dilated_pool_options& options = {});

/// x with elements set to 0 by chance, each with probability `rate`, from 0 to below 1, the others divided by 1 - rate,
/// so that the mean stays. The same seed chooses the same elements on every CPU target. `noise`, a shape that
/// broadcasts to that of x, makes elements share their fate. Floats. Differentiable: dy by the same factors.
tensor dropout(const tensor& x, double rate, std::int64_t seed, const std::optional<shape>& noise = {});

/// State that a cell of long short-term memory carries from one step to the next, [batch, units] each: `c` its memory,
/// `h` its output.
struct lstm_state {
  tensor c, h;
};
/// One step of long short-term memory (Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000): data
/// [batch, in], kernel [in + units, 4 * units], bias [4 * units]. The parts of the kernel's columns are those of the
/// input gate, the new memory, the forget gate and the output gate; `forget_bias` is added to the third. Floats.
/// Differentiable in all operands.
lstm_state basic_lstm_cell(double forget_bias, const tensor& kernel, const tensor& bias, const tensor& data,
                           const tensor& c, const tensor& h);

/// A cell of `multi_rnn_cell`: its step.
using rnn_cell = std::function<lstm_state(const tensor& data, const tensor& c, const tensor& h)>;
/// State of the cells, one element for each.
struct rnn_states {
  tensor_list c, h;
};
/// One step of cells of which each has the output of the one before it as its data. Throws for lists of different
/// lengths.
rnn_states multi_rnn_cell(std::span<const rnn_cell> cells, const tensor& data, std::span<const tensor> c,
                          std::span<const tensor> h);

}  // namespace kerngrad
