// SPDX-License-Identifier: Apache-2.0
// int8, int16, uint16 and uint32: every op takes them. Ops that move elements keep the dtype, all others compute in
// int32, or in int64 for uint32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad.testkit;

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::refusal;
using doubles = std::vector<double>;

// Runs f with each element type.
template <class F>
void with_stored_integers(F f) {
  f(std::int8_t{});
  f(std::int16_t{});
  f(std::uint16_t{});
  f(std::uint32_t{});
}
template <class T>
constexpr dtype computed = sizeof(T) == 4 ? dtype::int64 : dtype::int32;

TEST(a_tensor_of_stored_integers, is_made_read_and_printed_like_others) {
  with_stored_integers([]<class T>(T) {
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    const tensor x({T{65}, most, least});
    EXPECT_EQ(x.type(), kg::dtype_of<T>);
    EXPECT_EQ(x.to_doubles(), (doubles{65, static_cast<double>(most), static_cast<double>(least)}));
    EXPECT_EQ(x.data<T>()[1], most);
    EXPECT_EQ(to_string(x), "tensor " + std::string(kg::name_of(x.type())) + " [3]\n[65, " + std::to_string(most) +
                                ", " + std::to_string(least) + "]");
    EXPECT_EQ(kg::full({}, 100, x.type()).item<T>(), T{100});
    EXPECT_EQ(kg::ones_like(x).to_doubles(), (doubles{1, 1, 1}));
    EXPECT_EQ(kg::arange(0, 3, 1, x.type()).to_doubles(), (doubles{0, 1, 2}));
    EXPECT_EQ(kg::arange(0, 3, 1, x.type()).type(), x.type());
    EXPECT_EQ(kg::one_hot(tensor({1}), 3, 7, 2, x.type()).type(), x.type());
    EXPECT_EQ(kg::one_hot(tensor({1}), 3, 7, 2, x.type()).to_doubles(), (doubles{2, 7, 2}));
  });
  std::ostringstream hex;
  hex << std::hex << tensor({std::int8_t{-1}, std::int8_t{16}}) << tensor({std::int16_t{-1}});
  EXPECT_NE(hex.str().find("[ff, 10]"), std::string::npos) << hex.str();
  EXPECT_NE(hex.str().find("[ffff]"), std::string::npos) << hex.str();
  EXPECT_NE(refusal([] { return kg::full({2}, 128, dtype::int8); }).find("a number that int8 holds"),
            std::string::npos);
  EXPECT_NE(refusal([] { return kg::full({2}, -1, dtype::uint32); }).find("a number that uint32 holds"),
            std::string::npos);
}

TEST(arithmetic_on_stored_integers, is_that_of_the_wider_integers) {
  with_stored_integers([]<class T>(T) {
    constexpr T most = std::numeric_limits<T>::max();
    constexpr double value = static_cast<double>(most);
    const tensor x({most, T{3}});
    const auto expect = [](const tensor& y, dtype type, const doubles& wanted) {
      EXPECT_EQ(y.type(), type);
      EXPECT_EQ(y.to_doubles(), wanted);
    };
    expect(x + x, computed<T>, {2 * value, 6});
    expect(x - kg::full({}, 5, x.type()), computed<T>, {value - 5, -2});
    expect(-x, computed<T>, {-value, -3});
    expect(kg::square(tensor({T{100}})), computed<T>, {10000});
    expect(kg::maximum(x, tensor({T{4}})), computed<T>, {value, 4});
    expect(kg::max(x), computed<T>, {value});
    expect(kg::sort(x), computed<T>, {3, value});
    expect(kg::sum(x), dtype::int64, {value + 3});
    expect(kg::cumsum(x), dtype::int64, {value, value + 3});
    expect(x & tensor({T{6}}), computed<T>, {6, 2});
    expect(x > 3, dtype::boolean, {1, 0});
    expect(x == x, dtype::boolean, {1, 1});
    expect(kg::argmax(x), dtype::int32, {0});
    const dtype quotient = sizeof(T) == 4 ? dtype::float64 : dtype::float32;
    expect(kg::mean(tensor({T{1}, T{2}})), quotient, {1.5});
    expect(tensor({T{1}}) / tensor({T{2}}), quotient, {0.5});
    expect(kg::variance(tensor({T{1}, T{3}})), quotient, {1});
    EXPECT_EQ(kg::exp(x).type(), dtype::float32);
    const tensor row({T{100}, T{3}}, {1, 2});
    expect(kg::matmul(row, kg::transpose(row)), computed<T>, {10009});
  });
}

TEST(arithmetic_on_stored_integers, with_other_integers_is_in_the_smallest_dtype_that_holds_both) {
  const struct {
    dtype a, b, both;
  } rows[] = {{dtype::int8, dtype::uint8, dtype::int16},     {dtype::uint8, dtype::uint16, dtype::uint16},
              {dtype::int16, dtype::uint16, dtype::int32},   {dtype::uint16, dtype::uint32, dtype::uint32},
              {dtype::int8, dtype::uint32, dtype::int64},    {dtype::int32, dtype::uint32, dtype::int64},
              {dtype::int8, dtype::int64, dtype::int64},     {dtype::boolean, dtype::int8, dtype::int8},
              {dtype::int16, dtype::float16, dtype::float16}};
  for (const auto& [a, b, both] : rows)
    for (const tensor& y :
         {kg::concat({kg::ones({2}, a), kg::ones({1}, b)}), kg::concat({kg::ones({1}, b), kg::ones({2}, a)})})
      EXPECT_EQ(y.type(), both) << kg::name_of(a) << " and " << kg::name_of(b);
}

TEST(numbers_beside_stored_integers, keep_the_dtype_where_elements_move) {
  const tensor x({std::int8_t{-3}, std::int8_t{120}});
  EXPECT_EQ(kg::where(x > 0, x, 0).type(), dtype::int8);
  EXPECT_EQ((x + 1).type(), dtype::int32);
  EXPECT_EQ((x + 300).to_doubles(), (doubles{297, 420})) << "int32 holds the number, and the sum";
  EXPECT_EQ((x < 1000).to_doubles(), (doubles{1, 1}));
  EXPECT_EQ((x * 0.5).type(), dtype::float32);
  EXPECT_EQ(kg::clip(x, 0, 1e6).to_doubles(), (doubles{0, 120}));
}

TEST(casts_to_stored_integers, saturate_from_floats_and_wrap_from_integers) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const dtype from : {dtype::float64, dtype::float32, dtype::float16, dtype::complex64}) {
    const tensor x = kg::cast(tensor({-infinity, -300.0, -1.75, std::nan(""), 1.75, 300.0, infinity}), from);
    EXPECT_EQ(kg::cast(x, dtype::int8).to_doubles(), (doubles{-128, -128, -1, 0, 1, 127, 127}));
    EXPECT_EQ(kg::cast(x, dtype::int16).to_doubles(), (doubles{-32768, -300, -1, 0, 1, 300, 32767}));
    EXPECT_EQ(kg::cast(x, dtype::uint16).to_doubles(), (doubles{0, 0, 0, 0, 1, 300, 65535}));
    EXPECT_EQ(kg::cast(x, dtype::uint32).to_doubles(), (doubles{0, 0, 0, 0, 1, 300, 4294967295}));
  }
  const tensor whole({std::int64_t{-1}, std::int64_t{70000}, (std::int64_t{1} << 32) + 5});
  EXPECT_EQ(kg::cast(whole, dtype::int8).to_doubles(), (doubles{-1, 112, 5}));
  EXPECT_EQ(kg::cast(whole, dtype::uint16).to_doubles(), (doubles{65535, 4464, 5}));
  EXPECT_EQ(kg::cast(whole, dtype::uint32).to_doubles(), (doubles{4294967295, 70000, 5}));
}

TEST(updates_of_stored_integers, wrap) {
  const tensor x({std::int8_t{100}, std::int8_t{1}}), values({std::int8_t{100}, std::int8_t{50}});
  for (const tensor& index : {tensor({0, 1}), tensor({0, 0})}) {
    const bool twice = index.to_doubles()[1] == 0;
    const tensor sums = x.at(index).add(values), products = x.at(index).multiply(values);
    EXPECT_EQ(sums.type(), dtype::int8);
    EXPECT_EQ(sums.to_doubles(), twice ? (doubles{-6, 1}) : (doubles{-56, 51}));     // 250 and 200 modulo 256
    EXPECT_EQ(products.to_doubles(), twice ? (doubles{32, 1}) : (doubles{16, 50}));  // 500,000 and 10,000
    EXPECT_EQ(x.at(index).max(values).to_doubles(), twice ? (doubles{100, 1}) : (doubles{100, 50}));
  }
}

TEST(indices, may_be_stored_integers) {
  const tensor x({1.f, 2.f, 3.f});
  with_stored_integers([&]<class T>(T) { EXPECT_EQ(x(tensor({T{2}, T{0}})).to_doubles(), (doubles{3, 1})); });
}

// Functions that are made of several ops, by their results for int32.
TEST(functions_of_stored_integers, are_those_of_int32) {
  using function = tensor (*)(const tensor&);
  const std::pair<const char*, function> all[] = {
      {"median", [](const tensor& x) { return kg::median(x); }},
      {"percentile", [](const tensor& x) { return kg::percentile(x, 30); }},
      {"std", [](const tensor& x) { return kg::standard_deviation(x, 0); }},
      {"nanmean", [](const tensor& x) { return kg::nanmean(x); }},
      {"nanvar", [](const tensor& x) { return kg::nanvar(x, 0); }},
      {"nanmax", [](const tensor& x) { return kg::nanmax(x); }},
      {"cov", [](const tensor& x) { return kg::cov(x); }},
      {"norm", [](const tensor& x) { return kg::norm(x); }},
      {"logsumexp", [](const tensor& x) { return kg::logsumexp(x); }},
      {"histogram", [](const tensor& x) { return kg::histogram(x, 4).counts; }},
      {"isin", [](const tensor& x) { return kg::isin(x, x(0)); }},
      {"unique", [](const tensor& x) { return kg::unique(x)[0]; }},
      {"argsort", [](const tensor& x) { return kg::argsort(x); }},
      {"top_k", [](const tensor& x) { return kg::top_k(x, 2)[0]; }},
      {"searchsorted", [](const tensor& x) { return kg::searchsorted(kg::sort(x(0)), x(1)); }},
      {"gradient", [](const tensor& x) { return kg::gradient(x, 1); }},
      {"trapezoid", [](const tensor& x) { return kg::trapezoid(x); }},
      {"interp", [](const tensor& x) { return kg::interp(x(1), kg::sort(x(0)), x(0)); }},
      {"clip", [](const tensor& x) { return kg::clip(x, 2, 50); }},
      {"diff", [](const tensor& x) { return kg::diff(x); }},
      {"roll", [](const tensor& x) { return kg::roll(x, 1); }},
      {"convolve", [](const tensor& x) { return kg::fftconvolve(x(0), x(1)); }},
      {"nonzero", [](const tensor& x) { return kg::cast(x != 0, dtype::int32); }},
      {"cumsum", [](const tensor& x) { return kg::cumsum(x, 1); }},
      {"allclose", [](const tensor& x) { return kg::is_close(x, x + 1); }}};
  with_stored_integers([&]<class T>(T) {
    const tensor wide({3, 100, 7, 0, 9, 100, 1, 64}, {2, 4}), x = kg::cast(wide, kg::dtype_of<T>);
    for (const auto& [name, f] : all) {
      const doubles got = f(x).to_doubles(), wanted = f(wide).to_doubles();
      ASSERT_EQ(got.size(), wanted.size()) << name;
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], wanted[i], 1e-5 * (1 + std::fabs(wanted[i]))) << name << " of " << kg::name_of(x.type());
    }
  });
}

TEST(stored_integers, are_counted) {
  with_stored_integers([]<class T>(T) {
    const tensor x({T{1}, T{100}, T{1}});
    const kg::backend_scope here(sizeof(T) == 2 ? "reference" : "simd");
    EXPECT_EQ(kg::bincount(x, 3).to_doubles(), (doubles{0, 2, 0}));
    EXPECT_EQ(kg::unique(x)[0].to_doubles(), (doubles{1, 100}));
  });
  EXPECT_NE(refusal([] { return kg::bincount(tensor({std::int16_t{3}, std::int16_t{-7}}), 4); }).find("-7 at 1"),
            std::string::npos);
}

TEST(random_stored_integers, cover_their_range) {
  kg::generator random(7);
  with_stored_integers([&]<class T>(T) {
    constexpr std::int64_t least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const tensor x = random.integers({1 << 12}, least, most + 1, kg::dtype_of<T>);
    EXPECT_EQ(x.type(), kg::dtype_of<T>);
    const double width = static_cast<double>(most - least);
    EXPECT_LT(kg::min(x).item(), static_cast<double>(least) + width / 64);
    EXPECT_GT(kg::max(x).item(), static_cast<double>(most) - width / 64);
    EXPECT_NE(refusal([&] { return random.integers({1}, least, most + 2, kg::dtype_of<T>); }), "");
  });
}

TEST(a_fused_function, of_stored_integers_gives_what_its_ops_give) {
  const auto f = kg::fuse([](auto x, auto y) { return x * y + 1; });
  const tensor x({std::int16_t{300}, std::int16_t{-2}}), y({std::int16_t{300}, std::int16_t{5}});
  EXPECT_EQ(f(x, y).type(), (x * y + 1).type());
  EXPECT_EQ(f(x, y).to_doubles(), (doubles{90001, -9}));
}

TEST(explanations_of_stored_integers, name_the_casts_on_the_way) {
  const tensor x({std::uint16_t{2}});
  const std::string text = to_string(kg::explain("Neg", {{"x", x}}));
  for (const char* part : {"uint16 [1] cast to int32", "computes in int32", "gives int32 [1]"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(to_string(kg::explain("Transpose", {{"x", x}})).find("cast to"), std::string::npos);
}

}  // namespace
