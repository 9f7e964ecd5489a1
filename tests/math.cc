// SPDX-License-Identifier: Apache-2.0
// Accuracy of the vector mathematics against MPFR on every target, and its special values.
// KERNGRAD_FULL=1 takes thirty times as many points.
#include <gtest/gtest.h>
#include <mpfr.h>

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

#include "kernels/accuracy.h"
#include "kernels/binary.h"
#include "kernels/unary.h"
#include "tests/math_kernels.h"
#include "tests/support/kernels.h"
#include "tests/support/math_special_values.h"

namespace {

using kerngrad::dtype;
using kerngrad::kernels::entry;

// 160 bits: no composition below cancels, so the 64 bits of a long double come out right.
struct variable {
  mpfr_t v;
  variable() { mpfr_init2(v, 160); }
  ~variable() { mpfr_clear(v); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
};

// y = f(x) with t as scratch.
using oracle = void (*)(mpfr_t y, mpfr_t x, mpfr_t t);
struct unary_oracle {
  const char* op;
  oracle f;
};

#define PLAIN(Name, function) {#Name, [](mpfr_t y, mpfr_t x, mpfr_t) { function(y, x, MPFR_RNDN); }}
const unary_oracle unary_oracles[] = {
    PLAIN(Exp, mpfr_exp),
    PLAIN(Expm1, mpfr_expm1),
    PLAIN(Log, mpfr_log),
    PLAIN(Log1p, mpfr_log1p),
    PLAIN(Sin, mpfr_sin),
    PLAIN(Cos, mpfr_cos),
    PLAIN(Tan, mpfr_tan),
    PLAIN(Asin, mpfr_asin),
    PLAIN(Acos, mpfr_acos),
    PLAIN(Atan, mpfr_atan),
    PLAIN(Sinh, mpfr_sinh),
    PLAIN(Cosh, mpfr_cosh),
    PLAIN(Tanh, mpfr_tanh),
    PLAIN(Asinh, mpfr_asinh),
    PLAIN(Acosh, mpfr_acosh),
    PLAIN(Atanh, mpfr_atanh),
    PLAIN(Erf, mpfr_erf),
    PLAIN(Erfc, mpfr_erfc),
    PLAIN(Rsqrt, mpfr_rec_sqrt),
    {"Round", [](mpfr_t y, mpfr_t x, mpfr_t) { mpfr_rint(y, x, MPFR_RNDN); }},
    {"Sigmoid",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_neg(t, x, MPFR_RNDN);
       mpfr_exp(t, t, MPFR_RNDN);
       mpfr_add_ui(t, t, 1, MPFR_RNDN);
       mpfr_ui_div(y, 1, t, MPFR_RNDN);
     }},
    {"Softplus",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_exp(t, x, MPFR_RNDN);
       if (mpfr_cmp_ui(x, 1000) > 0) mpfr_set(y, x, MPFR_RNDN);
       else mpfr_log1p(y, t, MPFR_RNDN);
     }},
    {"Silu",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_neg(t, x, MPFR_RNDN);
       mpfr_exp(t, t, MPFR_RNDN);
       mpfr_add_ui(t, t, 1, MPFR_RNDN);
       mpfr_div(y, x, t, MPFR_RNDN);
     }},
    {"Gelu",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       mpfr_sqrt_ui(t, 2, MPFR_RNDN);
       mpfr_div(t, x, t, MPFR_RNDN);
       mpfr_neg(t, t, MPFR_RNDN);
       mpfr_erfc(t, t, MPFR_RNDN);
       mpfr_mul(t, t, x, MPFR_RNDN);
       mpfr_div_ui(y, t, 2, MPFR_RNDN);
     }},
    {"Elu",
     [](mpfr_t y, mpfr_t x, mpfr_t) {
       if (mpfr_sgn(x) < 0) mpfr_expm1(y, x, MPFR_RNDN);
       else mpfr_set(y, x, MPFR_RNDN);
     }},
    {"Selu",
     [](mpfr_t y, mpfr_t x, mpfr_t t) {
       if (mpfr_sgn(x) < 0) {
         mpfr_expm1(y, x, MPFR_RNDN);
         mpfr_set_str(t, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
         mpfr_mul(y, y, t, MPFR_RNDN);
       } else {
         mpfr_set(y, x, MPFR_RNDN);
       }
       mpfr_set_str(t, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
       mpfr_mul(y, y, t, MPFR_RNDN);
     }},
};
#undef PLAIN

bool full() { return std::getenv("KERNGRAD_FULL") != nullptr; }

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
  static constexpr entry erfc[] = {{"Erfc", dtype::float32, nullptr, kgtest::erfc_float32, nullptr},
                                   {"Erfc", dtype::float64, nullptr, kgtest::erfc_float64, nullptr}};
  if (op == "Erfc") return erfc[std::is_same_v<T, double>];
  ADD_FAILURE() << "no kernel " << op;
  return kerngrad::kernels::unary_simd[0];
}

// |y - exact| in units in the last place of T around `exact`; infinity stands for the value after the largest.
template <class T>
double distance(T y, long double exact) {
  using limits = std::numeric_limits<T>;
  if (std::isnan(y) || std::isnan(exact)) return std::isnan(y) && std::isnan(exact) ? 0 : HUGE_VAL;
  const long double top = std::ldexp(1.0L, limits::max_exponent);
  const long double found = std::isinf(y) ? std::copysign(top, static_cast<long double>(y)) : y;
  exact = std::clamp(exact, -top, top);
  if (exact == 0) return found == 0 ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(exact, &exponent);
  exponent = std::min(std::max(exponent, limits::min_exponent), static_cast<int>(limits::max_exponent));
  return static_cast<double>(std::fabs(found - exact) / std::ldexp(1.0L, exponent - limits::digits));
}

template <class T, class Bits>
T from_bits(Bits bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// All exponents; the exponents where the functions bend; a linear grid over the range of the exponential function;
// neighbours of round numbers.
template <class T>
std::vector<T> points() {
  using bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  const std::size_t count = full() ? 150000 : 5000;
  std::vector<T> x;
  const bits everything = std::numeric_limits<bits>::max();
  for (std::size_t i = 0; i < count; ++i) x.push_back(from_bits<T>(static_cast<bits>(i * (everything / count | 1))));
  const bits low = static_cast<bits>(bias - 6) << mantissa, range = static_cast<bits>(14) << mantissa;
  for (std::size_t i = 0; i < count; ++i) {
    const T v = from_bits<T>(static_cast<bits>(low + i * (range / count | 1)));
    x.push_back(v);
    x.push_back(-v);
  }
  const double reach = std::is_same_v<T, float> ? 105 : 750;
  for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<T>(reach * (2.0 * i / count - 1)));
  for (const double centre : {0.25,
                              0.5,
                              0.625,
                              0.7071067811865476,
                              0.84375,
                              0.92773,
                              1.0,
                              1.4142135623730951,
                              1.5707963267948966,

                              2.0,
                              2.5,
                              3.1415926535897932,
                              4.0,
                              6.283185307179586,
                              11.0,
                              710.47,
                              88.72,
                              1e5,
                              8e5,
                              1e22}) {
    T v = static_cast<T>(centre);
    for (int i = 0; i < 8; ++i) v = std::nextafter(v, T{0});
    for (int i = 0; i < 16; ++i, v = std::nextafter(v, std::numeric_limits<T>::infinity())) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  return x;
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

// The measured errors, from which the table in kernels/accuracy.h is filled: KERNGRAD_SHOW=1.
void show(const char* op, std::size_t size, const char* target, double error) {
  if (std::getenv("KERNGRAD_SHOW")) std::printf("%-9s f%zu %-7s %8.3f\n", op, 8 * size, target, error);
}

template <class T>
void check_unary(const unary_oracle& o) {
  SCOPED_TRACE(o.op);
  const std::vector<T> x = points<T>();
  std::vector<T> y(x.size());
  std::vector<long double> exact(x.size());
  variable in, out, scratch;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mpfr_set_d(in.v, x[i], MPFR_RNDN);
    o.f(out.v, in.v, scratch.v);
    exact[i] = mpfr_get_ld(out.v, MPFR_RNDN);
    // The limits, where the oracle's composition has inf / inf or 0 inf.
    const bool product = std::string_view(o.op) == "Silu" || std::string_view(o.op) == "Gelu";
    if (product && std::isinf(x[i]) && x[i] < 0) exact[i] = -0.0L;
  }
  const entry& k = kernel<T>(o.op);
  ASSERT_NE(k.flat1, nullptr);
  kgtest::on_every_target([&](const char* target) {
    k.flat1(x.data(), y.data(), x.size());
    const worst_case w = worst(y, exact);
    show(o.op, sizeof(T), target, w.error);
    EXPECT_LE(w.error, bound_of<T>(o.op)) << sizeof(T) * 8 << " bits, " << k.op << "(" << x[w.at] << ") = " << y[w.at];
  });
}

class accuracy : public ::testing::TestWithParam<unary_oracle> {};
TEST_P(accuracy, of_float32_holds_the_bound_on_every_target) { check_unary<float>(GetParam()); }
TEST_P(accuracy, of_float64_holds_the_bound_on_every_target) { check_unary<double>(GetParam()); }
INSTANTIATE_TEST_SUITE_P(math, accuracy, ::testing::ValuesIn(unary_oracles),
                         [](const auto& info) { return std::string(info.param.op); });

// A small generator of 64-bit words (splitmix64, Steele, Lea and Flood 2014).
struct words {
  std::uint64_t state = 1;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
};

template <class T>
void check_binary(const char* op, const std::vector<T>& a, const std::vector<T>& b,
                  int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)) {
  std::vector<T> y(a.size());
  std::vector<long double> exact(a.size());
  variable va, vb, out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mpfr_set_d(va.v, a[i], MPFR_RNDN);
    mpfr_set_d(vb.v, b[i], MPFR_RNDN);
    f(out.v, va.v, vb.v, MPFR_RNDN);
    exact[i] = mpfr_get_ld(out.v, MPFR_RNDN);
  }
  const entry& k = kernel<T>(op);
  ASSERT_NE(k.flat2, nullptr);
  kgtest::on_every_target([&](const char* target) {
    k.flat2(a.data(), b.data(), y.data(), a.size());
    const worst_case w = worst(y, exact);
    show(op, sizeof(T), target, w.error);
    EXPECT_LE(w.error, bound_of<T>(op)) << op << "(" << a[w.at] << ", " << b[w.at] << ") = " << y[w.at];
  });
}

// Bases of all sizes and near 1 with exponents that reach from underflow to overflow; negative bases with integers.
template <class T>
void check_pow() {
  words next;
  std::vector<T> a, b;
  const std::size_t count = full() ? 600000 : 20000;
  const double reach = std::is_same_v<T, float> ? 105 : 750;
  for (std::size_t i = 0; i < count; ++i) {
    const double spread = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.02 : 1e-6;
    const T base = static_cast<T>(std::exp((2 * next.unit() - 1) * reach * 0.98 * spread));
    const double logarithm = std::log(static_cast<double>(base));
    T exponent = static_cast<T>((2 * next.unit() - 1) * reach / (logarithm == 0 ? 1 : logarithm));
    const bool negative = i % 5 == 0;
    if (negative) exponent = std::nearbyint(exponent);
    a.push_back(negative ? -base : base);
    b.push_back(exponent);
  }
  check_binary("Pow", a, b, mpfr_pow);
}
TEST(math, pow_of_float32_holds_the_bound_on_every_target) { check_pow<float>(); }
TEST(math, pow_of_float64_holds_the_bound_on_every_target) { check_pow<double>(); }

template <class T>
void check_atan2() {
  words next;
  std::vector<T> a, b;
  const std::size_t count = full() ? 600000 : 20000;
  const double reach = std::is_same_v<T, float> ? 80 : 700;
  for (std::size_t i = 0; i < count; ++i) {
    const double base = (2 * next.unit() - 1) * reach, close = (2 * next.unit() - 1) * (i % 4 == 0 ? reach : 3);
    const T y = static_cast<T>(std::exp(base)), x = static_cast<T>(std::exp(std::clamp(base + close, -reach, reach)));
    a.push_back(i % 2 == 0 ? y : -y);
    b.push_back(i % 3 == 0 ? x : -x);
  }
  check_binary("Atan2", a, b, mpfr_atan2);
}
TEST(math, atan2_of_float32_holds_the_bound_on_every_target) { check_atan2<float>(); }
TEST(math, atan2_of_float64_holds_the_bound_on_every_target) { check_atan2<double>(); }

using kgtest::inf;
using kgtest::nan;
using kgtest::special_value;
using kgtest::specials;

template <class T>
bool same(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

// The value stands in every lane of some vectors, among ordinary values, and in a tail.
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
    std::vector<T> all = points<T>(), some;
    for (std::size_t i = 0; i < all.size(); i += full() ? 1009 : 11) some.push_back(all[i]);
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
