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

/// Options of conv1d. `stride` is the distance of neighboring windows, `dilation` that of neighboring elements of a
/// window; both are 1 or more. `pad` is `same`, `valid`, a number of elements on both sides, or {0, 0, before, after}.
struct conv1d_options {
  std::int64_t stride = 1;
  padding pad = valid;
  std::int64_t dilation = 1;
};
/// The convolution of sequences x [batch, width, in] or [width, in] with a filter [width, in, out], computed as
/// `conv2d` of images of height 1. A filter [width, in / groups, out] is for groups of channels. Floats. Throws for
/// channels that do not fit. Differentiable in both.
tensor conv1d(const tensor& x, const tensor& filter, const conv1d_options& options = {});

/// A depthwise convolution, then a convolution of 1 x 1 pixels. x is [batch, height, width, in] or [height, width, in].
/// The filters are [height, width, in, multiplier] and [1, 1, in * multiplier, out]. The options are those of the first
/// convolution. Floats. Throws for filters of other shapes. Differentiable in all operands.
tensor separable_conv2d(const tensor& x, const tensor& depthwise_filter, const tensor& pointwise_filter,
                        const conv_options& options = {});

/// The reduction of a window by `pool`: its largest element or its mean.
enum class pooling : std::uint8_t { max, avg };
/// Options of pool. `dilations` is the distance between neighboring elements of a window. If it is above 1, the strides
/// must be 1.
struct dilated_pool_options {
  padding pad = valid;
  extent dilations = 1;
  extent strides = 1;
};
/// Pools windows whose elements may have gaps. x is [batch, height, width, channels] or [height, width, channels].
/// Elements outside of the image do not count, as in `max_pool` and `avg_pool`. float32 and float64. Throws if both
/// strides and dilations are above 1, and if the window does not fit. Differentiable.
tensor pool(const tensor& x, extent window, pooling type, const dilated_pool_options& options = {});

/// Sets random elements of x to 0, each with probability `rate`, from 0 to below 1. The others are divided by 1 - rate,
/// which keeps the mean. The same seed chooses the same elements on every CPU target. With a shape `noise`, which
/// broadcasts to that of x, elements along its broadcast axes are kept or dropped together. Floats. Gradient: dy times
/// the same factors.
tensor dropout(const tensor& x, double rate, std::int64_t seed, const std::optional<shape>& noise = {});

/// State that an LSTM cell passes to the next step: memory `c` and output `h`, [batch, units] each.
struct lstm_state {
  tensor c, h;
};
/// One step of long short-term memory (Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000). The
/// operands are data [batch, in], kernel [in + units, 4 * units], bias [4 * units], and the state c and h, [batch,
/// units] each. Returns the next c and h. The kernel's columns are input gate, new memory, forget gate and output gate,
/// in this order. `forget_bias` is added to the forget gate. Floats; half precision is computed in float32. Throws for
/// shapes that do not fit. Differentiable in all operands.
lstm_state basic_lstm_cell(double forget_bias, const tensor& kernel, const tensor& bias, const tensor& data,
                           const tensor& c, const tensor& h);

/// One cell of `multi_rnn_cell`: a function that computes one step of the cell.
using rnn_cell = std::function<lstm_state(const tensor& data, const tensor& c, const tensor& h)>;
/// States of the cells of `multi_rnn_cell`, one element for each cell.
struct rnn_states {
  tensor_list c, h;
};
/// One step of stacked cells: each cell gets the output of the one before it as its data. Returns the next states of
/// all cells. Throws for lists of different lengths and for empty functions.
rnn_states multi_rnn_cell(std::span<const rnn_cell> cells, const tensor& data, std::span<const tensor> c,
                          std::span<const tensor> h);

}  // namespace kerngrad
