// SPDX-License-Identifier: Apache-2.0
// Attention and its gradient on every target and in the reference, against sums over all pairs in long double. The
// gradient's oracle is the difference of two values of sum(y * dy) in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "kernels/attention/attention.h"
#include "kernels/common/parallel.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::guarded;
namespace views = ranges::views;
using wide = long double;

template <class T>
run_fn forward(bool reference) {
  if constexpr (std::is_same_v<T, float>)
    return reference ? reference::ScaledDotProductAttention_float32 : ScaledDotProductAttention_float32;
  else return reference ? reference::ScaledDotProductAttention_float64 : ScaledDotProductAttention_float64;
}
template <class T>
run_fn backward(bool reference) {
  if constexpr (std::is_same_v<T, float>)
    return reference ? reference::ScaledDotProductAttentionGrad_float32 : ScaledDotProductAttentionGrad_float32;
  else return reference ? reference::ScaledDotProductAttentionGrad_float64 : ScaledDotProductAttentionGrad_float64;
}

struct sizes {
  std::int64_t heads, length, keys, numbers, out;
  bool causal = false, bias = false, seen = false;
};

attention_geometry geometry_of(const sizes& s) {
  attention_geometry g{};
  g.length = s.length, g.keys = s.keys, g.numbers = s.numbers, g.out = s.out;
  g.batch_rank = 1, g.batch_dims[0] = s.heads;
  g.scale = 0.7, g.causal = s.causal;
  g.query = {{s.length * s.numbers}, s.numbers, 1};
  g.key = {{0}, s.numbers, 1};  // one for all heads
  g.value = {{s.keys * s.out}, s.out, 1};
  g.bias = {{0}, s.keys, 1};
  g.seen = {{s.keys}, 0, 1};  // a row for each head
  return g;
}

std::size_t count(std::int64_t n) { return static_cast<std::size_t>(n); }

// Operands between guard pages.
template <class T>
struct operands {
  sizes of;
  attention_geometry g;
  guarded<T> query, key, value, bias;
  guarded<std::uint8_t> seen;

  operands(const sizes& s, edge side)
      : of(s),
        g(geometry_of(s)),
        query(count(s.heads * s.length * s.numbers), side),
        key(count(s.keys * s.numbers), side),
        value(count(s.heads * s.keys * s.out), side),
        bias(count(s.length * s.keys), side),
        seen(count(s.heads * s.keys), side) {
    std::mt19937 random(static_cast<unsigned>(s.length * 31 + s.keys));
    std::uniform_real_distribution<double> any(-1.5, 1.5);
    for (guarded<T>* all : {&query, &key, &value, &bias})
      for (T& x : *all) x = static_cast<T>(any(random));
    for (std::uint8_t& x : seen) x = random() % 4 == 0 ? 0 : 1;
    if (s.heads > 1 && s.seen) std::fill_n(seen.begin(), s.keys, std::uint8_t{0});  // the first head sees nothing
  }
  const T* bias_or_null() const { return of.bias ? bias.data() : nullptr; }
  const std::uint8_t* seen_or_null() const { return of.seen ? seen.data() : nullptr; }
  bool sees(std::int64_t head, std::int64_t i, std::int64_t j) const {
    return (!of.causal || j <= i) && (!of.seen || seen[count(head * of.keys + j)] != 0);
  }
};

// The definition in long double, of operands that may be changed.
struct defined {
  std::vector<wide> y, log_sum;
};
struct wide_operands {
  std::vector<wide> query, key, value;
  template <class T>
  explicit wide_operands(const operands<T>& from)
      : query(from.query.data(), from.query.data() + from.query.size()),
        key(from.key.data(), from.key.data() + from.key.size()),
        value(from.value.data(), from.value.data() + from.value.size()) {}
};
template <class T>
defined definition(const operands<T>& from, const wide_operands& x) {
  const sizes& s = from.of;
  defined d{std::vector<wide>(count(s.heads * s.length * s.out)), std::vector<wide>(count(s.heads * s.length))};
  for (const auto& [head, i] :
       views::cartesian_product(views::iota(std::int64_t{0}, s.heads), views::iota(std::int64_t{0}, s.length))) {
    wide total = 0;
    std::vector<wide> sums(count(s.out));
    for (std::int64_t j = 0; j < s.keys; ++j) {
      if (!from.sees(head, i, j)) continue;
      wide score = 0;
      for (std::int64_t e = 0; e < s.numbers; ++e)
        score += x.query[count((head * s.length + i) * s.numbers + e)] * x.key[count(j * s.numbers + e)];
      score = score * 0.7L + (s.bias ? wide{from.bias[count(i * s.keys + j)]} : 0);
      total += std::exp(score);
      for (std::int64_t c = 0; c < s.out; ++c)
        sums[count(c)] += std::exp(score) * x.value[count((head * s.keys + j) * s.out + c)];
    }
    const std::int64_t row = head * s.length + i;
    for (std::int64_t c = 0; c < s.out; ++c) d.y[count(row * s.out + c)] = total == 0 ? 0 : sums[count(c)] / total;
    d.log_sum[count(row)] = total == 0 ? std::numeric_limits<wide>::infinity() : std::log(total);
  }
  return d;
}

template <class T>
constexpr wide unit = std::numeric_limits<T>::epsilon();

template <class T>
void check_forward(const sizes& s, edge side, bool reference) {
  SCOPED_TRACE(::testing::Message() << s.heads << " heads, " << s.length << " x " << s.keys << ", " << s.numbers
                                    << " numbers, " << s.out << " of values");
  const operands<T> x(s, side);
  guarded<T> y(count(s.heads * s.length * s.out), side), log_sum(count(s.heads * s.length), side);
  const void* in[] = {x.query.data(), x.key.data(), x.value.data(), x.bias_or_null(), x.seen_or_null()};
  void* out[] = {y.data(), log_sum.data()};
  forward<T>(reference)(in, out, &x.g);
  const defined wanted = definition(x, wide_operands(x));
  const wide bound = unit<T> * (16 + 2 * static_cast<wide>(s.numbers) + static_cast<wide>(s.keys) / 8);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_LE(std::fabs(wanted.y[i] - wide{y[i]}), bound) << i;
  for (std::size_t i = 0; i < log_sum.size(); ++i) {
    if (std::isinf(wanted.log_sum[i])) ASSERT_EQ(log_sum[i], T{0}) << i;
    else ASSERT_LE(std::fabs(wanted.log_sum[i] - wide{log_sum[i]}), 4 * bound) << i;
  }
}

// Derivatives of sum(y * dy) by central differences, whose error is about 1e-12.
template <class T>
std::vector<wide> differences(const operands<T>& x, const guarded<T>& dy) {
  wide_operands at(x);
  const auto loss = [&] {
    const defined d = definition(x, at);
    wide sum = 0;
    for (std::size_t i = 0; i < dy.size(); ++i) sum += d.y[i] * wide{dy[i]};
    return sum;
  };
  constexpr wide step = 1e-5L;
  std::vector<wide> all;
  const sizes& s = x.of;
  const auto slope = [&](wide& here) {
    const wide kept = here;
    here = kept + step;
    const wide above = loss();
    here = kept - step;
    const wide below = loss();
    here = kept;
    return (above - below) / (2 * step);
  };
  for (wide& one : at.query) all.push_back(slope(one));
  // The kernel gives each head's part of the repeated key. Their sum is the derivative.
  for (wide& one : at.key) all.push_back(slope(one));
  for (wide& one : at.value) all.push_back(slope(one));
  EXPECT_EQ(all.size(), count(s.heads * s.length * s.numbers + s.keys * s.numbers + s.heads * s.keys * s.out));
  return all;
}

template <class T>
void check_backward(const sizes& s, edge side, bool reference) {
  SCOPED_TRACE(::testing::Message() << s.heads << " heads, " << s.length << " x " << s.keys);
  const operands<T> x(s, side);
  const std::size_t rows = count(s.heads * s.length), of_query = rows * count(s.numbers),
                    of_key = count(s.keys * s.numbers), of_value = count(s.heads * s.keys * s.out);
  guarded<T> dy(rows * count(s.out), side), log_sum(rows, side), delta(rows, side),
      dx(of_query + count(s.heads) * of_key + of_value, side);
  std::mt19937 random(7);
  for (T& one : dy) one = static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random));
  const defined d = definition(x, wide_operands(x));
  for (std::size_t row = 0; row < rows; ++row) {
    log_sum[row] = std::isinf(d.log_sum[row]) ? T{0} : static_cast<T>(d.log_sum[row]);
    wide sum = 0;
    for (std::size_t c = 0; c < count(s.out); ++c)
      sum += d.y[row * count(s.out) + c] * wide{dy[row * count(s.out) + c]};
    delta[row] = static_cast<T>(sum);
  }
  const void* in[] = {x.query.data(), x.key.data(), x.value.data(),   log_sum.data(),
                      delta.data(),   dy.data(),    x.bias_or_null(), x.seen_or_null()};
  void* out[] = {dx.data()};
  backward<T>(reference)(in, out, &x.g);
  const std::vector<wide> wanted = differences(x, dy);
  const wide bound = unit<T> * 64 * static_cast<wide>(s.length + s.keys) + 1e-9L;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wide got = 0;
    if (i < of_query) got = dx[i];
    else if (i >= of_query + of_key) got = dx[i + (count(s.heads) - 1) * of_key];
    else
      for (std::size_t head = 0; head < count(s.heads); ++head) got += dx[i + head * of_key];
    ASSERT_LE(std::fabs(wanted[i] - got), bound) << i << " of " << of_query << ", " << of_key << ", " << of_value;
  }
}

// Calls check(type) for the kernels of every target and the reference ones.
template <class Check>
void on_all(Check check) {
  kgtest::on_every_target([&](const char*) {
    check(float{}, false);
    check(double{}, false);
  });
  check(float{}, true);
  check(double{}, true);
}

TEST(attention_kernel, is_the_weighted_mean_of_values) {
  on_all([](auto type, bool reference) {
    using T = decltype(type);
    const sizes all[] = {{1, 1, 1, 1, 1},     {2, 3, 5, 4, 2},  {1, 17, 33, 8, 7},    {3, 130, 129, 5, 19},
                         {1, 40, 700, 16, 9}, {9, 2, 3, 33, 1}, {1, 600, 20, 64, 64}, {2, 5, 0, 3, 4}};
    for (sizes s : all)
      for (const int masks : {0, 1, 2, 4, 7}) {
        s.causal = (masks & 1) != 0, s.bias = (masks & 2) != 0, s.seen = (masks & 4) != 0;
        ASSERT_NO_FATAL_FAILURE(check_forward<T>(s, masks == 0 ? edge::begin : edge::end, reference));
      }
  });
}

TEST(attention_kernel, has_the_gradient_of_differences) {
  on_all([](auto type, bool reference) {
    using T = decltype(type);
    const sizes all[] = {{1, 1, 1, 1, 1}, {2, 3, 5, 4, 2}, {2, 7, 3, 2, 5}, {1, 3, 131, 2, 1}, {1, 131, 3, 1, 2}};
    for (sizes s : all)
      for (const int masks : {0, 1, 7}) {
        s.causal = (masks & 1) != 0, s.bias = (masks & 2) != 0, s.seen = (masks & 4) != 0;
        ASSERT_NO_FATAL_FAILURE(check_backward<T>(s, masks == 0 ? edge::begin : edge::end, reference));
      }
  });
}

// Runs chunks in their order and counts them.
std::size_t chunks_run = 0;
void count_chunks(std::size_t chunks, chunk_fn run, void* job) {
  chunks_run += chunks;
  for (std::size_t i = 0; i < chunks; ++i) run(job, i);
}

TEST(attention_kernel, cuts_the_gradient_of_few_heads_into_chunks_with_the_bits_of_one_thread) {
  kgtest::on_every_target([](const char*) {
    for (const sizes s :
         {sizes{1, 600, 300, 16, 9}, {1, 140, 520, 8, 24, true}, {2, 520, 200, 16, 16, true, true, true}}) {
      const operands<float> x(s, edge::end);
      const std::size_t rows = count(s.heads * s.length);
      std::vector<float> log_sum(rows, 5), delta(rows, 0.25F), dy(rows * count(s.out));
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i % 17) - 8;
      const auto gradient = [&](std::size_t threads) {
        std::vector<float> dx(rows * count(s.numbers) + count(s.heads * s.keys * (s.numbers + s.out)));
        const void* in[] = {x.query.data(), x.key.data(), x.value.data(),   log_sum.data(),
                            delta.data(),   dy.data(),    x.bias_or_null(), x.seen_or_null()};
        void* out[] = {dx.data()};
        const std::size_t before = threads_allowed();
        allow_threads(threads);
        use_pool(count_chunks);
        ScaledDotProductAttentionGrad_float32(in, out, &x.g);
        use_pool(nullptr);
        allow_threads(before);
        return dx;
      };
      const std::vector<float> one = gradient(1);
      chunks_run = 0;
      EXPECT_EQ(one, gradient(4)) << s.length << " x " << s.keys;
      EXPECT_GT(chunks_run, count(s.heads)) << s.length << " x " << s.keys;
    }
  });
}

// The greatest score moves from block to block, and scores of any size are shifted.
TEST(attention_kernel, takes_scores_that_grow_and_are_large) {
  on_all([](auto type, bool reference) {
    using T = decltype(type);
    constexpr std::int64_t keys = 1000;
    attention_geometry g = geometry_of({1, 2, keys, 1, 1});
    g.scale = 1;
    std::vector<T> query = {1, -1}, key, value;
    for (std::int64_t j = 0; j < keys; ++j) key.push_back(static_cast<T>(j)), value.push_back(static_cast<T>(j));
    T y[2], log_sum[2];
    const void* in[] = {query.data(), key.data(), value.data(), nullptr, nullptr};
    void* out[] = {y, log_sum};
    forward<T>(reference)(in, out, &g);
    const double mean = 1 / (std::exp(1.0) - 1);  // of a geometric distribution
    EXPECT_NEAR(y[0], 999 - mean, 1e-3);
    EXPECT_NEAR(y[1], mean, 1e-5);
    EXPECT_NEAR(log_sum[0], 999 - std::log1p(-std::exp(-1.0)), 1e-3);
  });
}

TEST(attention_kernel, has_nan_where_softmax_has) {
  on_all([](auto type, bool reference) {
    using T = decltype(type);
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    // Scores of the queries: a NaN, infinity, -infinity alone, -infinity next to others.
    const std::vector<T> query(4, T{0}), key(3, T{1}), value = {1, 2, 4};
    const std::vector<T> bias = {0, nan, 0, infinity, 0, 0, -infinity, -infinity, -infinity, -infinity, 0, 0};
    const attention_geometry g = geometry_of({1, 4, 3, 1, 1, false, true});
    T y[4], log_sum[4];
    const void* in[] = {query.data(), key.data(), value.data(), bias.data(), nullptr};
    void* out[] = {y, log_sum};
    forward<T>(reference)(in, out, &g);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i])) << i << ": " << y[i];
    EXPECT_EQ(y[3], T{3});
  });
}

}  // namespace
