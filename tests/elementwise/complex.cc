// SPDX-License-Identifier: Apache-2.0
// Kernels of complex numbers: the tables of C99's Annex G.6, sides of the branch cuts, and errors in units in the last
// place of the modulus. The oracle computes in long double, by other formulas than the kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/elementwise/complex.h"
#include "kernels/elementwise/complex_bounds.h"
#include "tests/support/kernels.h"

namespace {

using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::guarded;
using wide = long double;
using number = std::complex<wide>;

constexpr wide inf = std::numeric_limits<wide>::infinity();
const wide nan_ = std::numeric_limits<wide>::quiet_NaN();
const wide pi = 3.141592653589793238462643383279502884L;

std::string text_of(number z) { return "(" + std::to_string(z.real()) + ", " + std::to_string(z.imag()) + ")"; }

const entry& entry_of(bool reference, std::string_view op, dtype type) {
  const auto search = [&](const auto& list) -> const entry* {
    for (const entry& e : list)
      if (e.op == op && e.type == type) return &e;
    return nullptr;
  };
  const entry* found = reference ? search(reference::complex_unary_reference) : search(complex_unary_simd);
  if (!found) found = reference ? search(reference::complex_binary_reference) : search(complex_binary_simd);
  if (!found) found = reference ? search(reference::unary_reference) : search(unary_simd);
  if (!found) found = reference ? search(reference::binary_reference) : search(binary_simd);
  EXPECT_NE(found, nullptr) << op;
  return *found;
}

// Results of a kernel for numbers of T, between guard pages.
template <class T>
std::vector<std::complex<T>> results(const entry& e, const std::vector<std::complex<T>>& a,
                                     const std::vector<std::complex<T>>& b = {}) {
  guarded<std::complex<T>> x(a.size()), u(b.size()), y(a.size());
  std::copy(a.begin(), a.end(), x.begin());
  std::copy(b.begin(), b.end(), u.begin());
  if (e.flat1) e.flat1(x.data(), y.data(), a.size());
  else e.flat2(x.data(), u.data(), y.data(), a.size());
  return {y.begin(), y.end()};
}

// ------------------------------------------------------------------------------------------ the tables of Annex G.6

// A part of a result: its value, with the sign of zeros and infinities, or without.
struct part {
  wide value;
  bool any_sign = false;
};
struct table_row {
  const char* op;
  number z;
  part re, im;
};
part either(wide value) { return {value, true}; }

// The rows of the tables for imaginary parts of 0 and more; the others follow by conjugation, and of odd or even
// functions by -z. Finite numbers stand for "finite", "finite and not zero" and "positive".
const table_row annex_g[] = {
    {"Cosh", {0, 0}, {1}, {0}},
    {"Cosh", {0, inf}, {nan_}, either(0)},
    {"Cosh", {0, nan_}, {nan_}, either(0)},
    {"Cosh", {2, inf}, {nan_}, {nan_}},
    {"Cosh", {2, nan_}, {nan_}, {nan_}},
    {"Cosh", {inf, 0}, {inf}, {0}},
    {"Cosh", {inf, 2}, {-inf}, {inf}},
    {"Cosh", {inf, inf}, either(inf), {nan_}},
    {"Cosh", {inf, nan_}, {inf}, {nan_}},
    {"Cosh", {nan_, 0}, {nan_}, either(0)},
    {"Cosh", {nan_, 2}, {nan_}, {nan_}},
    {"Cosh", {nan_, nan_}, {nan_}, {nan_}},
    {"Sinh", {0, 0}, {0}, {0}},
    {"Sinh", {0, inf}, either(0), {nan_}},
    {"Sinh", {0, nan_}, either(0), {nan_}},
    {"Sinh", {2, inf}, {nan_}, {nan_}},
    {"Sinh", {2, nan_}, {nan_}, {nan_}},
    {"Sinh", {inf, 0}, {inf}, {0}},
    {"Sinh", {inf, 2}, {-inf}, {inf}},
    {"Sinh", {inf, inf}, either(inf), {nan_}},
    {"Sinh", {inf, nan_}, either(inf), {nan_}},
    {"Sinh", {nan_, 0}, {nan_}, {0}},
    {"Sinh", {nan_, 2}, {nan_}, {nan_}},
    {"Sinh", {nan_, nan_}, {nan_}, {nan_}},
    {"Tanh", {0, 0}, {0}, {0}},
    {"Tanh", {2, inf}, {nan_}, {nan_}},
    {"Tanh", {2, nan_}, {nan_}, {nan_}},
    {"Tanh", {0, inf}, {0}, {nan_}},  // C17; NaN in C99
    {"Tanh", {0, nan_}, {0}, {nan_}},
    {"Tanh", {inf, 1}, {1}, {0}},
    {"Tanh", {inf, 2}, {1}, {-0.0L}},  // the sign of sin(2 y)
    {"Tanh", {inf, inf}, {1}, either(0)},
    {"Tanh", {inf, nan_}, {1}, either(0)},
    {"Tanh", {nan_, 0}, {nan_}, {0}},
    {"Tanh", {nan_, 2}, {nan_}, {nan_}},
    {"Tanh", {nan_, nan_}, {nan_}, {nan_}},
    {"Exp", {0, 0}, {1}, {0}},
    {"Exp", {-0.0L, 0}, {1}, {0}},
    {"Exp", {2, inf}, {nan_}, {nan_}},
    {"Exp", {2, nan_}, {nan_}, {nan_}},
    {"Exp", {inf, 0}, {inf}, {0}},
    {"Exp", {-inf, 2}, {-0.0L}, {0}},
    {"Exp", {inf, 2}, {-inf}, {inf}},
    {"Exp", {-inf, inf}, either(0), either(0)},
    {"Exp", {inf, inf}, either(inf), {nan_}},
    {"Exp", {-inf, nan_}, either(0), either(0)},
    {"Exp", {inf, nan_}, either(inf), {nan_}},
    {"Exp", {nan_, 0}, {nan_}, {0}},
    {"Exp", {nan_, 2}, {nan_}, {nan_}},
    {"Exp", {nan_, nan_}, {nan_}, {nan_}},
    {"Log", {-0.0L, 0}, {-inf}, {pi}},
    {"Log", {0, 0}, {-inf}, {0}},
    {"Log", {2, inf}, {inf}, {pi / 2}},
    {"Log", {2, nan_}, {nan_}, {nan_}},
    {"Log", {-inf, 2}, {inf}, {pi}},
    {"Log", {inf, 2}, {inf}, {0}},
    {"Log", {-inf, inf}, {inf}, {3 * pi / 4}},
    {"Log", {inf, inf}, {inf}, {pi / 4}},
    {"Log", {inf, nan_}, {inf}, {nan_}},
    {"Log", {-inf, nan_}, {inf}, {nan_}},
    {"Log", {nan_, 2}, {nan_}, {nan_}},
    {"Log", {nan_, inf}, {inf}, {nan_}},
    {"Log", {nan_, nan_}, {nan_}, {nan_}},
    {"Sqrt", {0, 0}, {0}, {0}},
    {"Sqrt", {-0.0L, 0}, {0}, {0}},
    {"Sqrt", {2, inf}, {inf}, {inf}},
    {"Sqrt", {nan_, inf}, {inf}, {inf}},
    {"Sqrt", {-inf, inf}, {inf}, {inf}},
    {"Sqrt", {2, nan_}, {nan_}, {nan_}},
    {"Sqrt", {-inf, 2}, {0}, {inf}},
    {"Sqrt", {inf, 2}, {inf}, {0}},
    {"Sqrt", {-inf, nan_}, {nan_}, either(inf)},
    {"Sqrt", {inf, nan_}, {inf}, {nan_}},
    {"Sqrt", {nan_, 2}, {nan_}, {nan_}},
    {"Sqrt", {nan_, nan_}, {nan_}, {nan_}},
};

enum class symmetry { none, even, odd };
symmetry symmetry_of(std::string_view op) {
  return op == "Cosh" ? symmetry::even : op == "Sinh" || op == "Tanh" ? symmetry::odd : symmetry::none;
}

// Rows that follow from one: the conjugate, and -z.
std::vector<table_row> with_symmetric(const table_row& row) {
  std::vector<table_row> all{row};
  if (symmetry_of(row.op) != symmetry::none) {
    const wide sign = symmetry_of(row.op) == symmetry::odd ? -1 : 1;
    all.push_back({row.op, -row.z, {sign * row.re.value, row.re.any_sign}, {sign * row.im.value, row.im.any_sign}});
  }
  for (std::size_t i = 0, n = all.size(); i < n; ++i)
    all.push_back({all[i].op, std::conj(all[i].z), all[i].re, {-all[i].im.value, all[i].im.any_sign}});
  return all;
}

// sin z = -i sinh(i z), cos z = cosh(i z) and tan z = -i tanh(i z) give the tables of the circular functions.
std::vector<table_row> annex_g_rows() {
  std::vector<table_row> all;
  for (const table_row& row : annex_g)
    for (const table_row& one : with_symmetric(row)) {
      all.push_back(one);
      const number turned{one.z.imag(), -one.z.real()};  // -i z
      const std::string_view op = one.op;
      const part minus_re{-one.re.value, one.re.any_sign};
      if (op == "Sinh") all.push_back({"Sin", turned, one.im, minus_re});
      if (op == "Tanh") all.push_back({"Tan", turned, one.im, minus_re});
      if (op == "Cosh") all.push_back({"Cos", turned, one.re, one.im});
    }
  return all;
}

template <class T>
bool is_part(T got, part wanted) {
  if (std::isnan(wanted.value)) return std::isnan(got);
  const T value = static_cast<T>(wanted.value);
  if (wanted.any_sign) return std::fabs(got) == std::fabs(value);
  if (value != 0 && std::isfinite(value)) return std::fabs(got / value - 1) < 4 * std::numeric_limits<T>::epsilon();
  return got == value && std::signbit(got) == std::signbit(value);
}

// Every row in every lane, among ordinary numbers.
template <class T>
void check_annex_g(bool reference, dtype type) {
  for (const table_row& row : annex_g_rows()) {
    const entry& e = entry_of(reference, row.op, type);
    for (const std::size_t at : {0, 1, 5, 18}) {
      std::vector<std::complex<T>> x(19, {T(0.5), T(0.25)});
      x[at] = {static_cast<T>(row.z.real()), static_cast<T>(row.z.imag())};
      const std::complex<T> y = results(e, x)[at];
      EXPECT_TRUE(is_part(y.real(), row.re) && is_part(y.imag(), row.im))
          << row.op << text_of(row.z) << " is " << text_of({y.real(), y.imag()}) << " in lane " << at << ", wanted "
          << text_of({row.re.value, row.im.value}) << (reference ? " of the reference" : "");
    }
  }
}

TEST(complex_functions, have_the_values_of_annex_g) {
  kgtest::on_every_target([](const char*) {
    check_annex_g<float>(false, dtype::complex64);
    check_annex_g<double>(false, dtype::complex128);
  });
  check_annex_g<float>(true, dtype::complex64);
  check_annex_g<double>(true, dtype::complex128);
}

// On the negative numbers the sign of the zero says from which side the cut is reached.
TEST(complex_functions, are_continuous_from_the_side_that_the_zero_names) {
  kgtest::on_every_target([](const char*) {
    for (const double sign : {1.0, -1.0}) {
      const std::vector<std::complex<double>> x{{-4, sign * 0.0}};
      const std::complex<double> root = results(entry_of(false, "Sqrt", dtype::complex128), x)[0];
      EXPECT_EQ(root, (std::complex<double>{0, sign * 2}));
      const std::complex<double> log = results(entry_of(false, "Log", dtype::complex128), x)[0];
      EXPECT_DOUBLE_EQ(log.imag(), sign * static_cast<double>(pi));
      EXPECT_DOUBLE_EQ(log.real(), std::log(4.0));
    }
  });
}

// ------------------------------------------------------------------------------------------ errors

number log_of(number z) {
  const wide u = z.real() - 1, excess = u * (u + 2) + z.imag() * z.imag();
  if (std::fabs(u) < 0.75L && std::fabs(z.imag()) < 0.75L) return {std::log1p(excess) / 2, std::arg(z)};
  return {std::log(std::hypot(z.real(), z.imag())), std::arg(z)};
}
number exp_of(number z) {
  const wide half = std::exp(z.real() / 2);
  return {half * std::cos(z.imag()) * half, half * std::sin(z.imag()) * half};
}
number sinh_of(number z) {
  return {std::sinh(z.real()) * std::cos(z.imag()), std::cosh(z.real()) * std::sin(z.imag())};
}
number cosh_of(number z) {
  return {std::cosh(z.real()) * std::cos(z.imag()), std::sinh(z.real()) * std::sin(z.imag())};
}
const number i{0, 1};
number quotient(number a, number b) {
  const wide size = std::fmax(std::fabs(b.real()), std::fabs(b.imag()));
  const number p = a / size, q = b / size;
  const number top{p.real() * q.real() + p.imag() * q.imag(), p.imag() * q.real() - p.real() * q.imag()};
  return top / (q.real() * q.real() + q.imag() * q.imag());
}
// The other root is the negative one: of the two the right one.
number sqrt_of(number z) {
  const wide modulus = std::hypot(z.real(), z.imag());
  const number root = std::sqrt(modulus) * number{std::cos(std::arg(z) / 2), std::sin(std::arg(z) / 2)};
  return root;
}

struct judged {
  const char* op;
  std::function<number(number, number)> f;
  wide least, most;       // exponents of the parts of the first operand
  wide second_most = 20;  // of the second
};
const judged functions[] = {
    {"Reciprocal", [](number z, number) { return quotient(1, z); }, -60, 60},
    {"Sqrt", [](number z, number) { return sqrt_of(z); }, -120, 120},
    {"Exp", [](number z, number) { return exp_of(z); }, -20, 6.2L},
    {"Log", [](number z, number) { return log_of(z); }, -120, 120},
    {"Sin", [](number z, number) { return -i * sinh_of(i * z); }, -20, 6},
    {"Cos", [](number z, number) { return cosh_of(i * z); }, -20, 6},
    {"Tan", [](number z, number) { return -i * quotient(sinh_of(i * z), cosh_of(i * z)); }, -20, 6},
    {"Sinh", [](number z, number) { return sinh_of(z); }, -20, 6},
    {"Cosh", [](number z, number) { return cosh_of(z); }, -20, 6},
    {"Tanh", [](number z, number) { return quotient(sinh_of(z), cosh_of(z)); }, -20, 6},
    {"Square", [](number z, number) { return z * z; }, -40, 40},
    {"Multiply", [](number a, number b) { return a * b; }, -40, 40},
    {"RealDiv", [](number a, number b) { return quotient(a, b); }, -40, 40},
    {"Pow", [](number a, number b) { return exp_of(b * log_of(a)); }, -4, 4, 2},
};

template <class T>
T drawn_part(std::mt19937_64& random, wide least, wide most) {
  const auto unit = [&] { return static_cast<wide>(random() >> 11) * 0x1p-53L; };
  return static_cast<T>((random() % 2 ? 1 : -1) * std::exp2(least + (most - least) * unit()));
}
// Every fourth number is near the unit circle, where logarithms cancel, and some are near 1.
template <class T>
std::complex<T> drawn(std::mt19937_64& random, wide least, wide most) {
  if (random() % 4 == 0) {
    const wide angle = drawn_part<wide>(random, -20, 1.6L);
    const wide radius = 1 + drawn_part<wide>(random, -20, -2);
    return {static_cast<T>(radius * std::cos(angle)), static_cast<T>(radius * std::sin(angle))};
  }
  return {drawn_part<T>(random, least, most), drawn_part<T>(random, least, most)};
}

template <class T>
wide ulps_between(std::complex<T> got, number wanted) {
  const T size = static_cast<T>(std::hypot(wanted.real(), wanted.imag()));
  if (!std::isfinite(size)) return 0;
  const T unit = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return std::hypot(got.real() - wanted.real(), got.imag() - wanted.imag()) / unit;
}

template <class T>
void check_errors(const judged& of, dtype type, const char* target) {
  const complex_bound* bound = std::find_if(std::begin(complex_accuracy), std::end(complex_accuracy),
                                            [&](const complex_bound& b) { return std::string_view(b.op) == of.op; });
  ASSERT_NE(bound, std::end(complex_accuracy)) << of.op;
  const entry& e = entry_of(false, of.op, type);
  std::mt19937_64 random(7);
  wide worst = 0, worst_rate = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::complex<T>> a(1001), b(e.flat2 ? a.size() : 0);
    for (auto& z : a) z = drawn<T>(random, of.least, of.most);
    for (auto& z : b) z = drawn<T>(random, -of.second_most, of.second_most);
    const auto y = results(e, a, b);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const number p(a[k].real(), a[k].imag()), q = e.flat2 ? number(b[k].real(), b[k].imag()) : number();
      const wide ulps = ulps_between(y[k], of.f(p, q));
      const wide exponent = bound->per_exponent ? std::abs(q * log_of(p)) : 0;
      worst = std::max(worst, exponent < 1 ? ulps : 0);
      worst_rate = std::max(worst_rate, ulps / (1 + exponent));
      const bool single = type == dtype::complex64;
      const double most = single ? bound->ulp_complex64 : bound->ulp_complex128 + bound->per_exponent * exponent;
      ASSERT_LE(ulps, most) << of.op << text_of(p) << text_of(q) << " on " << target;
    }
  }
  if (std::getenv("KERNGRAD_SHOW"))
    std::printf("%-12s %d %.2Lf %.2Lf\n", of.op, static_cast<int>(type), worst, worst_rate);
}

TEST(complex_functions, stay_within_their_bounds) {
  kgtest::on_every_target([](const char* target) {
    for (const judged& of : functions) {
      check_errors<float>(of, dtype::complex64, target);
      check_errors<double>(of, dtype::complex128, target);
    }
  });
}

// Outside of the range of the vector functions: squares of the parts, exponentials and their like leave the type.
TEST(complex_functions, are_right_where_their_steps_would_overflow) {
  struct far_case {
    const char* op;
    std::complex<double> z, wanted;
  };
  const double huge = 0x1p1000, tiny = 0x1p-1060;
  const far_case cases[] = {
      {"Sqrt", {huge * 3, huge * 4}, {0x1p501, 0x1p500}},
      {"Sqrt", {-3 * tiny, 4 * tiny}, {0x1p-530, 0x1p-529}},
      {"Log", {huge, huge}, {1000.5 * std::numbers::ln2, std::numbers::pi / 4}},
      {"Log", {tiny, -tiny}, {-1059.5 * std::numbers::ln2, -std::numbers::pi / 4}},
      {"Reciprocal", {huge, -huge}, {0x1p-1001, 0x1p-1001}},
      {"Exp", {710, std::numbers::pi / 2 - 1e-3}, {}},
      {"Tanh", {800, 1}, {1, 0}},
  };
  kgtest::on_every_target([&](const char*) {
    for (const far_case& c : cases) {
      const std::complex<double> got = results(entry_of(false, c.op, dtype::complex128), std::vector{c.z})[0];
      if (std::string_view(c.op) == "Exp") {
        EXPECT_TRUE(std::isfinite(got.real()));  // e^710 is not
        EXPECT_NEAR(got.real() / (std::exp(355.0) * std::cos(c.z.imag()) * std::exp(355.0)), 1, 1e-12);
        continue;
      }
      EXPECT_NEAR(got.real() / c.wanted.real(), 1, 1e-15) << c.op << c.z;
      if (c.wanted.imag() != 0) EXPECT_NEAR(got.imag() / c.wanted.imag(), 1, 1e-15) << c.op << c.z;
      else EXPECT_EQ(got.imag(), 0) << c.op;
    }
  });
}

TEST(complex_functions, of_powers_are_exact_for_small_whole_exponents) {
  kgtest::on_every_target([](const char*) {
    using z = std::complex<double>;
    const std::vector<z> a{{1, 2}, {0, 1}, {2, 0}, {1, 1}, {0, 0}, {0, 0}, {3, -4}, {0, 0}},
        b{{3, 0}, {2, 0}, {-3, 0}, {-2, 0}, {0, 0}, {2, 0}, {0, 0}, {-1, 0}};
    const std::vector<z> y = results(entry_of(false, "Pow", dtype::complex128), a, b);
    const std::vector<z> wanted{{-11, -2}, {-1, 0}, {0.125, 0}, {0, -0.5}, {1, 0}, {0, 0}, {1, 0}};
    for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_EQ(y[k], wanted[k]) << k;
    EXPECT_TRUE(std::isnan(y[7].real()));
  });
}

// ------------------------------------------------------------------------------------------ broadcasts

// Rows of arrays and of single numbers, of every short length, give what the flat entry gives.
template <class Z>
void check_rows(const entry& e, bool test) {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 13, 33}) {
    for (const int kind : {0, 1, 2, 3}) {
      const bool a_moves = kind & 1, b_moves = kind & 2;
      std::vector<Z> a(static_cast<std::size_t>(3 * n)), b(static_cast<std::size_t>(n));
      for (std::size_t k = 0; k < a.size(); ++k)
        a[k] = Z(std::complex<double>(static_cast<double>(k % 7) + 0.5, static_cast<double>(k % 3) - 1));
      for (std::size_t k = 0; k < b.size(); ++k)
        b[k] = Z(std::complex<double>(static_cast<double>(k % 5) + 0.5, static_cast<double>(k % 2) - 0.5));
      const broadcast_geometry g{2, {3, n}, {{a_moves ? n : 1, a_moves ? 1 : 0}, {0, b_moves ? 1 : 0}}};
      const std::size_t size = test ? 1 : sizeof(Z), count = static_cast<std::size_t>(3 * n);
      guarded<std::byte> y(count * size);
      const void* in[] = {a.data(), b.data()};
      void* out[] = {y.data()};
      e.run(in, out, &g);
      std::vector<Z> p, q;
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t k = 0; k < n; ++k) {
          p.push_back(a[static_cast<std::size_t>(a_moves ? r * n + k : r)]);
          q.push_back(b[static_cast<std::size_t>(b_moves ? k : 0)]);
        }
      std::vector<std::byte> wanted(count * size);
      e.flat2(p.data(), q.data(), wanted.data(), count);
      ASSERT_EQ(std::memcmp(wanted.data(), y.data(), wanted.size()), 0) << e.op << " of rows of " << n << ", " << kind;
    }
  }
}

TEST(complex_kernels, broadcast_rows_and_single_numbers) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : complex_binary_simd) {
      const bool test = std::string_view(e.op).ends_with("Equal");
      if (e.type == dtype::complex64) check_rows<std::complex<float>>(e, test);
      else check_rows<std::complex<double>>(e, test);
    }
  });
}

// The results may take the memory of an operand.
template <class T>
void check_in_place(const entry& e) {
  std::vector<std::complex<T>> a, b;
  for (int k = 0; k < 21; ++k) {
    a.push_back(std::polar(T(0.5) + T(k % 4) / 4, T(k)));
    b.push_back(std::polar(T(1), T(2 * k + 1)));
  }
  const std::vector<std::complex<T>> wanted = results(e, a, e.flat2 ? b : std::vector<std::complex<T>>());
  std::vector<std::complex<T>> first = a, second = b;
  if (e.flat1) {
    e.flat1(first.data(), first.data(), first.size());
  } else {
    e.flat2(first.data(), b.data(), first.data(), first.size());
    e.flat2(a.data(), second.data(), second.data(), second.size());
    EXPECT_EQ(second, wanted) << e.op;
  }
  EXPECT_EQ(first, wanted) << e.op;
}

TEST(complex_kernels, write_over_an_operand) {
  kgtest::on_every_target([](const char*) {
    const auto check = [](const entry& e) {
      if (std::string_view(e.op).ends_with("Equal")) return;
      if (e.type == dtype::complex64) check_in_place<float>(e);
      else check_in_place<double>(e);
    };
    std::ranges::for_each(complex_unary_simd, check);
    std::ranges::for_each(complex_binary_simd, check);
  });
}

TEST(complex_kernels, compare_both_parts) {
  using z = std::complex<double>;
  const double quiet = std::numeric_limits<double>::quiet_NaN();
  const std::vector<z> a{{1, 2}, {1, 2}, {1, 2}, {0, -0.0}, {quiet, 0}},
      b{{1, 2}, {1, 3}, {0, 2}, {-0.0, 0}, {quiet, 0}};
  kgtest::on_every_target([&](const char*) {
    std::array<std::uint8_t, 5> same{}, other{};
    entry_of(false, "Equal", dtype::complex128).flat2(a.data(), b.data(), same.data(), 5);
    entry_of(false, "NotEqual", dtype::complex128).flat2(a.data(), b.data(), other.data(), 5);
    EXPECT_EQ(same, (std::array<std::uint8_t, 5>{1, 0, 0, 1, 0}));
    EXPECT_EQ(other, (std::array<std::uint8_t, 5>{0, 1, 1, 0, 1}));
  });
}

}  // namespace
