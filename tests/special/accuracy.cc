// SPDX-License-Identifier: Apache-2.0
// Accuracy of the special functions against MPFR on every target, and their special values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/special/accuracy.h"
#include "kernels/special/functions.h"
#include "kernels/special/pairs.h"
#include "tools/accuracy/special.h"
#include "tests/support/full.h"
#include "tests/support/kernels.h"
#include "tools/accuracy/oracle.h"

namespace {

using kerngrad::dtype;
using kerngrad::kernels::entry;
using kerngrad::kernels::special_bound;
using kgspecial::number;

template <class T>
constexpr dtype type_of = std::is_same_v<T, float> ? dtype::float32 : dtype::float64;

template <class T, std::size_t N>
const entry& kernel(const entry (&table)[N], std::string_view op) {
  for (const entry& row : table)
    if (op == row.op && row.type == type_of<T>) return row;
  ADD_FAILURE() << "no kernel " << op;
  return table[0];
}

std::size_t count_of_points() { return kgtest::full() ? 20000 : 1500; }

// Operands of a domain: half of them evenly spaced in the part near 0, half with random exponents.
template <class T>
std::vector<T> operands(double least, double most, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<T> x;
  const double near_least = std::max(least, -20.0), near_most = std::min(most, 20.0);
  for (std::size_t i = 0; x.size() < count; ++i) {
    double v = near_least + (near_most - near_least) * unit(draw);
    if (i % 2 == 1) {
      const double end = unit(draw) * (most - least) + least < 0 ? least : most;
      v = std::copysign(std::exp2(std::log2(std::fabs(end)) * unit(draw)), end);
      if (i % 4 == 1) v = std::copysign(std::exp2(std::log2(std::fabs(end)) - 30 * unit(draw)), end);
    }
    const T rounded = static_cast<T>(v);
    if (rounded > least && rounded < most && rounded != 0) x.push_back(rounded);
  }
  return x;
}

// Prints the measured errors from which the bounds are taken: KERNGRAD_SHOW=1.
template <class T>
void hold(const std::string& what, const std::vector<T>& y, const std::vector<long double>& exact, double bound,
          const char* target, const std::function<std::string(std::size_t)>& at) {
  double worst = 0;
  std::size_t place = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = kgaccuracy::distance(y[i], exact[i]);
    if (error > worst) worst = error, place = i;
  }
  if (std::getenv("KERNGRAD_SHOW"))
    std::printf("%-16s f%zu %-7s %8.3f at %s\n", what.c_str(), 8 * sizeof(T), target, worst, at(place).c_str());
  EXPECT_LE(worst, bound) << what << " of " << at(place) << " = " << y[place];
}

std::string text(double x) {
  char all[40];
  std::snprintf(all, sizeof all, "%.17g", x);
  return all;
}

template <class T>
void check_function(const special_bound& b) {
  constexpr bool narrow = std::is_same_v<T, float>;
  const std::vector<T> x = operands<T>(narrow ? b.least_float32 : b.least_float64,
                                       narrow ? b.most_float32 : b.most_float64, count_of_points(), 1);
  std::vector<T> y(x.size());
  std::vector<long double> exact;
  for (const T v : x) exact.push_back(kgspecial::exact(b.op, number(v)).rounded());
  const entry& k = kernel<T>(kerngrad::kernels::function_simd, b.op);
  kgtest::on_every_target([&](const char* target) {
    k.flat1(x.data(), y.data(), x.size());
    hold<T>(b.op, y, exact, narrow ? b.ulp_float32 : b.ulp_float64, target,
            [&](std::size_t i) { return text(static_cast<double>(x[i])); });
  });
}

class special_function : public ::testing::TestWithParam<special_bound> {};
TEST_P(special_function, of_float32_holds_its_bound_on_every_target) { check_function<float>(GetParam()); }
TEST_P(special_function, of_float64_holds_its_bound_on_every_target) { check_function<double>(GetParam()); }
INSTANTIATE_TEST_SUITE_P(special, special_function, ::testing::ValuesIn(kerngrad::kernels::special_accuracy),
                         [](const auto& info) { return std::string(info.param.op); });

template <class T>
void check_polygamma(int n, double most, double bound) {
  std::vector<T> x = operands<T>(0, most, count_of_points() / 4, 2), y;
  std::vector<long double> exact;
  for (const T v : x) exact.push_back(kgspecial::polygamma(n, number(v)).rounded());
  y.resize(x.size());
  const entry& k = kernel<T>(kerngrad::kernels::order_simd, "Polygamma");
  const kerngrad::kernels::unary_geometry g{static_cast<std::int64_t>(x.size()), {static_cast<double>(n), 0}};
  kgtest::on_every_target([&](const char* target) {
    const void* in[] = {x.data()};
    void* out[] = {y.data()};
    k.run(in, out, &g);
    hold<T>("Polygamma " + std::to_string(n), y, exact, bound, target,
            [&](std::size_t i) { return text(static_cast<double>(x[i])); });
  });
}
TEST(polygamma, of_float32_is_right_to_1_ulp_for_positive_operands) {
  for (const int n : {1, 2, 3, 4, 20}) check_polygamma<float>(n, 1e30, 1);
}
TEST(polygamma, of_float64_is_right_to_8_ulp_for_positive_operands) {
  for (const int n : {1, 2, 3, 4}) check_polygamma<double>(n, 1e300, 8);
}
// The power of the operand leaves the range long before the result does.
TEST(polygamma, of_high_orders_of_float64_is_right_to_80_ulp) {
  for (const int n : {5, 10, 50, 80, 99, 100}) check_polygamma<double>(n, 1e6, 80);
}

// Pairs of operands from a range of exponents, which keeps the results finite and above 0.
template <class T>
void check_pair(const char* op, double least, double most, double bound,
                const std::function<number(const number&, const number&)>& oracle) {
  std::mt19937_64 draw(3);
  std::uniform_real_distribution<double> exponent(std::log2(least), std::log2(most)), unit(0, 1);
  std::vector<T> a, b, y;
  std::vector<long double> exact;
  while (a.size() < count_of_points() / 3) {
    const T p = static_cast<T>(std::exp2(exponent(draw)));
    // Half of the second operands are near the first one, where incomplete functions pass from 0 to 1.
    const T q = static_cast<T>(a.size() % 2 ? std::exp2(exponent(draw)) : static_cast<double>(p) * (2 * unit(draw)));
    if (!(q > 0)) continue;
    const long double value = oracle(number(p), number(q)).rounded();
    if (!(value > std::numeric_limits<T>::min())) continue;
    a.push_back(p), b.push_back(q), exact.push_back(value);
  }
  y.resize(a.size());
  const entry& k = kernel<T>(kerngrad::kernels::pair_simd, op);
  kgtest::on_every_target([&](const char* target) {
    k.flat2(a.data(), b.data(), y.data(), a.size());
    hold<T>(op, y, exact, bound, target,
            [&](std::size_t i) { return text(static_cast<double>(a[i])) + ", " + text(static_cast<double>(b[i])); });
  });
}
number lower(const number& a, const number& x) { return kgspecial::gammainc(a, x, false); }
number upper(const number& a, const number& x) { return kgspecial::gammainc(a, x, true); }
TEST(beta, of_float32_is_right_to_1_ulp) { check_pair<float>("Beta", 1e-10, 100, 1, kgspecial::beta); }
TEST(beta, of_float64_is_right_to_8_ulp) { check_pair<double>("Beta", 1e-10, 1000, 8, kgspecial::beta); }
TEST(gammainc, of_float32_is_right_to_1_ulp) { check_pair<float>("Gammainc", 1e-3, 100, 1, lower); }
TEST(gammainc, of_float64_is_right_to_8_ulp_up_to_200) { check_pair<double>("Gammainc", 1e-3, 200, 8, lower); }
TEST(gammainc, of_float64_is_right_to_24_ulp_up_to_2000) { check_pair<double>("Gammainc", 1e-3, 2000, 24, lower); }
TEST(gammaincc, of_float32_is_right_to_1_ulp) { check_pair<float>("Gammaincc", 1e-3, 100, 1, upper); }
TEST(gammaincc, of_float64_is_right_to_8_ulp_from_half_to_200) { check_pair<double>("Gammaincc", 0.5, 200, 8, upper); }
TEST(gammaincc, of_float64_is_right_to_16_ulp_from_0_to_2000) {
  check_pair<double>("Gammaincc", 1e-3, 2000, 16, upper);
}

template <class T>
void check_betainc(double least, double most, double bound, double most_x = 1) {
  std::mt19937_64 draw(4);
  std::uniform_real_distribution<double> exponent(std::log2(least), std::log2(most)), unit(0, 1);
  std::vector<T> a, b, x, y;
  std::vector<long double> exact;
  while (a.size() < count_of_points() / 3) {
    const T p = static_cast<T>(std::exp2(exponent(draw))), q = static_cast<T>(std::exp2(exponent(draw)));
    const T at = static_cast<T>(most_x * unit(draw));
    const long double value = kgspecial::betainc(number(p), number(q), number(at)).rounded();
    if (!(value > std::numeric_limits<T>::min())) continue;
    a.push_back(p), b.push_back(q), x.push_back(at), exact.push_back(value);
  }
  y.resize(a.size());
  const entry& k = kernel<T>(kerngrad::kernels::triple_simd, "Betainc");
  const kerngrad::kernels::broadcast_geometry g{1, {static_cast<std::int64_t>(a.size())}, {{1}, {1}, {1}}};
  kgtest::on_every_target([&](const char* target) {
    const void* in[] = {a.data(), b.data(), x.data()};
    void* out[] = {y.data()};
    k.run(in, out, &g);
    hold<T>("Betainc", y, exact, bound, target, [&](std::size_t i) {
      return text(static_cast<double>(a[i])) + ", " + text(static_cast<double>(b[i])) + ", " +
             text(static_cast<double>(x[i]));
    });
  });
}
TEST(betainc, of_float32_is_right_to_1_ulp) { check_betainc<float>(0.1, 100, 1); }
TEST(betainc, of_float64_is_right_to_8_ulp_from_half_to_200) { check_betainc<double>(0.5, 200, 8); }
TEST(betainc, of_float64_is_right_to_16_ulp_from_a_tenth_to_2000) { check_betainc<double>(0.1, 2000, 16); }

TEST(betainc, of_float64_is_right_to_128_ulp_for_small_parameters) {
  check_betainc<double>(1e-10, 2000, 128, 1 - 0x1p-11);
}
// The slow fraction would take millions of terms, and the complement is exact to its own digits.
TEST(betainc, near_1_has_the_error_of_the_larger_of_result_and_complement) {
  const entry& k = kernel<double>(kerngrad::kernels::triple_simd, "Betainc");
  const kerngrad::kernels::broadcast_geometry g{1, {1}, {{1}, {1}, {1}}};
  for (const double b : {0.05, 0.008, 1e-3, 1e-6})
    for (const double rest : {0x1p-13, 0x1p-24, 0x1p-40, 0x1p-52}) {
      const double a = 0.28, x = 1 - rest;
      double y = -7;
      const void* in[] = {&a, &b, &x};
      void* out[] = {&y};
      k.run(in, out, &g);
      const long double exact = kgspecial::betainc(number(a), number(b), number(x)).rounded();
      EXPECT_NEAR(y, static_cast<double>(exact), 0x1p-49) << b << ", " << rest;
    }
}

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
struct special_value {
  const char* op;
  double x, y;
};
constexpr special_value specials[] = {
    {"Lgamma", 0.0, inf},     {"Lgamma", -0.0, inf},    {"Lgamma", 1, 0},         {"Lgamma", 2, 0},
    {"Lgamma", -3, inf},      {"Lgamma", inf, inf},     {"Lgamma", -inf, inf},    {"Digamma", 0.0, -inf},
    {"Digamma", -0.0, inf},   {"Digamma", -2, nan},     {"Digamma", inf, inf},    {"Digamma", -inf, nan},
    {"Erfinv", 0.0, 0.0},     {"Erfinv", -0.0, -0.0},   {"Erfinv", 1, inf},       {"Erfinv", -1, -inf},
    {"Erfinv", 1.5, nan},     {"Erfinv", -2, nan},      {"Erfinv", inf, nan},     {"Expi", 0.0, -inf},
    {"Expi", -0.0, -inf},     {"Expi", inf, inf},       {"Expi", -inf, -0.0},     {"BesselI0", 0.0, 1},
    {"BesselI0", -inf, inf},  {"BesselI0", inf, inf},   {"BesselI1", 0.0, 0.0},   {"BesselI1", -0.0, -0.0},
    {"BesselI1", inf, inf},   {"BesselI1", -inf, -inf}, {"BesselJ0", 0.0, 1},     {"BesselJ0", inf, 0.0},
    {"BesselJ0", -inf, 0.0},  {"BesselJ1", 0.0, 0.0},   {"BesselJ1", -0.0, -0.0}, {"BesselJ1", inf, 0.0},
    {"BesselJ1", -inf, -0.0},
};

template <class T>
void check_specials() {
  kgtest::on_every_target([&](const char*) {
    const auto check = [&](const char* op, T x, T wanted) {
      // The value is in every lane of some vectors, among ordinary ones, and in a tail.
      for (std::size_t at = 0; at < 19; ++at) {
        std::vector<T> in(19, T(0.5)), out(19, T(-7));
        in[at] = x;
        kernel<T>(kerngrad::kernels::function_simd, op).flat1(in.data(), out.data(), in.size());
        const bool same = std::isnan(wanted) ? std::isnan(out[at])
                                             : out[at] == wanted && std::signbit(out[at]) == std::signbit(wanted);
        ASSERT_TRUE(same) << op << "(" << x << ") = " << out[at] << " instead of " << wanted << " at " << at;
      }
    };
    for (const special_value& s : specials) check(s.op, static_cast<T>(s.x), static_cast<T>(s.y));
    for (const special_bound& b : kerngrad::kernels::special_accuracy)
      check(b.op, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN());
  });
}
TEST(special_values, of_float32_are_the_limits) { check_specials<float>(); }
TEST(special_values, of_float64_are_the_limits) { check_specials<double>(); }

struct special_pair {
  const char* op;
  double a, b, y;
};
constexpr special_pair special_pairs[] = {
    {"Beta", 0, 2, inf},      {"Beta", 2, inf, 0},      {"Beta", -1, 2, nan},      {"Beta", 1, nan, nan},
    {"Gammainc", 2, 0, 0},    {"Gammainc", 2, inf, 1},  {"Gammainc", 0, 2, 1},     {"Gammainc", inf, 2, 0},
    {"Gammainc", -1, 2, nan}, {"Gammainc", 2, -1, nan}, {"Gammainc", nan, 1, nan}, {"Gammaincc", 2, 0, 1},
    {"Gammaincc", 2, inf, 0}, {"Gammaincc", 0, 2, 0},   {"Gammaincc", inf, 2, 1},  {"Gammaincc", 1, nan, nan},
};
TEST(special_values, of_pairs_are_the_limits) {
  kgtest::on_every_target([&](const char*) {
    for (const special_pair& s : special_pairs) {
      double y = -7;
      kernel<double>(kerngrad::kernels::pair_simd, s.op).flat2(&s.a, &s.b, &y, 1);
      EXPECT_TRUE(std::isnan(s.y) ? std::isnan(y) : y == s.y) << s.op << "(" << s.a << ", " << s.b << ") = " << y;
    }
  });
}

}  // namespace
