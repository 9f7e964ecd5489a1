// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16: every value, every rounding, and ops that compute in float32 and round their results. The
// oracle of roundings is tests/tensor/half_oracle.h.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "tests/tensor/half_oracle.h"
#include "tests/support/refusal.h"

import kerngrad.testkit;

namespace {

using kg::dtype;
using kg::tensor;
using kg::testkit::from_doubles;
using kgtest::refusal;
using doubles = std::vector<double>;

// Runs f with both element types.
template <class F>
void with_halves(F f) {
  f(kg::float16{});
  f(kg::bfloat16{});
}

template <class T>
std::vector<T> every_value() {
  std::vector<T> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  return all;
}
bool is_nan(std::uint16_t bits, const kgtest::half_format& f) { return std::isnan(kgtest::half_value(bits, f)); }

// Bitwise identical, or both NaN.
template <class T>
void expect_same(T got, T wanted, long double of) {
  const kgtest::half_format format = kgtest::format_of(kg::dtype_of<T>);
  if (is_nan(wanted.bits, format)) EXPECT_TRUE(is_nan(got.bits, format)) << static_cast<double>(of);
  else ASSERT_EQ(got.bits, wanted.bits) << kg::name_of(kg::dtype_of<T>) << " of " << static_cast<double>(of);
}

// The bits that stand for a number of the format: found by halving, since they count up with it.
template <class T>
T nearest_of(long double x) {
  const kgtest::half_format format = kgtest::format_of(kg::dtype_of<T>);
  T found;
  if (std::isnan(x)) {
    found.bits = 0x7fff;
    return found;
  }
  const long double size = std::fabs(kgtest::rounded_to_half(x, format));
  std::uint32_t low = 0, high = 0x7fff;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    const long double there = kgtest::half_value(static_cast<std::uint16_t>(middle), format);
    if (there >= size || std::isnan(there)) high = middle;
    else low = middle + 1;
  }
  found.bits = static_cast<std::uint16_t>(low | (std::signbit(x) ? 0x8000 : 0));
  return found;
}

// Numbers at and next to every boundary between two halves, and any others.
doubles numbers_to_round() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  doubles all = {0.0, -0.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 5e-324, -5e-324, 1e308};
  for (const dtype type : {dtype::float16, dtype::bfloat16}) {
    const kgtest::half_format format = kgtest::format_of(type);
    for (std::uint32_t bits = 0; bits < 0x7fff; bits += 7) {
      const auto here = static_cast<double>(kgtest::half_value(static_cast<std::uint16_t>(bits), format));
      const auto above = static_cast<double>(kgtest::half_value(static_cast<std::uint16_t>(bits + 1), format));
      if (!std::isfinite(above)) continue;
      const double middle = here / 2 + above / 2;
      for (const double x : {here, middle, std::nextafter(middle, 0), std::nextafter(middle, infinity)})
        all.insert(all.end(), {x, -x});
    }
  }
  for (const double x : {65504.0, 65519.0, 65520.0, 65536.0, 0x1.fep127, 0x1.fefffffffffffp127, 0x1.ffp127, 0x1p128})
    all.insert(all.end(), {x, -x, std::nextafter(x, 0)});
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const double size =
        std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, static_cast<int>(random() % 290) - 150);
    all.push_back(random() % 2 ? size : -size);
  }
  return all;
}

TEST(halves, go_through_float32_and_float64_and_back) {
  with_halves([]<class T>(T) {
    const std::vector<T> all = every_value<T>();
    const tensor x(all);
    for (const char* backend : {"simd", "reference"}) {
      const kg::backend_scope here(backend);
      for (const dtype by : {dtype::float32, dtype::float64}) {
        const tensor wide = kg::cast(x, by), back = kg::cast(wide, x.type());
        const doubles values = wide.to_doubles();
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto value = static_cast<double>(kgtest::half_value(all[i].bits, kgtest::format_of(x.type())));
          if (std::isnan(value)) ASSERT_TRUE(std::isnan(values[i])) << i;
          else ASSERT_EQ(values[i], value) << i;
          expect_same(back.data<T>()[i], all[i], value);
        }
      }
    }
    for (const T v : all) {
      expect_same(T(static_cast<float>(v)), v, v.bits);
      expect_same(T(static_cast<double>(v)), v, v.bits);
    }
  });
}

TEST(halves, are_the_nearest_ones_and_of_two_the_even_one) {
  const doubles values = numbers_to_round();
  with_halves([&]<class T>(T) {
    for (const double x : values) {
      expect_same(T(x), nearest_of<T>(x), x);
      expect_same(T(static_cast<float>(x)), nearest_of<T>(static_cast<float>(x)), x);
    }
  });
}

TEST(casts_to_halves, round_once_on_every_target) {
  const tensor doubled(numbers_to_round());
  with_halves([&]<class T>(T) {
    for (const kg::simd_target& target : kg::simd_targets()) {
      kg::set_simd_target(target.name);
      for (const tensor& x : {doubled, kg::cast(doubled, dtype::float32)}) {
        const doubles values = x.to_doubles();
        const tensor y = kg::cast(x, kg::dtype_of<T>);
        for (std::size_t i = 0; i < values.size(); ++i)
          expect_same(y.data<T>()[i], nearest_of<T>(values[i]), values[i]);
      }
    }
    kg::set_simd_target({});
  });
}

TEST(casts_to_halves, round_whole_numbers_once) {
  std::vector<std::int64_t> whole = {0, 1, -1, 2049, 2051, 65519, 65520, std::numeric_limits<std::int64_t>::min()};
  constexpr std::int64_t offsets[] = {-1, 0, 1}, leads[] = {257, 259};
  // Ties of bfloat16, and what a double makes one of.
  for (const auto& [shift, more, lead] : ranges::views::cartesian_product(ranges::views::iota(8, 54), offsets, leads))
    whole.push_back(lead * (std::int64_t{1} << shift) + more);
  const tensor x(whole);
  with_halves([&]<class T>(T) {
    for (const char* backend : {"simd", "reference"}) {
      const kg::backend_scope here(backend);
      const tensor y = kg::cast(x, kg::dtype_of<T>);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const auto exact = static_cast<long double>(whole[i]);
        expect_same(y.data<T>()[i], nearest_of<T>(exact), exact);
        expect_same(T(whole[i]), nearest_of<T>(exact), exact);
      }
    }
  });
}

// ------------------------------------------------------------------------------------------ tensors of them

TEST(a_tensor_of_halves, is_made_read_and_printed_like_others) {
  with_halves([]<class T>(T) {
    const tensor x({T(1.5), T(-2), T(0.25)});
    EXPECT_EQ(x.type(), kg::dtype_of<T>);
    EXPECT_EQ(x.to_doubles(), (doubles{1.5, -2, 0.25}));
    EXPECT_EQ(x.data<T>()[1], T(-2));
    EXPECT_EQ(to_string(x), "tensor " + std::string(kg::name_of(x.type())) + " [3]\n[1.5, -2, 0.25]");
    EXPECT_EQ((tensor{{T(1), T(2)}, {T(3), T(4)}}.dims()), (kg::shape{2, 2}));
    EXPECT_EQ(kg::full({}, 0.1, x.type()).item<T>(), T(0.1));
    EXPECT_EQ(kg::ones({2}, x.type()).to_doubles(), (doubles{1, 1}));
    EXPECT_EQ(kg::zeros_like(x).to_doubles(), (doubles{0, 0, 0}));
  });
  EXPECT_EQ(kg::full({}, 65520, dtype::float16).item(), std::numeric_limits<double>::infinity());
}

TEST(creation, computes_in_float32_and_rounds) {
  const tensor x = kg::linspace(0, 1, 4, dtype::float16);
  ASSERT_EQ(x.type(), dtype::float16);
  EXPECT_EQ(x.data<kg::float16>()[1], kg::float16(1.f / 3));
  EXPECT_EQ(kg::arange(0, 3, 1, dtype::bfloat16).type(), dtype::bfloat16);
  EXPECT_EQ(kg::one_hot(tensor({1}), 3, 1, 0, dtype::float16).to_doubles(), (doubles{0, 1, 0}));
  EXPECT_EQ(kg::random_normal({3}, 0, 1, 4, dtype::float16).to_doubles(),
            kg::cast(kg::cast(kg::random_normal({3}, 0, 1, 4), dtype::float16), dtype::float32).to_doubles());
  EXPECT_NE(refusal([] { return kg::linspace(0, 65520, 4, dtype::float16); }).find("a number that float16 holds"),
            std::string::npos);
}

// ------------------------------------------------------------------------------------------ arithmetic

TEST(arithmetic_on_halves, is_that_of_float32_rounded_once_a_call) {
  with_halves([]<class T>(T) {
    const tensor a({T(0.1), T(1000.5), T(-3), T(1e-6)}), b({T(0.7), T(0.33), T(7), T(1e-7)});
    const tensor x = kg::cast(a, dtype::float32), y = kg::cast(b, dtype::float32);
    const auto expect_rounded = [](const tensor& got, const tensor& wide) {
      EXPECT_EQ(got.type(), kg::dtype_of<T>);
      EXPECT_EQ(got.to_doubles(), kg::cast(wide, kg::dtype_of<T>).to_doubles());
    };
    expect_rounded(a + b, x + y);
    expect_rounded(a * b, x * y);
    expect_rounded(a / b, x / y);
    expect_rounded(kg::maximum(a, b), kg::maximum(x, y));
    expect_rounded(kg::exp(b), kg::exp(y));
    expect_rounded(kg::softmax(b), kg::softmax(y));
    expect_rounded(kg::sum(a), kg::sum(x));
    expect_rounded(kg::cumsum(a), kg::cumsum(x));
    expect_rounded(kg::matmul(kg::reshape(a, {2, 2}), kg::reshape(b, {2, 2})),
                   kg::matmul(kg::reshape(x, {2, 2}), kg::reshape(y, {2, 2})));
    expect_rounded(kg::run_kernel("LeakyRelu", {{"x", a}}, {{"alpha", 0.1}}), kg::leaky_relu(x, 0.1));
    EXPECT_EQ((a < b).type(), dtype::boolean);
    EXPECT_EQ(kg::argmax(a).type(), dtype::int32);
    EXPECT_EQ(kg::is_nan(a).to_doubles(), (doubles{0, 0, 0, 0}));
  });
}

TEST(arithmetic_on_halves, with_other_dtypes_follows_the_order_of_promotion) {
  const tensor half({kg::float16(0.1)}), brain({kg::bfloat16(0.1)});
  EXPECT_EQ((half + tensor({1})).type(), dtype::float16);
  EXPECT_EQ((tensor({true}) * brain).type(), dtype::bfloat16);
  EXPECT_EQ((half + brain).type(), dtype::float32);
  EXPECT_EQ((half + brain).item<float>(), static_cast<float>(kg::float16(0.1)) + static_cast<float>(kg::bfloat16(0.1)));
  EXPECT_EQ((half + tensor({1.f})).type(), dtype::float32);
  EXPECT_EQ((half + tensor({1.})).type(), dtype::float64);
  EXPECT_EQ((half * tensor({kg::complex64{0, 1}})).type(), dtype::complex64);
}

TEST(numbers_beside_halves, are_rounded_to_them) {
  const tensor x({kg::float16(2), kg::float16(-4)});
  for (const tensor& y : {x + 1, 1.5 * x, kg::maximum(0, x), x / 3, kg::pow(x, 2)}) EXPECT_EQ(y.type(), dtype::float16);
  EXPECT_EQ((x * 0.1).to_doubles()[0], static_cast<double>(kg::float16(2.f * static_cast<float>(kg::float16(0.1)))));
  EXPECT_EQ((x < 2.5).to_doubles(), (doubles{1, 1}));
  EXPECT_EQ(kg::clip(x, -1, 1).to_doubles(), (doubles{1, -1}));
}

TEST(a_fused_function, of_halves_gives_what_its_ops_give) {
  const auto f = kg::fuse([](auto x, auto y) { return kg::exp(x) * y + 0.5; });
  const tensor x({kg::float16(0.3), kg::float16(-1)}), y({kg::float16(3), kg::float16(0.7)});
  EXPECT_EQ(f(x, y).type(), dtype::float16);
  EXPECT_EQ(f(x, y).to_doubles(), (kg::exp(x) * y + 0.5).to_doubles());
  const auto slopes = kg::grads([&](const tensor& a, const tensor& b) { return kg::sum(f(a, b)); })(x, y);
  const auto expected = kg::grads([](const tensor& a, const tensor& b) { return kg::sum(kg::exp(a) * b + 0.5); })(x, y);
  // The compiled derivative rounds where its steps do.
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(slopes[i].type(), dtype::float16);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(slopes[i].to_doubles()[k], expected[i].to_doubles()[k], 4 * 0x1p-10) << i << ", " << k;
  }
}

TEST(explanations_of_halves, name_the_casts_on_the_way) {
  const tensor x({kg::float16(2)});
  const std::string text = to_string(kg::explain("Exp", {{"x", x}}));
  for (const char* part :
       {"float16 [1] cast to float32", "computes in float32", "gives float16 [1], rounded from float32"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(to_string(kg::explain("Transpose", {{"x", x}})).find("cast to"), std::string::npos);
}

// ------------------------------------------------------------------------------------------ gradients

TEST(gradients_of_halves, have_their_dtype_in_every_order) {
  with_halves([]<class T>(T) {
    const tensor x({T(0.5), T(-1.25)});
    const auto f = [](const tensor& t) { return kg::sum(t * t * t); };
    const tensor g = kg::grad(f)(x), h = kg::grad([&](const tensor& t) { return kg::sum(kg::grad(f)(t)); })(x);
    EXPECT_EQ(g.type(), kg::dtype_of<T>);
    EXPECT_EQ(g.to_doubles(), (doubles{0.75, 4.6875}));
    EXPECT_EQ(h.to_doubles(), (doubles{3, -7.5}));
    const kg::value_and_tangent along = kg::jvp(f)(x, kg::ones_like(x));
    EXPECT_EQ(along.tangent.type(), kg::dtype_of<T>);
    EXPECT_EQ(along.tangent.item(), 5.4375);
  });
}

TEST(gradients_of_halves, flow_through_casts_from_and_to_other_floats) {
  const tensor x({0.5f, 3.f});
  const tensor g = kg::grad([](const tensor& t) {
    const tensor half = kg::cast(t, dtype::float16);
    return kg::sum(kg::cast(half * half, dtype::float32));
  })(x);
  EXPECT_EQ(g.type(), dtype::float32);
  EXPECT_EQ(g.to_doubles(), (doubles{1, 6}));
}

TEST(a_kernel_of_a_half, is_taken_where_a_program_registers_one) {
  kg::kernel_config config;
  config.name = "Neg";
  config.dtypes = kg::only(dtype::float16);
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    const tensor& x = call.input("x");
    return {kg::zeros_like(x)};  // to be told from the op's own
  };
  const kg::registration mine = kg::scoped_kernel(std::move(config), kg::existing::replace);
  const tensor x({kg::float16(2)});
  EXPECT_EQ(kg::run_kernel("Neg", {{"x", x}}).item(), 0);
  EXPECT_EQ(kg::run_kernel("Neg", {{"x", kg::cast(x, dtype::bfloat16)}}).item(), -2);
}

}  // namespace
