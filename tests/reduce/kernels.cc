// SPDX-License-Identifier: Apache-2.0
// The reductions on every target and their references, against a walk over the indices in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/reduce/reduce.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::guarded;
namespace views = ranges::views;

template <std::size_t N>
run_fn find(const entry (&table)[N], const std::string& op, dtype type) {
  for (const entry& e : table) {
    if (op == e.op && type == e.type) return e.run;
  }
  return nullptr;
}

template <class T>
struct result {
  long double value;      // of a float kernel
  std::uint64_t integer;  // of an integer kernel, modulo its width
  long double magnitude;  // what the error of a float result is measured by
};

template <class T>
result<T> oracle(const std::string& op, dtype type, const T* x, std::int64_t count, std::int64_t step) {
  using limits = std::numeric_limits<T>;
  const bool arg = op == "ArgMax" || op == "ArgMin";
  const bool greatest = op == "Max" || op == "NanMax" || op == "ArgMax" || op == "Any";
  long double sum = 0, product = 1, magnitude = 0, best = 0;
  std::uint64_t wrapped_sum = 0, wrapped_product = 1;
  std::int64_t place = 0;
  bool nan = false;
  best = greatest ? static_cast<long double>(limits::lowest()) : static_cast<long double>(limits::max());
  if (limits::has_infinity) best = greatest ? -limits::infinity() : limits::infinity();
  if (type == dtype::boolean) best = greatest ? 0 : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const long double v = x[i * step];
    sum += v;
    product *= v;
    magnitude += std::fabs(v);
    if constexpr (std::is_integral_v<T>) {
      wrapped_sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(x[i * step]));
      wrapped_product *= static_cast<std::uint64_t>(static_cast<std::int64_t>(x[i * step]));
    }
    nan = nan || std::isnan(v);
    const long double at = x[place * step];
    if (greatest ? v > at : v < at) place = i;
    if (greatest ? v > best : v < best) best = v;
  }
  if (arg) return {0, static_cast<std::uint64_t>(place), 0};
  if (op == "Sum") return {sum, wrapped_sum, magnitude};
  if (op == "Mean") return {sum / count, 0, magnitude / count};
  if (op == "Prod") return {product, wrapped_product, std::fabs(product)};
  if (nan && !op.starts_with("Nan")) best = std::nanl("");
  return {best, static_cast<std::uint64_t>(static_cast<std::int64_t>(nan ? 0 : limits::has_infinity ? 0 : best)), 0};
}

// Steps a float result may be off: 16 units of the magnitude for sums, one per factor for products.
template <class T>
long double allowed(const std::string& op, const result<T>& want, std::int64_t count) {
  const long double eps = std::numeric_limits<T>::epsilon();
  return (op == "Prod" ? static_cast<long double>(count) : 16) * eps * want.magnitude;
}

template <class T, class Y>
void compare(const std::string& op, dtype type, const T* x, const Y* y, const reduce_geometry& g) {
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
    const auto want = oracle<T>(op, type, x + i / g.inner * g.count * g.inner + i % g.inner, g.count, g.inner);
    SCOPED_TRACE(op + " of " + std::to_string(g.outer) + "x" + std::to_string(g.count) + "x" + std::to_string(g.inner) +
                 " at " + std::to_string(i));
    if constexpr (std::is_floating_point_v<Y>) {
      if (std::isnan(want.value)) {
        ASSERT_TRUE(std::isnan(y[i]));
      } else if (std::isinf(want.value)) {
        ASSERT_EQ(want.value, static_cast<long double>(y[i]));
      } else {
        ASSERT_NEAR(static_cast<double>(want.value), static_cast<double>(y[i]),
                    static_cast<double>(allowed(op, want, g.count)));
      }
    } else {
      ASSERT_EQ(static_cast<Y>(want.integer), y[i]);
    }
  }
}

template <class T>
T draw(std::minstd_rand& random, const std::string& op, dtype type) {
  if (type == dtype::boolean) return static_cast<T>(random() % 8 != 0);
  if constexpr (!std::is_arithmetic_v<T>) {
    using part = typename T::value_type;
    return {draw<part>(random, op, type), draw<part>(random, op, type)};
  } else if constexpr (std::is_floating_point_v<T>) {
    const double near_one = 1.0 + static_cast<double>(random() % 1000) / 4000.0;
    if (op == "Prod") return static_cast<T>(random() % 2 == 0 ? near_one : 1.0 / near_one);
    if (op.substr(0, 3) == "Arg") return static_cast<T>(static_cast<int>(random() % 64) - 32);
    return static_cast<T>(static_cast<int>(random() % 20001) - 7000) / 1024;
  } else {
    return static_cast<T>(op == "Prod" ? random() | 1 : (std::uint64_t{random()} << 32) | random());
  }
}

template <class T, class Y>
void check(run_fn run, const std::string& op, dtype type, const reduce_geometry& g, edge side, std::size_t shift,
           double nan_share = 0) {
  std::minstd_rand random(static_cast<unsigned>(g.outer * 7919 + g.count * 31 + g.inner));
  guarded<T> x(static_cast<std::size_t>(g.outer * g.count * g.inner) + shift, side);
  guarded<Y> y(static_cast<std::size_t>(g.outer * g.inner) + shift, side);
  const std::size_t skip = side == edge::begin ? shift : 0;
  for (T& v : x) v = draw<T>(random, op, type);
  if constexpr (std::is_floating_point_v<T>) {
    for (T& v : x) {
      if (random() % 1000 < nan_share * 1000) v = std::numeric_limits<T>::quiet_NaN();
    }
  }
  const void* in[] = {x.data() + skip};
  void* out[] = {y.data() + skip};
  run(in, out, &g);
  compare<T, Y>(op, type, x.data() + skip, y.data() + skip, g);
}

template <class T>
void check_entry(run_fn run, const std::string& op, dtype type) {
  const auto one = [&](const reduce_geometry& g, double nan_share = 0) {
    for (const edge side : {edge::begin, edge::end}) {
      const std::size_t shift = side == edge::begin ? 1 : 0;
      if (op.substr(0, 3) == "Arg") {
        check<T, std::int32_t>(run, op, type, g, side, shift, nan_share);
      } else if (op == "Sum" && type == dtype::uint8) {
        check<T, std::int64_t>(run, op, type, g, side, shift);
      } else {
        check<T, T>(run, op, type, g, side, shift, nan_share);
      }
    }
  };
  const std::int64_t lengths = 4 * 64 / static_cast<std::int64_t>(sizeof(T)) + 3;
  for (std::int64_t n = 0; n <= lengths; ++n) one({1 + n % 2, n, 1});
  for (const std::int64_t n : {4095, 4097, 13001}) one({1, n, 1});
  constexpr std::int64_t inners[] = {0, 2, 3, 15, 16, 17, 33, 259}, counts[] = {0, 1, 2, 9};
  for (const auto& [inner, n] : views::cartesian_product(inners, counts)) one({2, n, inner});
  for (const std::int64_t inner : {2, 15, 33}) one({1, 130, inner});
  one({1, 1100, 3});
  one({1, 300, 17});
  one({0, 5, 5});
  if (op == "Prod" || !std::is_floating_point_v<T>) return;
  one({1, 5000, 1}, 0.001);
  for (const std::int64_t n : {3, 40, 150}) {
    one({3, n, 1}, 0.3);
    one({1, n, 5}, 0.3);
    one({1, n, 40}, 0.3);
  }
}

void check_any(run_fn run, const entry& e) {
  visit(e.type, [&](auto is) {
    using T = storage_t<decltype(is)::value>;
    if constexpr (std::is_arithmetic_v<T>) check_entry<T>(run, e.op, e.type);  // complex64 has its own test
  });
}

TEST(kernels_reduce, every_reduction_matches_the_definition_on_every_target) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : reduce_simd) {
      check_any(e.run, e);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(kernels_reduce, every_reference_matches_the_definition) {
  for (const entry& e : reduce_simd) {
    const run_fn run = find(reference::reduce_reference, e.op, e.type);
    ASSERT_NE(run, nullptr) << e.op;
    check_any(run, e);
  }
}

// Sums that 16 and 32 bits do not hold, by one row and by columns that are narrow, wide and more than a strip.
TEST(kernels_reduce, a_sum_of_bytes_loses_nothing) {
  kgtest::on_every_target([](const char*) {
    for (const reduce_geometry g : {reduce_geometry{1, 17000000, 1}, {1, 9000000, 2}, {1, 1000, 40}, {1, 70000, 700}}) {
      std::vector<std::uint8_t> x(static_cast<std::size_t>(g.count * g.inner), 255);
      std::vector<std::int64_t> y(static_cast<std::size_t>(g.inner));
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      Sum_uint8(in, out, &g);
      for (const std::int64_t sum : y) ASSERT_EQ(sum, 255 * g.count);
    }
  });
}

TEST(kernels_reduce, a_complex_sum_adds_real_and_imaginary_parts) {
  kgtest::on_every_target([](const char*) {
    const run_fn kernels[] = {&Sum_complex64, &reference::Sum_complex64};
    constexpr std::int64_t inners[] = {1, 2, 9};
    for (const auto& [run, inner] : views::cartesian_product(kernels, inners)) {
      const reduce_geometry g{2, 300, inner};
      guarded<float> x(static_cast<std::size_t>(g.outer * g.count * inner * 2));
      guarded<float> y(static_cast<std::size_t>(g.outer * inner * 2));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 100) - 30;
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      run(in, out, &g);
      compare<float, float>("Sum", dtype::float32, x.data(), y.data(), {g.outer, g.count, 2 * inner});
    }
  });
}

// At every offset of the operand within a cache line, the result at other ones: the bits of the first.
template <class T, class Y>
void same_at_every_offset(const entry& e, const reduce_geometry& g) {
  constexpr std::size_t offsets = 64 / sizeof(T);
  const auto results = static_cast<std::size_t>(g.outer * g.inner);
  std::minstd_rand random(7);
  std::vector<T> values(static_cast<std::size_t>(g.outer * g.count * g.inner));
  for (T& v : values) v = draw<T>(random, e.op, e.type);
  std::vector<Y> first;
  for (std::size_t shift = 0; shift < offsets; ++shift) {
    std::vector<T> x(values.size() + offsets);
    std::vector<Y> y(results + offsets);
    std::copy(values.begin(), values.end(), x.begin() + static_cast<std::ptrdiff_t>(shift));
    const void* in[] = {x.data() + shift};
    Y* to = y.data() + 3 * shift % offsets;
    void* out[] = {to};
    e.run(in, out, &g);
    if (shift == 0) first.assign(to, to + results);
    ASSERT_EQ(std::memcmp(first.data(), to, results * sizeof(Y)), 0) << e.op << ", offset " << shift;
  }
}

template <class T>
void same_at_every_offset(const entry& e) {
  for (const reduce_geometry g : {reduce_geometry{1, 9001, 1}, {3, 901, 1}, {1, 901, 3}, {2, 200, 37}}) {
    const std::string_view op = e.op;
    if (op.starts_with("Arg")) same_at_every_offset<T, std::int32_t>(e, g);
    else if (op == "Sum" && e.type == dtype::uint8) same_at_every_offset<T, std::int64_t>(e, g);
    else same_at_every_offset<T, T>(e, g);
  }
}

TEST(kernels_reduce, no_result_depends_on_the_alignment) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : reduce_simd) {
      visit(e.type, [&](auto is) {
        using T = storage_t<decltype(is)::value>;
        if constexpr (std::is_arithmetic_v<T>) {
          same_at_every_offset<T>(e);
        } else if constexpr (parts_of<T>::count == 2) {
          using pair = std::complex<typename parts_of<T>::type>;
          same_at_every_offset<pair, pair>(e, {2, 900, 3});
        }
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(kernels_reduce, a_long_float_sum_keeps_a_small_error) {
  kgtest::on_every_target([](const char*) {
    for (const reduce_geometry g : {reduce_geometry{1, 4000000, 1}, {1, 1000000, 4}, {1, 200000, 20}}) {
      std::vector<float> x(static_cast<std::size_t>(g.count * g.inner), 0.1f), y(static_cast<std::size_t>(g.inner));
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      Mean_float32(in, out, &g);
      for (const float mean : y) ASSERT_NEAR(mean, 0.1f, 0.1 * 1e-5);
    }
  });
}

TEST(kernels_reduce, the_first_of_equal_values_is_the_answer_and_a_leading_nan_wins) {
  kgtest::on_every_target([](const char*) {
    for (const run_fn run : {&ArgMax_float32, &reference::ArgMax_float32}) {
      std::vector<float> x(5000, 1.0f);
      const reduce_geometry g{1, 5000, 1};
      std::int32_t place = -1;
      const void* in[] = {x.data()};
      void* out[] = {&place};
      run(in, out, &g);
      ASSERT_EQ(place, 0);
      x[4321] = x[4400] = 2.0f;
      run(in, out, &g);
      ASSERT_EQ(place, 4321);
      x[0] = std::nanf("");
      run(in, out, &g);
      ASSERT_EQ(place, 0);
    }
  });
}
}  // namespace
