// SPDX-License-Identifier: Apache-2.0
// Operands that end with their call may donate their memory to its result; all others keep their elements.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

import kerngrad;

namespace {

using kg::tensor;

tensor ramp(std::int64_t n) { return kg::linspace(0.25, 2, n); }

// The most bytes that f held at once beyond what there was.
template <class F>
std::int64_t peak_of(F f) {
  const std::int64_t before = kg::memory().live_bytes;
  kg::reset_peak_memory();
  f();
  return kg::memory().peak_bytes - before;
}

TEST(a_temporary, donates_its_memory_to_the_result) {
  constexpr std::int64_t n = 1 << 16, block = n * 4;
  const tensor x = ramp(n), y = ramp(n);
  EXPECT_EQ(peak_of([&] { kg::exp(kg::sin(x) * y) - y; }), block);
  EXPECT_EQ(peak_of([&] { y - (y / -(x + y)); }), block);
  EXPECT_EQ(peak_of([&] { kg::sqrt(x) * kg::sqrt(y); }), 2 * block);
}

TEST(a_temporary, beside_a_number_lends_its_memory_too) {
  constexpr std::int64_t n = 1000, block = n * 4;
  const tensor x = ramp(n);
  EXPECT_EQ(peak_of([&] { 1 - (kg::exp(x) * 0.5 + 3) / 7; }), block);
}

TEST(a_temporary, gives_the_same_elements_as_a_named_operand) {
  for (std::int64_t n : {1, 2, 7, 16, 31, 64, 100, 1000, 70000}) {
    const tensor x = ramp(n), y = kg::cos(x);
    const tensor sum = x + y, product = sum * y, difference = 2 - product, ratio = difference / 3,
                 most = kg::exp(ratio);
    const tensor chain = kg::exp((2 - (x + y) * y) / 3);
    EXPECT_EQ(chain.to_doubles(), most.to_doubles()) << n << " elements";
  }
}

TEST(a_temporary, of_another_dtype_than_the_result_lends_nothing) {
  const tensor x = ramp(100), y = kg::cos(x);
  const tensor sum = x + y;
  EXPECT_EQ((x + y > y).to_doubles(), (sum > y).to_doubles());
}

TEST(an_operand, that_somebody_else_holds_keeps_its_elements) {
  const tensor x = ramp(100);
  tensor given = x * x;
  const tensor held = given;
  const std::vector<double> before = held.to_doubles();
  const tensor y = kg::exp(std::move(given) * x);
  EXPECT_EQ(held.to_doubles(), before);
  EXPECT_FALSE(y.shares_with(held));
}

TEST(an_operand, that_is_a_view_of_something_held_keeps_its_elements) {
  const tensor x = ramp(100);
  const std::vector<double> before = x.to_doubles();
  const tensor y = kg::reshape(x, {10, 10}) * 2.0 + kg::reshape(x, {10, 10});
  EXPECT_EQ(x.to_doubles(), before);
  EXPECT_FALSE(y.shares_with(x));
}

TEST(a_gradient, finds_the_operands_that_were_temporaries_as_they_were) {
  const tensor x = ramp(50);
  // d/dx exp(sin(x) x) = exp(sin(x) x) (cos(x) x + sin(x)): every rule wants an operand that was a temporary.
  const tensor g = kg::grad([](const tensor& t) { return kg::exp(kg::sin(t) * t * 1.0); })(x);
  const std::vector<double> at = x.to_doubles(), got = g.to_doubles();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double want = std::exp(std::sin(at[i]) * at[i]) * (std::cos(at[i]) * at[i] + std::sin(at[i]));
    EXPECT_NEAR(got[i], want, 1e-5 * std::abs(want)) << "at " << at[i];
  }
}

TEST(a_watched_call, sees_its_operands_unchanged) {
  const tensor x = ramp(10);
  const std::vector<double> square = (x * x).to_doubles();
  std::vector<std::vector<double>> seen;
  kg::hooks watch;
  watch.end = [&](const kg::kernel_event& e) {
    for (const tensor* operand : e.in) seen.push_back(operand->to_doubles());
  };
  const kg::hook_handle added = kg::add_hooks(watch);
  const tensor y = kg::exp(x * x);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[2], square);
}

TEST(a_compound_assignment, writes_where_nobody_else_reads) {
  tensor x = ramp(100);
  const void* const where = x.address();
  const std::vector<double> before = x.to_doubles();
  x += 1;
  x *= x;
  x -= ramp(100);
  x /= 2.0;
  EXPECT_EQ(x.address(), where);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(x.to_doubles()[i], ((before[i] + 1) * (before[i] + 1) - before[i]) / 2, 1e-5);
  const tensor held = x;
  x += 1;
  EXPECT_NE(x.address(), held.address());
}

TEST(a_compound_assignment, is_the_operator_and_an_assignment) {
  tensor x({6, 7, 8});
  x %= 4;
  EXPECT_EQ(x.to_doubles(), (std::vector<double>{2, 3, 0}));
  x <<= 3;
  x |= 1;
  x ^= tensor({1, 0, 1});
  x &= 24;
  x >>= 1;
  EXPECT_EQ(x.to_doubles(), (std::vector<double>{8, 12, 0}));
  x += 0.5;
  EXPECT_EQ(x.type(), kg::dtype::float32) << "as x + 0.5 is";
  x += tensor({1, 2}, {2, 1});
  EXPECT_EQ(x.dims(), (kg::shape{2, 3}));
  const tensor g = kg::grad([](const tensor& t) {
    tensor y = t;
    y *= t;
    y += y;
    return y;
  })(tensor(3.0));
  EXPECT_EQ(g.item(), 12);
}

}  // namespace
