// SPDX-License-Identifier: Apache-2.0
// Softmax and its relatives on every target and their references, against the definition in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/softmax/softmax.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::guarded;
namespace views = ranges::views;

constexpr long double infinity = std::numeric_limits<long double>::infinity();

// log(sum(exp(x))) of one line; the shift is a device of the oracle to stay in range.
template <class T>
long double log_sum_exp(const T* x, std::int64_t count, std::int64_t step) {
  long double m = -infinity, sum = 0;
  for (std::int64_t i = 0; i < count; ++i) m = std::max<long double>(m, x[i * step]);
  if (std::isinf(m)) m = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(static_cast<long double>(x[i * step]) - m);
  return m + std::log(sum);
}

template <class T>
void expect_near(long double want, T got, long double error) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << got;
  } else if (std::isinf(want)) {
    ASSERT_EQ(want, static_cast<long double>(got));
  } else {
    ASSERT_LE(std::fabs(want - static_cast<long double>(got)), error) << "want " << want << " got " << got;
  }
}

template <class T>
void compare(const std::string& op, const T* x, const T* labels, const T* y, const reduce_geometry& g) {
  const long double eps = std::numeric_limits<T>::epsilon(), least = std::numeric_limits<T>::min();
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    const std::int64_t first = n / g.inner * g.count * g.inner + n % g.inner;
    const long double whole = log_sum_exp(x + first, g.count, g.inner);
    if (op == "LogSumExp") {
      ASSERT_NO_FATAL_FAILURE(expect_near(whole, y[n], 8 * eps * (std::fabs(whole) + 2)));
      continue;
    }
    long double loss = 0, magnitude = 0;
    for (std::int64_t i = 0; i < g.count; ++i) {
      const std::int64_t at = first + i * g.inner;
      const long double v = static_cast<long double>(x[at]);
      // The shifted definition: a class +inf leaves no finite share to the others.
      const long double value = whole == infinity ? std::nanl("") : v - whole;
      const long double size = std::isinf(v) ? 0 : std::fabs(v) + std::fabs(whole) + 4;
      if (op == "Softmax") {
        ASSERT_NO_FATAL_FAILURE(expect_near(std::exp(value), y[at], 4 * eps * size * std::exp(value) + least));
      } else if (op == "LogSoftmax") {
        ASSERT_NO_FATAL_FAILURE(expect_near(value, y[at], 4 * eps * size));
      } else {
        loss -= labels[at] * value;
        magnitude += std::fabs(labels[at]) * size;
      }
    }
    if (op == "SoftmaxCrossEntropy") ASSERT_NO_FATAL_FAILURE(expect_near(loss, y[n], 8 * eps * magnitude));
  }
}

template <class T>
void check(run_fn run, const std::string& op, const reduce_geometry& g, edge side, double special = 0) {
  std::mt19937 random(static_cast<unsigned>(g.count * 31 + g.inner));
  const std::size_t n = static_cast<std::size_t>(g.outer * g.count * g.inner);
  const bool reduced = op == "LogSumExp" || op == "SoftmaxCrossEntropy";
  guarded<T> x(n, side), labels(n, side), y(reduced ? static_cast<std::size_t>(g.outer * g.inner) : n, side);
  const T specials[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity()};
  for (T& v : x) v = static_cast<T>(random() % 20000) / 512 - 15;
  for (T& v : labels) v = static_cast<T>(random() % 100) / 100;
  for (T& v : x) {
    if (random() % 1000 < special * 1000) v = specials[random() % 3];
  }
  const void* in[] = {x.data(), labels.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  SCOPED_TRACE(op + " of " + std::to_string(g.outer) + "x" + std::to_string(g.count) + "x" + std::to_string(g.inner));
  compare<T>(op, x.data(), labels.data(), y.data(), g);
}

template <class T>
void check_entry(run_fn run, const std::string& op) {
  const auto one = [&](const reduce_geometry& g, double special = 0) {
    for (const edge side : {edge::begin, edge::end}) check<T>(run, op, g, side, special);
  };
  for (std::int64_t n = 0; n <= 4 * 64 / static_cast<std::int64_t>(sizeof(T)) + 3; ++n) one({2, n, 1});
  for (const std::int64_t n : {1000, 4097, 9000}) one({1, n, 1});
  for (const std::int64_t n : {1, 3, 20, 100}) one({30, n, 1}, 0.05);
  one({0, 4, 1});
  one({150, 9, 1}, 0.02);  // more rows than share their logarithms
  if (op == "SoftmaxCrossEntropy") return;
  for (const std::int64_t inner : {0, 2, 3, 7, 16, 17, 37}) {
    for (const std::int64_t n : {1, 2, 10}) one({2, n, inner});
    one({2, 6, inner}, 0.05);
  }
  one({1, 3, 1100}, 0.01);  // more columns than a strip holds
  one({1, 4100, 2});        // more rows than a block of a sum
  if (op == "LogSumExp") one({2, 0, 5});
}

template <std::size_t N>
void check_table(const entry (&table)[N]) {
  for (const entry& e : table) {
    if (e.type == dtype::float32) check_entry<float>(e.run, e.op);
    if (e.type == dtype::float64) check_entry<double>(e.run, e.op);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(kernels_softmax, every_kernel_matches_the_definition_on_every_target) {
  kgtest::on_every_target([](const char*) { check_table(softmax_simd); });
}

TEST(kernels_softmax, every_reference_matches_the_definition) { check_table(reference::softmax_reference); }

TEST(kernels_softmax, infinities_and_nan_follow_the_definition) {
  const float inf = std::numeric_limits<float>::infinity();
  kgtest::on_every_target([inf](const char*) {
    constexpr std::int64_t counts[] = {3, 40}, inners[] = {1, 4};
    for (const auto& [count, inner] : views::cartesian_product(counts, inners)) {
      std::vector<float> x(static_cast<std::size_t>(count * inner)), y(x.size());
      const reduce_geometry g{1, count, inner};
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      std::fill(x.begin(), x.end(), -inf);
      Softmax_float32(in, out, &g);
      for (const float v : y) ASSERT_TRUE(std::isnan(v));
      LogSumExp_float32(in, out, &g);
      ASSERT_EQ(y[0], -inf);
      x[0] = inf;
      LogSumExp_float32(in, out, &g);
      ASSERT_EQ(y[0], inf);
      Softmax_float32(in, out, &g);
      ASSERT_TRUE(std::isnan(y[0]));
      x[0] = std::nanf("");
      LogSumExp_float32(in, out, &g);
      ASSERT_TRUE(std::isnan(y[0]));
      x[0] = 1.0f;
      Softmax_float32(in, out, &g);
      ASSERT_EQ(y[0], 1.0f);
      ASSERT_EQ(y[static_cast<std::size_t>(inner)], 0.0f);
    }
  });
}

TEST(kernels_softmax, a_row_may_be_replaced_by_its_result) {
  kgtest::on_every_target([](const char*) {
    for (const reduce_geometry g : {reduce_geometry{3, 50, 1}, {3, 7, 1}, {2, 5, 21}}) {
      std::vector<float> x(static_cast<std::size_t>(g.outer * g.count * g.inner)), y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 11);
      for (const run_fn run : {&Softmax_float32, &LogSoftmax_float32}) {
        std::vector<float> same = x;
        const void* in[] = {x.data()};
        void* out[] = {y.data()};
        run(in, out, &g);
        const void* in_place[] = {same.data()};
        void* out_place[] = {same.data()};
        run(in_place, out_place, &g);
        ASSERT_EQ(same, y);
      }
    }
  });
}
}  // namespace
