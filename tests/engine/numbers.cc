// SPDX-License-Identifier: Apache-2.0
// Numbers next to tensors of integers: comparisons are those of the exact values, other ops take what the dtype holds,
// bounds may lie outside of it. Operators, functions and fused functions follow one rule.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using exact = long double;  // holds every int64, uint64 and double
using doubles = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t least64 = std::numeric_limits<std::int64_t>::lowest();
constexpr std::int64_t most64 = std::numeric_limits<std::int64_t>::max();

template <class T>
std::vector<T> values_of() {
  using limits = std::numeric_limits<T>;
  return {limits::lowest(), T(limits::lowest() + 1), T{0}, T{1}, T{2}, T{100}, limits::max(), T(limits::max() - 1)};
}

// Numbers of several types that lie in, between, at the ends of and outside of the dtypes.
const std::tuple numbers{0,
                         1,
                         -1,
                         255,
                         256,
                         300,
                         2.5,
                         2.0,
                         0.5f,
                         -0.5,
                         255.5,
                         true,
                         std::uint8_t{100},
                         std::int64_t{1} << 31,
                         -(std::int64_t{1} << 31) - 1,
                         2147483646.5,
                         least64,
                         most64,
                         most64 - 1,
                         std::uint64_t{1} << 63,
                         0x1p63,
                         -0x1p63,
                         1e300,
                         -1e300,
                         infinity,
                         -infinity,
                         nan};

template <class F>
void for_each_number(F f) {
  std::apply([&](auto... n) { (f(n), ...); }, numbers);
}

// Compares all values of T with one number; `got` is what the library says of x and n.
template <class T, class N, class Compare>
void expect_exact(N n, const tensor& got, Compare compare, const std::string& what) {
  const std::vector<T> values = values_of<T>();
  ASSERT_EQ(got.type(), dtype::boolean);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(got.data<bool>()[i], compare(static_cast<exact>(values[i]), static_cast<exact>(n)))
        << +values[i] << " and " << +n << ": " << what;
}

const std::tuple comparisons{
    [](const auto& a, const auto& b) { return a == b; }, [](const auto& a, const auto& b) { return a != b; },
    [](const auto& a, const auto& b) { return a < b; },  [](const auto& a, const auto& b) { return a <= b; },
    [](const auto& a, const auto& b) { return a > b; },  [](const auto& a, const auto& b) { return a >= b; },
};

template <class T>
void compare_all() {
  const tensor x(values_of<T>());
  for_each_number([&](auto n) {
    int which = 0;
    const auto both = [&](auto compare) {
      const std::string what = "comparison " + std::to_string(which++);
      expect_exact<T>(n, compare(x, n), compare, what);
      expect_exact<T>(n, compare(n, x), [&](exact a, exact b) { return compare(b, a); }, what + ", number first");
    };
    std::apply([&](auto... compare) { (both(compare), ...); }, comparisons);
  });
}

TEST(comparisons_with_numbers, are_those_of_the_exact_values) {
  compare_all<std::uint8_t>();
  compare_all<std::int32_t>();
  compare_all<std::int64_t>();
}

// The numbers of a fused expression are constants.
template <auto N>
void compare_fused() {
  const auto all = [&]<class T>(T) {
    const tensor x(values_of<T>());
    expect_exact<T>(N, kg::fuse([](auto a) { return a == N; })(x), [](exact a, exact b) { return a == b; }, "==");
    expect_exact<T>(N, kg::fuse([](auto a) { return a != N; })(x), [](exact a, exact b) { return a != b; }, "!=");
    expect_exact<T>(N, kg::fuse([](auto a) { return N > a; })(x), [](exact a, exact b) { return a < b; }, "<");
    expect_exact<T>(N, kg::fuse([](auto a) { return a >= N; })(x), [](exact a, exact b) { return a >= b; }, ">=");
  };
  all(std::uint8_t{}), all(std::int32_t{}), all(std::int64_t{});
}

TEST(comparisons_with_numbers, are_the_same_when_they_are_fused) {
  compare_fused<-1>();
  compare_fused<256>();
  compare_fused<2.5>();
  compare_fused<-0.5f>();
  compare_fused<(std::int64_t{1} << 31)>();
  compare_fused<1e300>();
}

TEST(comparisons_with_numbers, count_truths_as_0_and_1) {
  const tensor x({false, true});
  EXPECT_EQ((x == 1).to_doubles(), (doubles{0, 1}));
  EXPECT_EQ((x < 0.5).to_doubles(), (doubles{1, 0}));
  EXPECT_EQ((x == 1 + 0x1p-40).to_doubles(), (doubles{0, 0}));
  EXPECT_EQ((x <= 5e9).to_doubles(), (doubles{1, 1}));
  EXPECT_EQ((x != nan).to_doubles(), (doubles{1, 1}));
}

// ------------------------------------------------------------------------------------------ arithmetic

template <class T, class N>
bool holds(N n) {
  const exact value = static_cast<exact>(n);
  return value >= static_cast<exact>(std::numeric_limits<T>::lowest()) &&
         value <= static_cast<exact>(std::numeric_limits<T>::max()) && value == std::floor(value);
}

template <class T>
void calculate_all() {
  const tensor x(values_of<T>());
  for_each_number([&](auto n) {
    const exact value = static_cast<exact>(n);
    const bool whole = std::isfinite(value) && value == std::floor(value);
    const dtype wanted = holds<T>(n) ? kg::dtype_of<T> : dtype::float32;
    const auto expect = [&](const char* what, auto run) {
      if (whole && !holds<T>(n)) {
        const std::string text = refusal(run);
        EXPECT_NE(text.find("a number from"), std::string::npos) << what << " " << +n << ": " << text;
      } else {
        EXPECT_EQ(run().type(), wanted) << what << " " << +n;
      }
    };
    expect("x + n", [&] { return x + n; });
    expect("n - x", [&] { return n - x; });
    expect("x * n", [&] { return x * n; });
    expect("floor_div", [&] { return kg::floor_div(x, n); });
    expect("mod", [&] { return kg::mod(n, x); });
    expect("fused", [&] { return kg::fuse([](auto a, auto b) { return a + b; })(x, n); });
    EXPECT_EQ((x / n).type(), sizeof(T) > 1 ? dtype::float64 : dtype::float32)
        << "a quotient is one of floats that hold the integers, whatever the number";
  });
}

TEST(arithmetic_with_numbers, takes_what_the_dtype_holds_or_a_fraction) {
  calculate_all<std::uint8_t>();
  calculate_all<std::int32_t>();
  calculate_all<std::int64_t>();
  const tensor x({std::uint8_t{0}, std::uint8_t{100}, std::uint8_t{255}});
  EXPECT_EQ((x - 1).to_doubles(), (doubles{255, 99, 254})) << "arithmetic of integers wraps";
  EXPECT_EQ((x / 300).to_doubles()[2], static_cast<double>(255.f / 300.f));
  EXPECT_EQ(
      refusal([&] { return x - 300; }),
      "[kg::sub] got the number 300 next to a tensor of uint8; wanted a number from 0 to 255; cast the tensor to a "
      "dtype that holds it");
  EXPECT_EQ(refusal([&] { return kg::fuse([](auto a) { return a - 300; })(x); }), refusal([&] { return x - 300; }));
  EXPECT_EQ((tensor({true}) + 300).type(), dtype::int32);
  EXPECT_NE(refusal([] { return tensor({true}) + (std::int64_t{1} << 40); }), accepted);
}

// ------------------------------------------------------------------------------------------ bounds

TEST(bounds, may_lie_outside_of_the_dtype_where_they_leave_it_as_it_is) {
  const tensor x({std::uint8_t{0}, std::uint8_t{100}, std::uint8_t{255}});
  const doubles all = {0, 100, 255};
  for (const tensor& y : {kg::maximum(x, -1), kg::maximum(-1e300, x), kg::maximum(x, -infinity), kg::minimum(x, 256),
                          kg::minimum(x, most64), kg::minimum(infinity, x), kg::clip(x, -5, 300),
                          kg::clip(x, -infinity, infinity), kg::fuse([](auto a) { return kg::maximum(a, -1); })(x),
                          kg::fuse([](auto a) { return kg::clip(kg::minimum(a, 300), -1, 1e9); })(x)}) {
    EXPECT_EQ(y.type(), dtype::uint8);
    EXPECT_EQ(y.to_doubles(), all);
  }
  for (const std::string& text :
       {refusal([&] { return kg::maximum(x, 256); }), refusal([&] { return kg::minimum(-1, x); }),
        refusal([&] { return kg::maximum(x, infinity); }), refusal([&] { return kg::clip(x, 256, 300); }),
        refusal([&] { return kg::clip(x, -9, -1); }), refusal([&] { return kg::clip(x, 2.25, 2.75); })})
    EXPECT_NE(text, accepted);
}

TEST(bounds, that_are_fractions_leave_integers_between_them) {
  const tensor x({-3, 0, 1, 2, 3, 9});
  EXPECT_EQ(kg::clip(x, 0.5, 2.5).to_doubles(), (doubles{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(kg::clip(x, -2.5, 0.5).to_doubles(), (doubles{-2, 0, 0, 0, 0, 0}));
  const kg::backend_scope slow("reference");
  EXPECT_EQ(kg::clip(x, 0.5, 2.5).to_doubles(), (doubles{1, 1, 1, 2, 2, 2}));
}

TEST(bounds, out_of_order_are_refused_through_every_door) {
  constexpr auto clipped = [](auto x) { return kg::clip(x, 2, 1); };
  const tensor x({1.f, 2.f, 3.f});
  const std::string text = refusal([&] { return clipped(x); });
  EXPECT_EQ(text, "[kg::clip] got clipValueMin 2 and clipValueMax 1; wanted clipValueMin <= clipValueMax");
  EXPECT_EQ(refusal([&] {
              return kg::run_kernel("ClipByValue", {{"x", x}}, {{"clipValueMin", 2.0}, {"clipValueMax", 1.0}});
            }),
            "[ClipByValue]" + text.substr(text.find(']') + 1));
  EXPECT_EQ(refusal([&] { return kg::fuse(clipped)(x); }), text);
  EXPECT_EQ(refusal([&] { return kg::fuse(clipped)(2.f); }), text);
  EXPECT_EQ(refusal([&] { return kg::fuse(clipped).value_and_grads(2.0).value; }), text);
}

TEST(operators, on_bits_are_those_on_truth_values_for_booleans) {
  const tensor a({true, true, false, false}), b({true, false, true, false}), i({12, 10}), j({10, 6});
  EXPECT_EQ((a & b).to_doubles(), (doubles{1, 0, 0, 0}));
  EXPECT_EQ((a | b).to_doubles(), (doubles{1, 1, 1, 0}));
  EXPECT_EQ((a ^ b).to_doubles(), (doubles{0, 1, 1, 0}));
  EXPECT_EQ((~a).to_doubles(), (!a).to_doubles());
  EXPECT_EQ((a & true).type(), dtype::boolean);
  EXPECT_EQ((false | b).to_doubles(), b.to_doubles());
  EXPECT_EQ((i & j).to_doubles(), (doubles{8, 2}));
  EXPECT_EQ((i | 1).to_doubles(), (doubles{13, 11}));
  EXPECT_EQ((3 ^ i).to_doubles(), (doubles{15, 9}));
  EXPECT_EQ((~i).to_doubles(), (doubles{-13, -11}));
  EXPECT_EQ((i << 2).to_doubles(), (doubles{48, 40}));
  EXPECT_EQ((1 << j).to_doubles(), (doubles{1024, 64}));
  EXPECT_EQ((i >> tensor({1, 2})).to_doubles(), (doubles{6, 2}));
  EXPECT_EQ((-7 % tensor({3, -3})).to_doubles(), (doubles{2, -1})) << "the sign of the divisor, as in Python";
  EXPECT_EQ((tensor({7.5, -7.5}) % 2).to_doubles(), (doubles{1.5, 0.5}));
  EXPECT_NE(refusal([&] { return i & 1.5; }), accepted);
  EXPECT_NE(refusal([&] { return !i; }), accepted);
}

TEST(where, takes_a_number_on_either_side) {
  const tensor c({true, false, true}), x({1.f, 2.f, 3.f}), i({1, 2, 3});
  EXPECT_EQ(kg::where(c, x, 0).to_doubles(), (doubles{1, 0, 3}));
  EXPECT_EQ(kg::where(c, -1, x).to_doubles(), (doubles{-1, 2, -1}));
  EXPECT_EQ(kg::where(c, x, 0.5).type(), dtype::float32);
  EXPECT_EQ(kg::where(c, i, 9).type(), dtype::int32);
  EXPECT_EQ(kg::where(c, i, 0.5).type(), dtype::float32);
  EXPECT_EQ(kg::where(tensor(true), nan, x).dims(), x.dims());
  EXPECT_EQ(kg::where(c, 1, -1).to_doubles(), (doubles{1, -1, 1}));
  EXPECT_EQ(kg::where(c, 1, -1).type(), dtype::int32);
  EXPECT_EQ(kg::where(c, 1, 0.5).type(), dtype::float32);
  EXPECT_EQ(kg::where(c, false, true).to_doubles(), (!c).to_doubles());
  EXPECT_EQ(kg::where(c, false, true).type(), dtype::boolean);
  EXPECT_NE(refusal([&] { return kg::where(c, i, most64); }), accepted);
  EXPECT_NE(refusal([&] { return kg::where(c, 0, most64); }), accepted);
}

TEST(clip, has_one_bound_or_two) {
  const tensor x({-2.f, 0.5f, 3.f}), i({-2, 0, 3});
  EXPECT_EQ(kg::clip(x, std::nullopt, 1).to_doubles(), (doubles{-2, 0.5, 1}));
  EXPECT_EQ(kg::clip(x, 0, std::nullopt).to_doubles(), (doubles{0, 0.5, 3}));
  EXPECT_EQ(kg::clip(x, {}, 1).to_doubles(), (doubles{-2, 0.5, 1}));
  EXPECT_EQ(kg::clip(x, {}, {}).to_doubles(), x.to_doubles());
  EXPECT_EQ(kg::clip(i, std::nullopt, 1).to_doubles(), (doubles{-2, 0, 1}));
  EXPECT_EQ(kg::clip(i, 0, std::nullopt).to_doubles(), (doubles{0, 0, 3}));
  EXPECT_EQ(kg::clip(i, 0, std::nullopt).type(), dtype::int32);
}

}  // namespace
