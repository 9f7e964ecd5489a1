// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders of floats: floor_div(a, b) * b + mod(a, b) is a, and slopes are the whole quotients.
#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::tensor;

struct pair {
  double a, b, quotient;
};

TEST(quotients, are_those_of_the_exact_numbers) {
  for (const pair& p : {pair{1, 0.1, 9}, pair{-1, 0.1, -10}, pair{1, -0.1, -10}, pair{-1, -0.1, 9}, pair{6, 3, 2},
                        pair{0.3, 0.1, 2}, pair{7, 0.5, 14}, pair{-7, 2, -4}}) {
    SCOPED_TRACE(std::to_string(p.a) + " / " + std::to_string(p.b));
    EXPECT_EQ(kg::floor_div(tensor(p.a), tensor(p.b)).item(), p.quotient);
  }
}

TEST(quotients, times_divisors_and_remainders_are_the_dividends) {
  for (int round = 0; round < rounds(20); ++round) {
    dice d(static_cast<std::uint64_t>(round) + 1);
    // Multiples of tenths, whose rounded quotients are whole where the exact ones are not.
    doubles a = d.whole(50, -99, 99), b = d.whole(50, 1, 9);
    for (double& v : a) v /= 10;
    for (double& v : b) v /= d.yes() ? 10 : -10;
    const tensor x(a), y(b), quotient = kg::floor_div(x, y), remainder = kg::mod(x, y);
    expect_is(quotient * y + remainder, {{50}, a}, 4e-16);
    expect_is(kg::floor(quotient), {{50}, quotient.to_doubles()});
    const doubles r = remainder.to_doubles();
    for (std::size_t i = 0; i < r.size(); ++i)
      EXPECT_TRUE(r[i] == 0 || ((r[i] < 0) == (b[i] < 0) && std::fabs(r[i]) < std::fabs(b[i]))) << a[i] << " " << b[i];
  }
}

TEST(remainders, fall_by_the_whole_quotient_as_the_divisor_rises) {
  const auto slope = [](const auto& f, double a, double b) {
    return kg::grad([&](const tensor& t) { return f(tensor(a), t); })(tensor(b)).item();
  };
  const auto mod = [](const tensor& a, const tensor& b) { return kg::mod(a, b); };
  const auto fmod = [](const tensor& a, const tensor& b) { return kg::fmod(a, b); };
  EXPECT_EQ(slope(mod, 1, 0.1), -9);
  EXPECT_EQ(slope(fmod, 1, 0.1), -9);
  EXPECT_EQ(slope(mod, -1, 0.1), 10);
  EXPECT_EQ(slope(fmod, -1, 0.1), 9);
  EXPECT_EQ(slope(mod, 7, 2), -3);
}

}  // namespace
