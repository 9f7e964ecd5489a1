// SPDX-License-Identifier: Apache-2.0
module;
#include <functional>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;

// ------------------------------------------------------------------------------------------ convolutions

namespace {

// A batch of one where there is none.
tensor with_batch(const tensor& x, int rank) { return x.rank() == rank ? x : expand_dims(x, 0); }
tensor without_batch(const tensor& y, const tensor& x, int rank) { return x.rank() == rank ? y : squeeze(y, 0); }

// Padding of a sequence as that of an image of height 1.
padding padding_of_width(const composed& call, const padding& pad) {
  const attr_value& value = pad.value();
  if (value.kind() == attr_kind::text) return pad;
  if (value.kind() == attr_kind::integer) return {0, 0, value.as_integer(), value.as_integer()};
  const std::span<const std::int64_t> sides = value.as_list();
  if (sides[0] != 0 || sides[1] != 0)
    call.refuse("pad " + to_string(value), "elements before and after: {0, 0, before, after}");
  return pad;
}

}  // namespace

tensor conv1d(const tensor& x, const tensor& filter, const conv1d_options& options) {
  constexpr composed call{"conv1d"};
  call.rank("x", x, 2, 3);
  call.rank("filter", filter, 3, 3);
  call.floating("x", x);
  call.floating("filter", filter);
  const std::int64_t channels = x.dims()[x.rank() - 1], of_group = filter.dims()[1];
  if (channels != of_group && (of_group == 0 || channels == 0 || channels % of_group != 0))
    call.refuse(shaped("x", x) + " and " + shaped("filter", filter),
                "as many channels in the filter as in x, or a group of them");
  const conv_options flat{
      .strides = {1, options.stride}, .pad = padding_of_width(call, options.pad), .dilations = {1, options.dilation}};
  const tensor y = conv2d(expand_dims(with_batch(x, 3), 1), expand_dims(filter, 0), flat);
  return without_batch(squeeze(y, 1), x, 3);
}

tensor separable_conv2d(const tensor& x, const tensor& depthwise_filter, const tensor& pointwise_filter,
                        const conv_options& options) {
  constexpr composed call{"separable_conv2d"};
  call.rank("x", x, 3, 4);
  call.rank("depthwise_filter", depthwise_filter, 4, 4);
  call.rank("pointwise_filter", pointwise_filter, 4, 4);
  call.floating("x", x);
  call.floating("depthwise_filter", depthwise_filter);
  call.floating("pointwise_filter", pointwise_filter);
  const shape &depthwise = depthwise_filter.dims(), &pointwise = pointwise_filter.dims();
  if (x.dims()[options.channels_first ? x.rank() - 3 : x.rank() - 1] != depthwise[2])
    call.refuse(shaped("x", x) + " and " + shaped("depthwise_filter", depthwise_filter),
                "as many channels in the filter as in x");
  const std::int64_t channels = kernels::product_of(depthwise[2], depthwise[3]);
  if (pointwise[0] != 1 || pointwise[1] != 1 || pointwise[2] != channels)
    call.refuse(shaped("pointwise_filter", pointwise_filter),
                "a filter of 1 x 1 pixels with " + std::to_string(channels) + " channels in");
  const tensor between =
      depthwise_conv2d(detail::widened(with_batch(x, 4)), detail::widened(depthwise_filter), options);
  const tensor y = conv2d(between, pointwise_filter, {.channels_first = options.channels_first});
  return without_batch(detail::narrowed(y, detail::promoted({&x, &depthwise_filter, &pointwise_filter})), x, 4);
}

// ------------------------------------------------------------------------------------------ pooling

namespace {

// Pixels around an image, and those added at its end so that its size becomes a multiple of the dilation.
struct sides {
  std::int64_t before, after, rest;
};

sides sides_of(std::int64_t size, std::int64_t window, std::int64_t apart, std::int64_t before, std::int64_t after,
               bool same_size) {
  if (same_size) {
    const std::int64_t extra = kernels::product_of(window - 1, apart);
    before = extra / 2, after = extra - before;
  }
  const std::int64_t padded = kernels::sum_of(kernels::sum_of(size, before), after);
  return {before, after, (apart - padded % apart) % apart};
}

}  // namespace

// Each block of `dilations` pixels has one pixel of as many windows: these lie side by side in the parts of the batch.
tensor pool(const tensor& x, extent window, pooling type, const dilated_pool_options& options) {
  constexpr composed call{"pool"};
  call.rank("x", x, 3, 4);
  if (!wide_floats.has(x.type()))
    call.refuse("operand x of dtype " + std::string(name_of(x.type())), to_string(wide_floats), "cast it");
  const extent apart = options.dilations, steps = options.strides;
  if (window.height < 1 || window.width < 1 || apart.height < 1 || apart.width < 1)
    call.refuse("window " + to_string(window.value()) + " with dilations " + to_string(apart.value()), "1 or more");
  const auto pooled = [&](const tensor& image, const pool_options& how) {
    return type == pooling::max ? max_pool(image, window, how) : avg_pool(image, window, how);
  };
  const tensor images = with_batch(x, 4);
  if (apart.height == 1 && apart.width == 1)
    return without_batch(pooled(images, {.strides = steps, .pad = options.pad}), x, 4);
  if (steps.height != 1 || steps.width != 1)
    call.refuse("strides " + to_string(steps.value()) + " with dilations " + to_string(apart.value()),
                "strides or dilations of 1");

  const attr_value& pad = options.pad.value();
  const bool same_size = pad.as_text() == "same";
  std::int64_t around[4] = {};
  for (std::size_t i = 0; i < 4; ++i)
    if (pad.kind() == attr_kind::integer) around[i] = pad.as_integer();
    else if (pad.kind() == attr_kind::list) around[i] = pad.as_list()[i];
  for (std::int64_t pixels : around)
    if (pixels < 0) call.refuse("pad " + to_string(pad), "0 pixels or more");
  const shape& dims = images.dims();
  const sides rows = sides_of(dims[1], window.height, apart.height, around[0], around[1], same_size);
  const sides columns = sides_of(dims[2], window.width, apart.width, around[2], around[3], same_size);
  const auto blocks = [&](const tensor& image, double outside) {
    const tensor whole = kerngrad::pad(image,
                                       {0, 0, rows.before, kernels::sum_of(rows.after, rows.rest), columns.before,
                                        kernels::sum_of(columns.after, columns.rest), 0, 0},
                                       outside);
    const tensor parts = space_to_batch(whole, {apart.height, apart.width}, {0, 0, 0, 0});
    const tensor y = pooled(parts, {.strides = extent(1)});
    return batch_to_space(y, {apart.height, apart.width}, {0, rows.rest, 0, columns.rest});
  };
  if (type == pooling::max) return without_batch(blocks(images, -std::numeric_limits<double>::infinity()), x, 4);
  // The mean of what lies inside: zeros outside count in neither of the two.
  const tensor inside = ones(shape{1, dims[1], dims[2], 1}, x.type());
  return without_batch(blocks(images, 0) / blocks(inside, 0), x, 4);
}

// ------------------------------------------------------------------------------------------ dropout

tensor dropout(const tensor& x, double rate, std::int64_t seed, const std::optional<shape>& noise) {
  constexpr composed call{"dropout"};
  call.floating("x", x);
  if (!(rate >= 0 && rate < 1)) call.refuse("rate " + to_string(attr_value(rate)), "a number from 0 to below 1");
  const shape drawn = noise.value_or(x.dims());
  const std::optional<shape> both = broadcast(x.dims(), drawn);
  if (!both || !(*both == x.dims()))
    call.refuse("noise of shape " + to_string(drawn) + " next to " + shaped("x", x),
                "a shape that broadcasts to that of x");
  if (rate == 0) return x;
  const tensor stays = random_uniform(drawn, 0, 1, seed) >= rate;
  const tensor wide = detail::widened(x);
  return detail::narrowed(wide * (cast(stays, wide.type()) / (1 - rate)), x.type());
}

// ------------------------------------------------------------------------------------------ recurrent cells

lstm_state basic_lstm_cell(double forget_bias, const tensor& kernel, const tensor& bias, const tensor& data,
                           const tensor& c, const tensor& h) {
  constexpr composed call{"basic_lstm_cell"};
  call.rank("kernel", kernel, 2, 2);
  call.rank("bias", bias, 1, 1);
  call.rank("data", data, 2, 2);
  call.rank("c", c, 2, 2);
  call.one_shape("c", c, "h", h);
  call.floating("kernel", kernel);
  call.floating("data", data);
  const std::int64_t units = c.dims()[1], parts = kernels::product_of(4, units);
  if (data.dims()[0] != c.dims()[0]) call.refuse(shaped("data", data) + " and " + shaped("c", c), "one batch size");
  if (kernel.dims()[0] != data.dims()[1] + units || kernel.dims()[1] != parts || bias.dims()[0] != parts)
    call.refuse(shaped("kernel", kernel) + " and " + shaped("bias", bias),
                "[" + std::to_string(data.dims()[1] + units) + ", " + std::to_string(parts) + "] and [" +
                    std::to_string(parts) + "]");
  // Halves are computed in float32; each part of the state is rounded once.
  const tensor inputs = concat({detail::widened(data), detail::widened(h)}, 1);
  const auto [input, fresh, forget, output] = split<4>(matmul(inputs, detail::widened(kernel)) + bias, 1);
  const tensor memory = sigmoid(input) * tanh(fresh) + c * sigmoid(forget + forget_bias);
  const dtype type = detail::promoted({&kernel, &bias, &data, &c, &h});
  return {detail::narrowed(memory, type), detail::narrowed(tanh(memory) * sigmoid(output), type)};
}

rnn_states multi_rnn_cell(std::span<const rnn_cell> cells, const tensor& data, std::span<const tensor> c,
                          std::span<const tensor> h) {
  constexpr composed call{"multi_rnn_cell"};
  call.given("data", data);
  if (cells.size() != c.size() || cells.size() != h.size())
    call.refuse(std::to_string(cells.size()) + " cells, " + std::to_string(c.size()) + " c and " +
                    std::to_string(h.size()) + " h",
                "as many of each");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i]) call.refuse("an empty function as cells[" + std::to_string(i) + "]", "a cell");
    call.given("c[" + std::to_string(i) + "]", c[i]);
    call.given("h[" + std::to_string(i) + "]", h[i]);
  }
  rnn_states next;
  tensor input = data;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    lstm_state state = cells[i](input, c[i], h[i]);
    next.c.push_back(std::move(state.c));
    next.h.push_back(state.h);
    input = std::move(state.h);
  }
  return next;
}

}  // namespace kerngrad
