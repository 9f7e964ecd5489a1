// SPDX-License-Identifier: Apache-2.0
// Accuracy of the vector mathematics against MPFR on every target, and its special values.
// A full run takes ten times as many points; ./dev accuracy takes all floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernels/common/accuracy.h"
#include "kernels/common/accuracy_worst.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"
#include "tests/support/full.h"
#include "tests/support/kernels.h"
#include "tests/elementwise/math_special_values.h"
#include "tools/accuracy/oracle.h"

namespace {

using kerngrad::dtype;
using kerngrad::kernels::entry;
using namespace kgaccuracy;

using kgtest::full;

std::size_t unary_count() { return full() ? 50000 : 5000; }
std::size_t binary_count() { return full() ? 200000 : 20000; }

template <class T>
constexpr dtype type_of = std::is_same_v<T, float> ? dtype::float32 : dtype::float64;

template <class T>
double bound_of(std::string_view op) {
  for (const auto& row : kerngrad::kernels::accuracy) {
    if (op == row.op) return std::is_same_v<T, float> ? row.ulp_float32 : row.ulp_float64;
  }
  ADD_FAILURE() << "no bound for " << op;
  return 0;
}

template <class T>
const entry& kernel(std::string_view op) {
  for (const entry& row : kerngrad::kernels::unary_simd) {
    if (op == row.op && row.type == type_of<T>) return row;
  }
  for (const entry& row : kerngrad::kernels::binary_simd) {
    if (op == row.op && row.type == type_of<T>) return row;
  }
  ADD_FAILURE() << "no kernel " << op;
  return kerngrad::kernels::unary_simd[0];
}

using kerngrad::kernels::accuracy_measured;
using kerngrad::kernels::accuracy_worst;

// Errors are kept with four places.
constexpr double rounding = 0.5e-4 + 1e-9;

// The recorded largest error of a kernel, or null.
const accuracy_worst* kept(std::string_view op, dtype type) {
  const auto* row =
      std::ranges::find_if(accuracy_measured, [&](const accuracy_worst& r) { return op == r.op && type == r.type; });
  return row == std::end(accuracy_measured) ? nullptr : row;
}

struct worst_case {
  double error = 0;
  std::size_t at = 0;
};

template <class T>
worst_case worst(const std::vector<T>& y, const std::vector<long double>& exact) {
  worst_case w;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = distance(y[i], exact[i]);
    if (error > w.error) w = {error, i};
  }
  return w;
}

// The measured errors, from which the table in kernels/common/accuracy.h is filled: KERNGRAD_SHOW=1.
void show(const char* op, std::size_t size, const char* target, double error) {
  if (std::getenv("KERNGRAD_SHOW")) std::printf("%-9s f%zu %-7s %8.3f\n", op, 8 * size, target, error);
}

template <class T>
void check_unary(const unary_oracle& o) {
  SCOPED_TRACE(o.op);
  const std::vector<T> x = points<T>(unary_count());
  std::vector<T> y(x.size());
  std::vector<long double> exact(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) exact[i] = exact_value(o, x[i]);
  const entry& k = kernel<T>(o.op);
  ASSERT_NE(k.flat1, nullptr);
  kgtest::on_every_target([&](const char* target) {
    k.flat1(x.data(), y.data(), x.size());
    const worst_case w = worst(y, exact);
    show(o.op, sizeof(T), target, w.error);
    EXPECT_LE(w.error, bound_of<T>(o.op)) << sizeof(T) * 8 << " bits, " << k.op << "(" << x[w.at] << ") = " << y[w.at];
    const accuracy_worst* row = kept(o.op, type_of<T>);
    if (row && row->all && std::string_view(target) == row->target)
      EXPECT_LE(w.error, std::max(row->ulp + rounding, bound_of<T>(o.op) == 0 ? 0 : 0.5))
          << "worse than what is kept as the worst of all: " << k.op << "(" << x[w.at] << ") = " << y[w.at];
  });
}

class accuracy : public ::testing::TestWithParam<unary_oracle> {};
TEST_P(accuracy, of_float32_holds_the_bound_on_every_target) { check_unary<float>(GetParam()); }
TEST_P(accuracy, of_float64_holds_the_bound_on_every_target) { check_unary<double>(GetParam()); }
INSTANTIATE_TEST_SUITE_P(math, accuracy, ::testing::ValuesIn(unary_oracles),
                         [](const auto& info) { return std::string(info.param.op); });

template <class T>
void check_binary(const binary_oracle& o) {
  const auto [a, b] = points_of<T>(o, binary_count());
  std::vector<T> y(a.size());
  std::vector<long double> exact(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) exact[i] = exact_value(o, a[i], b[i]);
  const char* op = o.op;
  const entry& k = kernel<T>(op);
  ASSERT_NE(k.flat2, nullptr);
  kgtest::on_every_target([&](const char* target) {
    k.flat2(a.data(), b.data(), y.data(), a.size());
    const worst_case w = worst(y, exact);
    show(op, sizeof(T), target, w.error);
    EXPECT_LE(w.error, bound_of<T>(op)) << op << "(" << a[w.at] << ", " << b[w.at] << ") = " << y[w.at];
  });
}

class accuracy_of_pairs : public ::testing::TestWithParam<binary_oracle> {};
TEST_P(accuracy_of_pairs, of_float32_holds_the_bound_on_every_target) { check_binary<float>(GetParam()); }
TEST_P(accuracy_of_pairs, of_float64_holds_the_bound_on_every_target) { check_binary<double>(GetParam()); }
INSTANTIATE_TEST_SUITE_P(math, accuracy_of_pairs, ::testing::ValuesIn(binary_oracles),
                         [](const auto& info) { return std::string(info.param.op); });

// The error at the operands that a row keeps, on the pinned target.
template <class T>
double error_at(const accuracy_worst& row) {
  const T a = static_cast<T>(row.a), b = static_cast<T>(row.b);
  T y;
  const entry& k = kernel<T>(row.op);
  if (k.flat1) k.flat1(&a, &y, 1);
  else k.flat2(&a, &b, &y, 1);
  for (const unary_oracle& o : unary_oracles)
    if (std::string_view(o.op) == row.op) return distance(y, exact_value(o, a));
  for (const binary_oracle& o : binary_oracles)
    if (std::string_view(o.op) == row.op) return distance(y, exact_value(o, a, b));
  ADD_FAILURE() << "no oracle of " << row.op;
  return HUGE_VAL;
}

TEST(the_kept_worst_errors, hold_the_bound_on_every_target_and_are_what_their_own_gives) {
  kgtest::on_every_target([&](const char* target) {
    for (const accuracy_worst& row : accuracy_measured) {
      const bool narrow = row.type == dtype::float32;
      const double error = narrow ? error_at<float>(row) : error_at<double>(row);
      EXPECT_LE(error, narrow ? bound_of<float>(row.op) : bound_of<double>(row.op)) << row.op << " at " << row.a;
      if (std::string_view(target) != row.target) continue;
      EXPECT_NEAR(error > 0.5 ? error : 0, row.ulp, rounding)
          << row.op << " at " << row.a << ": measure again with ./dev accuracy --rows kernels/common/accuracy_worst.h "
          << row.op;
    }
  });
}

TEST(the_kept_worst_errors, are_there_for_every_kernel_with_a_bound) {
  for (const auto& bound : kerngrad::kernels::accuracy) {
    for (const dtype type : {dtype::float32, dtype::float64}) {
      EXPECT_EQ(std::ranges::count_if(
                    accuracy_measured,
                    [&](const accuracy_worst& r) { return std::string_view(bound.op) == r.op && type == r.type; }),
                1)
          << bound.op;
    }
  }
}

using kgtest::inf;
using kgtest::nan;
using kgtest::special_value;
using kgtest::specials;

template <class T>
bool same(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

// The value is in every lane of some vectors, among ordinary values, and in a tail.
template <class T>
void check_specials() {
  kgtest::on_every_target([&](const char*) {
    const auto check = [&](const char* op, T x, T y) {
      for (std::size_t at = 0; at < 35; ++at) {
        std::vector<T> in(35, T(1)), out(35, T(-7));
        in[at] = x;
        kernel<T>(op).flat1(in.data(), out.data(), in.size());
        ASSERT_TRUE(same(out[at], y)) << op << "(" << x << ") = " << out[at] << " instead of " << y << " at " << at;
      }
    };
    for (const special_value& s : specials) check(s.op, static_cast<T>(s.x), static_cast<T>(s.y));
    const T not_a_number = std::numeric_limits<T>::quiet_NaN();
    for (const unary_oracle& o : unary_oracles) check(o.op, not_a_number, not_a_number);
  });
}
TEST(math, special_values_of_float32_are_those_of_ieee) { check_specials<float>(); }
TEST(math, special_values_of_float64_are_those_of_ieee) { check_specials<double>(); }

// Every pair of remarkable values: C's pow and atan2 decide everything but the last place.
template <class T>
void check_pairs() {
  const T tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max();
  std::vector<T> values;
  for (const T v : {T(0), tiny, T(0.5), std::nextafter(T(1), T(0)), T(1), T(1.5), T(2), T(3), T(4), T(1e9), T(1e9 + 64),
                    huge, std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
    values.push_back(v);
    values.push_back(-v);
  }
  kgtest::on_every_target([&](const char*) {
    for (const T a : values) {
      const std::vector<T> left(values.size(), a);
      std::vector<T> power(values.size()), angle(values.size());
      kernel<T>("Pow").flat2(left.data(), values.data(), power.data(), values.size());
      kernel<T>("Atan2").flat2(left.data(), values.data(), angle.data(), values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (const auto& [y, exact, name] : {std::tuple{power[i], std::pow(a, values[i]), "pow"},
                                             std::tuple{angle[i], std::atan2(a, values[i]), "atan2"}}) {
          const bool exactly = std::isnan(exact) || std::isinf(exact) || exact == 0 || std::fabs(exact) == 1;
          const bool right = exactly ? same(y, exact) : distance(y, static_cast<long double>(exact)) <= 3;
          EXPECT_TRUE(right) << name << "(" << a << ", " << values[i] << ") = " << y << " instead of " << exact;
        }
      }
    }
  });
}
TEST(math, pow_and_atan2_of_float32_follow_c_for_remarkable_pairs) { check_pairs<float>(); }
TEST(math, pow_and_atan2_of_float64_follow_c_for_remarkable_pairs) { check_pairs<double>(); }

template <class T>
void check_lanes() {
  const std::vector<T> x = [] {
    std::vector<T> all = points<T>(unary_count()), some;
    for (std::size_t i = 0; i < all.size(); i += full() ? 101 : 11) some.push_back(all[i]);
    return some;
  }();
  kgtest::on_every_target([&](const char*) {
    for (const unary_oracle& o : unary_oracles) {
      std::vector<T> together(x.size()), alone(x.size());
      const entry& k = kernel<T>(o.op);
      k.flat1(x.data(), together.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) k.flat1(&x[i], &alone[i], 1);
      std::size_t different = 0;
      for (std::size_t i = 0; i < x.size(); ++i) different += !same(together[i], alone[i]);
      EXPECT_EQ(different, 0U) << o.op;
    }
  });
}
TEST(math, float32_results_do_not_depend_on_the_neighbours) { check_lanes<float>(); }
TEST(math, float64_results_do_not_depend_on_the_neighbours) { check_lanes<double>(); }

TEST(math, the_measure_of_errors_sees_a_wrong_last_place) {
  EXPECT_EQ(distance(std::nextafter(1.5F, 2.F), 1.5L), 1);
  EXPECT_EQ(distance(std::numeric_limits<double>::denorm_min(), 0x1p-1075L), 0.5);
  EXPECT_EQ(distance(std::numeric_limits<float>::infinity(), static_cast<long double>(0x1.fffffep127L)), 1);
  EXPECT_EQ(distance(1.0F, std::numeric_limits<long double>::quiet_NaN()), HUGE_VAL);
}

}  // namespace
