// SPDX-License-Identifier: Apache-2.0
// Convolutions of sequences and in two steps, poolings with gaps, dropout and recurrent cells.
#include <algorithm>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

// ------------------------------------------------------------------------------------------ convolutions

// One sequence of one channel with a filter of one: y[i] = sum x[i * stride + k * dilation - before] f[k].
doubles convolved(const doubles& x, const doubles& f, std::int64_t stride, std::int64_t dilation, std::int64_t before,
                  std::int64_t after) {
  const auto size = static_cast<std::int64_t>(x.size()),
             window = static_cast<std::int64_t>(f.size() - 1) * dilation + 1;
  doubles y;
  for (std::int64_t at = -before; at + window <= size + after; at += stride) {
    double sum = 0;
    for (std::size_t k = 0; k < f.size(); ++k) {
      const std::int64_t place = at + static_cast<std::int64_t>(k) * dilation;
      if (place >= 0 && place < size) sum += x[static_cast<std::size_t>(place)] * f[k];
    }
    y.push_back(sum);
  }
  return y;
}

TEST(conv1d, is_the_sum_of_products_for_every_stride_dilation_and_padding) {
  const doubles x = {1, 2, 4, 7, 11, 16, 22}, f = {0.5, -1, 3};
  const struct {
    kg::padding pad;
    std::int64_t before, after;
  } pads[] = {{kg::valid, 0, 0}, {2, 2, 2}, {{0, 0, 1, 3}, 1, 3}};
  for (const auto& [pad, before, after] : pads)
    for (const auto& [stride, dilation] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
      const doubles wanted = convolved(x, f, stride, dilation, before, after);
      const auto count = static_cast<std::int64_t>(wanted.size());
      const tensor filter(f, {3, 1, 1});
      const kg::conv1d_options how{.stride = stride, .pad = pad, .dilation = dilation};
      expect_values(kg::conv1d(tensor(x, {1, 7, 1}), filter, how), {1, count, 1}, wanted);
      expect_values(kg::conv1d(tensor(x, {7, 1}), filter, how), {count, 1}, wanted);
    }
  EXPECT_EQ(kg::conv1d(kg::ones({2, 7, 3}), kg::ones({4, 3, 5}), {.pad = kg::same}).dims(), (kg::shape{2, 7, 5}));
}

TEST(conv1d, refuses_other_ranks_channels_and_padding_of_the_height) {
  const tensor x = kg::ones({2, 2, 1});
  expect_refused("conv1d", [&] { return kg::conv1d(x, kg::ones({2, 2, 1, 1})); }, {"operand filter", "rank 3"});
  expect_refused("conv1d", [&] { return kg::conv1d(x, kg::ones({2, 5, 1})); }, {"operand filter", "channels"});
  expect_refused("conv1d", [&] { return kg::conv1d(kg::ones({2}), kg::ones({2, 1, 1})); },
                 {"operand x", "rank 2 or 3"});
  expect_refused("conv1d", [&] { return kg::conv1d(x, kg::ones({1, 1, 1}), {.pad = {1, 0, 0, 0}}); },
                 {"pad [1, 0, 0, 0]"});
  expect_refused("conv1d", [&] { return kg::conv1d(kg::cast(x, kg::dtype::int32), kg::ones({1, 1, 1})); }, {"int32"});
}

TEST(separable_conv2d, is_one_convolution_with_the_product_of_the_filters) {
  const tensor x = uniform({2, 5, 6, 3}, 1), depthwise = uniform({2, 3, 3, 2}, 2), pointwise = uniform({1, 1, 6, 4}, 3);
  // full[h, w, i, o] = sum over m of depthwise[h, w, i, m] * pointwise[i * 2 + m, o].
  const tensor products = kg::reshape(depthwise, {2, 3, 3, 2, 1}) * kg::reshape(pointwise, {1, 1, 3, 2, 4});
  const tensor full = kg::sum(products, 3);
  for (const kg::conv_options& how : {kg::conv_options{}, {.strides = 2, .pad = kg::same}, {.dilations = 2}}) {
    const tensor wanted = kg::conv2d(x, full, how), got = kg::separable_conv2d(x, depthwise, pointwise, how);
    expect_values(got, wanted.dims(), wanted.to_doubles());
    const tensor one = kg::unstack(x)[1];
    expect_values(kg::separable_conv2d(one, depthwise, pointwise, how), kg::unstack(wanted)[1].dims(),
                  kg::unstack(wanted)[1].to_doubles());
    const tensor first = kg::separable_conv2d(
        kg::transpose(x, {0, 3, 1, 2}), depthwise, pointwise,
        {.strides = how.strides, .pad = how.pad, .dilations = how.dilations, .channels_first = true});
    expect_values(kg::transpose(first, {0, 2, 3, 1}), wanted.dims(), wanted.to_doubles());
  }
}

TEST(separable_conv2d, refuses_filters_that_do_not_fit) {
  const tensor x = kg::zeros({1, 4, 4, 1}), depthwise = kg::zeros({2, 2, 1, 3});
  const auto call = [&](const kg::shape& first, const kg::shape& second) {
    return [=] { return kg::separable_conv2d(x, kg::zeros(first), kg::zeros(second)); };
  };
  expect_refused("separable_conv2d", call({2, 2, 1}, {1, 1, 2, 4}), {"operand depthwise_filter", "rank 4"});
  expect_refused("separable_conv2d", call({2, 2, 1, 3}, {1, 1, 2}), {"operand pointwise_filter", "rank 4"});
  for (const kg::shape& second : {kg::shape{2, 1, 3, 6}, {1, 5, 3, 6}, {1, 1, 4, 6}})
    expect_refused("separable_conv2d", call({2, 2, 1, 3}, second), {"operand pointwise_filter", "3 channels"});
  expect_refused("separable_conv2d", call({2, 2, 2, 3}, {1, 1, 6, 6}), {"depthwise_filter", "channels"});
}

// ------------------------------------------------------------------------------------------ pooling

// The windows of one channel that begin at -before, elements `apart` from each other; outside does not count.
doubles pooled(const tensor& x, std::int64_t window, std::int64_t apart, std::int64_t before, std::int64_t after,
               kg::pooling type) {
  const std::int64_t height = x.dims()[0], width = x.dims()[1], reach = (window - 1) * apart + 1;
  const doubles values = x.to_doubles();
  doubles y;
  for (std::int64_t top = -before; top + reach <= height + after; ++top)
    for (std::int64_t left = -before; left + reach <= width + after; ++left) {
      double sum = 0, most = -std::numeric_limits<double>::infinity(), count = 0;
      for (std::int64_t i = top; i < top + reach; i += apart)
        for (std::int64_t j = left; j < left + reach; j += apart) {
          if (i < 0 || i >= height || j < 0 || j >= width) continue;
          const double value = values[static_cast<std::size_t>(i * width + j)];
          sum += value, most = std::fmax(most, value), ++count;
        }
      y.push_back(type == kg::pooling::max ? most : sum / count);
    }
  return y;
}

TEST(pool, with_gaps_is_what_its_windows_hold_for_every_padding) {
  const tensor x = uniform({5, 6, 1}, 1, -3, -1);  // all below 0: zeros outside would show
  for (kg::pooling type : {kg::pooling::max, kg::pooling::avg})
    for (std::int64_t apart : {2, 3}) {
      SCOPED_TRACE(apart);
      const auto check = [&](const kg::padding& pad, std::int64_t before, std::int64_t after) {
        const doubles wanted = pooled(x, 2, apart, before, after, type);
        const std::int64_t less = apart - before - after;
        expect_values(kg::pool(x, 2, type, {.pad = pad, .dilations = apart}), {5 - less, 6 - less, 1}, wanted);
      };
      check(kg::valid, 0, 0);
      check(1, 1, 1);
      check({1, 0, 1, 0}, 1, 0);
      check(kg::same, apart / 2, apart - apart / 2);
    }
}

// The windows of one axis: elements inside of the volume, and how many count with the padding.
struct axis_window {
  std::int64_t begin, end, counted;
};
std::vector<axis_window> windows_of(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t padding,
                                    bool ceil_mode) {
  std::vector<axis_window> all;
  for (std::int64_t at = -padding;
       ceil_mode ? at < size && at < size + padding - window + stride : at + window <= size + padding; at += stride)
    all.push_back(
        {std::max<std::int64_t>(at, 0), std::min(at + window, size), std::min(at + window, size + padding) - at});
  return all;
}

TEST(pool3d, reaches_beyond_the_padding_and_counts_it) {
  const std::int64_t d = 5, h = 6, w = 7;
  const tensor x = uniform({1, d, h, w, 1}, 1, -3, -1);
  const doubles values = x.to_doubles();
  const struct {
    std::int64_t window, stride, padding;
  } cases[] = {{2, 2, 0}, {3, 2, 1}, {2, 3, 1}, {3, 3, 0}};
  for (const auto& [window, stride, padding] : cases)
    for (const bool ceil_mode : {false, true}) {
      const auto along = [&](std::int64_t size) { return windows_of(size, window, stride, padding, ceil_mode); };
      doubles most, inside, counted;
      for (const axis_window& a : along(d))
        for (const axis_window& b : along(h))
          for (const axis_window& c : along(w)) {
            double sum = 0, greatest = -std::numeric_limits<double>::infinity(), count = 0;
            for (std::int64_t i = a.begin; i < a.end; ++i)
              for (std::int64_t j = b.begin; j < b.end; ++j)
                for (std::int64_t k = c.begin; k < c.end; ++k) {
                  const double value = values[static_cast<std::size_t>((i * h + j) * w + k)];
                  sum += value, greatest = std::fmax(greatest, value), ++count;
                }
            most.push_back(greatest), inside.push_back(sum / count);
            counted.push_back(sum / static_cast<double>(a.counted * b.counted * c.counted));
          }
      const auto size = [&](std::int64_t of) { return static_cast<std::int64_t>(along(of).size()); };
      const kg::shape dims{1, size(d), size(h), size(w), 1};
      kg::pool3d_options options{.strides = stride, .pad = static_cast<int>(padding), .ceil_mode = ceil_mode};
      expect_values(kg::max_pool3d(x, window, options), dims, most);
      expect_values(kg::avg_pool3d(x, window, options), dims, inside);
      options.count_include_pad = true;
      expect_values(kg::avg_pool3d(x, window, options), dims, counted);
      options.channels_first = true;
      expect_values(kg::avg_pool3d(kg::reshape(x, {1, 1, d, h, w}), window, options), {1, 1, dims[1], dims[2], dims[3]},
                    counted);
    }
  check_gradients("avg_pool3d",
                  [](auto in) {
                    return kg::square(kg::avg_pool3d(
                        in[0], 3, {.strides = 2, .pad = 1, .ceil_mode = true, .count_include_pad = true}));
                  },
                  {uniform({1, 2, 4, 3, 2}, 1)});
  expect_refused("avg_pool3d", [&] { return kg::avg_pool3d(x, 9, {.ceil_mode = true}); }, {"window of 9"});
  expect_refused("max_pool3d", [] { return kg::max_pool3d(kg::zeros({2, 3}), 1, {.ceil_mode = true}); }, {"rank"});
}

TEST(avg_pool, of_windows_in_the_padding_alone_is_0_where_it_counts) {
  const tensor y = kg::avg_pool(kg::ones({1, 1, 1, 1}), 1, {.strides = 1, .pad = 1, .count_include_pad = true});
  expect_values(y, {1, 3, 3, 1}, {0, 0, 0, 0, 1, 0, 0, 0, 0});
}

TEST(pool, without_gaps_is_max_pool_and_avg_pool) {
  const tensor x = uniform({2, 5, 6, 3}, 1);
  const auto same = [](const tensor& a, const tensor& b) { expect_values(a, b.dims(), b.to_doubles(), 0); };
  same(kg::pool(x, {2, 3}, kg::pooling::max, {.pad = kg::same, .strides = 2}),
       kg::max_pool(x, {2, 3}, {.strides = 2, .pad = kg::same}));
  same(kg::pool(x, {2, 3}, kg::pooling::avg), kg::avg_pool(x, {2, 3}, {.strides = 1}));
}

TEST(pool, refuses_strides_beside_gaps_and_other_ranks) {
  const tensor x = kg::zeros({4, 4, 1});
  expect_refused("pool", [&] { return kg::pool(x, 2, kg::pooling::max, {.dilations = 2, .strides = 2}); },
                 {"strides [2, 2] with dilations [2, 2]"});
  expect_refused("pool", [] { return kg::pool(kg::zeros({4, 4}), 2, kg::pooling::avg); }, {"operand x", "rank 3 or 4"});
  expect_refused("pool", [&] { return kg::pool(x, 0, kg::pooling::avg, {.dilations = 2}); }, {"window [0, 0]"});
  expect_refused("pool", [&] { return kg::pool(x, 2, kg::pooling::avg, {.pad = -1, .dilations = 2}); }, {"pad -1"});
}

// ------------------------------------------------------------------------------------------ dropout

TEST(dropout, sets_its_share_to_0_and_makes_up_for_it) {
  const tensor x = kg::ones({100, 100}), y = kg::dropout(x, 0.25, 7);
  double dropped = 0;
  for (double value : y.to_doubles()) {
    ASSERT_TRUE(value == 0 || std::fabs(value - 4.0 / 3) < 1e-6) << value;
    dropped += value == 0;
  }
  EXPECT_NEAR(dropped / 1e4, 0.25, 0.02);
  EXPECT_EQ(kg::dropout(x, 0.25, 7).to_doubles(), y.to_doubles());
  EXPECT_NE(kg::dropout(x, 0.25, 8).to_doubles(), y.to_doubles());
  EXPECT_TRUE(kg::dropout(x, 0, 7).shares_with(x));
  const tensor rows = kg::sum(kg::dropout(x, 0.5, 7, kg::shape{100, 1}), 1);
  for (double value : rows.to_doubles()) EXPECT_TRUE(value == 0 || value == 200) << value;
}

TEST(dropout, refuses_integers_rates_and_noise_that_does_not_fit) {
  const tensor x = kg::ones({2, 3});
  expect_refused("dropout", [] { return kg::dropout(tensor({1, 2, 2, 1}), 0.75, 1); }, {"operand x", "int32"});
  for (double rate : {-0.1, 1.0, std::nan("")})
    expect_refused("dropout", [&] { return kg::dropout(x, rate, 1); }, {"rate"});
  expect_refused("dropout", [&] { return kg::dropout(x, 0.5, 1, kg::shape{2, 2}); }, {"noise", "[2, 2]"});
}

// ------------------------------------------------------------------------------------------ recurrent cells

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(basic_lstm_cell, is_what_its_gates_say) {
  const tensor kernel = uniform({3, 4}, 1), bias = uniform({4}, 2), data = uniform({2, 2}, 3), c = uniform({2, 1}, 4),
               h = uniform({2, 1}, 5);
  const auto next = kg::basic_lstm_cell(1, kernel, bias, data, c, h);
  const doubles k = kernel.to_doubles(), b = bias.to_doubles(), x = data.to_doubles();
  doubles wanted_c, wanted_h;
  for (std::size_t row = 0; row < 2; ++row) {
    double gate[4];
    for (std::size_t g = 0; g < 4; ++g)
      gate[g] = x[2 * row] * k[g] + x[2 * row + 1] * k[4 + g] + h.to_doubles()[row] * k[8 + g] + b[g];
    wanted_c.push_back(logistic(gate[0]) * std::tanh(gate[1]) + c.to_doubles()[row] * logistic(gate[2] + 1));
    wanted_h.push_back(std::tanh(wanted_c.back()) * logistic(gate[3]));
  }
  expect_values(next.c, {2, 1}, wanted_c);
  expect_values(next.h, {2, 1}, wanted_h);
}

TEST(basic_lstm_cell, refuses_parts_that_do_not_fit) {
  const auto call = [](const kg::shape& kernel, const kg::shape& bias, const kg::shape& data, const kg::shape& h) {
    return [=] {
      return kg::basic_lstm_cell(1, kg::zeros(kernel), kg::zeros(bias), kg::zeros(data), kg::zeros({2, 1}),
                                 kg::zeros(h))
          .c;
    };
  };
  expect_refused("basic_lstm_cell", call({3, 5}, {4}, {2, 2}, {2, 1}), {"operand kernel", "[3, 4]"});
  expect_refused("basic_lstm_cell", call({3, 4}, {3}, {2, 2}, {2, 1}), {"operand bias"});
  expect_refused("basic_lstm_cell", call({3, 4}, {4}, {3, 2}, {2, 1}), {"operand data", "batch"});
  expect_refused("basic_lstm_cell", call({3, 4}, {4}, {2, 2}, {2, 2}), {"operand h", "one shape"});
}

TEST(multi_rnn_cell, hands_each_output_to_the_next_cell) {
  const kg::rnn_cell twice = [](const tensor& data, const tensor& c, const tensor& h) {
    return kg::lstm_state{c + 1, data * 2 + h};
  };
  const std::vector<kg::rnn_cell> cells = {twice, twice};
  const std::vector<tensor> c = {tensor({1.0}), tensor({2.0})}, h = {tensor({10.0}), tensor({20.0})};
  const kg::rnn_states next = kg::multi_rnn_cell(cells, tensor({3.0}), c, h);
  expect_values(next.c[0], {1}, {2});
  expect_values(next.c[1], {1}, {3});
  expect_values(next.h[0], {1}, {16});
  expect_values(next.h[1], {1}, {52});
  const std::vector<tensor> one = {tensor({1.0})}, empty(2);
  expect_refused("multi_rnn_cell", [&] { return kg::multi_rnn_cell(cells, tensor({3.0}), one, h).c; },
                 {"2 cells, 1 c"});
  expect_refused("multi_rnn_cell", [&] { return kg::multi_rnn_cell(cells, tensor({3.0}), c, empty).c; }, {"h[0]"});
  expect_refused("multi_rnn_cell",
                 [&] { return kg::multi_rnn_cell(std::vector<kg::rnn_cell>(2), tensor({3.0}), c, h).c; }, {"cells[0]"});
}

TEST(composed_layers, are_differentiable) {
  check_gradients("conv1d", [](auto in) { return kg::conv1d(in[0], in[1], {.stride = 2, .pad = kg::same}); },
                  {uniform({1, 5, 2}, 1), uniform({3, 2, 2}, 2)});
  check_gradients("separable_conv2d", [](auto in) { return kg::separable_conv2d(in[0], in[1], in[2]); },
                  {uniform({3, 3, 2}, 1), uniform({2, 2, 2, 1}, 2), uniform({1, 1, 2, 2}, 3)});
  for (kg::pooling type : {kg::pooling::max, kg::pooling::avg})
    check_gradients("pool",
                    [&](auto in) { return kg::square(kg::pool(in[0], 2, type, {.pad = kg::same, .dilations = 2})); },
                    {uniform({3, 4, 1}, 4)});
  check_gradients("dropout", [](auto in) { return kg::square(kg::dropout(in[0], 0.5, 3)); }, {uniform({3, 4}, 5)});
  check_gradients("basic_lstm_cell",
                  [](auto in) {
                    const auto [c, h] = kg::basic_lstm_cell(0.5, in[0], in[1], in[2], in[3], in[4]);
                    return c * h;
                  },
                  {uniform({3, 4}, 1), uniform({4}, 2), uniform({2, 2}, 3), uniform({2, 1}, 4), uniform({2, 1}, 5)});
}

}  // namespace
