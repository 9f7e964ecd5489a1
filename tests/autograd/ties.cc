// SPDX-License-Identifier: Apache-2.0
// Gradients at ties of extremes: the elements that equal the result share dy, so that a derivative along a direction in
// which all of them move alike is that of the result.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using doubles = std::vector<double>;
using function = std::function<tensor(const tensor&)>;

tensor ids(std::vector<std::int64_t> list) { return tensor(list); }

struct tie {
  std::string name;
  function f;
  doubles x, gradient;
  kg::shape dims{static_cast<std::int64_t>(x.size())};
};

const std::vector<tie>& ties() {
  static const double nan = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<tie> all = {
      {"max", [](const tensor& x) { return kg::max(x); }, {2, 2, 1}, {0.5, 0.5, 0}},
      {"max of one axis",
       [](const tensor& x) { return kg::max(x, 1); },
       {3, 1, 3, 5, 5, 5},
       {0.5, 0, 0.5, 1.0 / 3, 1.0 / 3, 1.0 / 3},
       {2, 3}},
      {"max of two axes",
       [](const tensor& x) { return kg::max(x, {0, 2}, true); },
       {1, 2, 7, 0, 2, 2, 7, 7},
       {0, 1.0 / 3, 1.0 / 3, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3},
       {2, 2, 2}},
      {"max beside NaN", [](const tensor& x) { return kg::max(x); }, {2, nan, 2}, {0, 0, 0}},
      {"min", [](const tensor& x) { return kg::min(x); }, {1, 4, 1, 1}, {1.0 / 3, 0, 1.0 / 3, 1.0 / 3}},
      {"norm of order infinity",
       [](const tensor& x) { return kg::norm(x, std::numeric_limits<double>::infinity()); },
       {-3, 3, 1},
       {-0.5, 0.5, 0}},
      {"segment_max",
       [](const tensor& x) { return kg::segment_max(x, ids({0, 1, 0, 1, -1}), 2); },
       {4, 2, 4, 2, 9},
       {0.5, 0.5, 0.5, 0.5, 0}},
      {"segment_min of rows",
       [](const tensor& x) { return kg::segment_min(x, ids({1, 1, 0}), 2); },
       {4, 2, 4, 3, 7, 7},
       {0.5, 1, 0.5, 0, 1, 1},
       {3, 2}},
      {"the tensor of scatter_max",
       [](const tensor& x) { return kg::scatter_max(x, kg::reshape(ids({0, 0, 1}), {3, 1}), tensor({5.0, 5.0, 1.0})); },
       {5, 1, 0},
       {1.0 / 3, 0.5, 1}},
      {"the updates of scatter_max",
       [](const tensor& u) { return kg::scatter_max(tensor({5.0, 1.0}), kg::reshape(ids({0, 0, 1}), {3, 1}), u); },
       {5, 5, 0},
       {1.0 / 3, 1.0 / 3, 0}},
      {"the updates of scatter_along_axis",
       [](const tensor& u) {
         const tensor x({1.0, 8.0, 8.0}, {1, 3});
         return kg::scatter_along_axis(x, kg::reshape(ids({1, 0, 1}), {1, 3}), u, kg::scatter_reduction::min, 1);
       },
       {3, 1, 3},
       {0.5, 0.5, 0.5},
       {1, 3}},
      {"a number that goes to one element twice",
       [](const tensor& v) {
         return kg::scatter_along_axis(tensor({0.0, 1.0}), ids({0, 0}), v, kg::scatter_reduction::max);
       },
       {3},
       {1}},
      {"an update at an index that is named twice",
       [](const tensor& v) { return tensor({1.0, 2.0}).at(ids({0, 0})).max(v); },
       {3},
       {1},
       {}},
      {"a row that a bag names twice",
       [](const tensor& x) { return kg::embedding_bag(x, ids({0, 0, 1}), ids({0, 2}), {.mode = kg::bag_mode::max}); },
       {5, 2},
       {1, 1},
       {2, 1}},
      {"equal rows of a bag",
       [](const tensor& x) { return kg::embedding_bag(x, ids({0, 1}), ids({0}), {.mode = kg::bag_mode::max}); },
       {5, 5, 7},
       {0.5, 0.5, 0},
       {3, 1}},
  };
  return all;
}

void expect_near(const tensor& got, const doubles& wanted, double within) {
  const doubles all = got.to_doubles();
  ASSERT_EQ(all.size(), wanted.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], wanted[i], within) << "element " << i;
}

TEST(gradients_at_ties, are_shared_by_the_elements_that_equal_the_extreme) {
  for (const auto& [name, f, x, gradient, dims] : ties()) {
    SCOPED_TRACE(name);
    expect_near(kg::grad(f)(tensor(x, dims)), gradient, 1e-15);
  }
}

TEST(gradients_at_ties, are_shared_in_float32_and_in_halves) {
  for (const dtype type : {dtype::float32, dtype::float16, dtype::bfloat16})
    for (const tie& one : ties()) {
      if (one.name.starts_with("max") || one.name.starts_with("min") || one.name.starts_with("segment")) {
        SCOPED_TRACE(one.name + " of " + std::string(kg::name_of(type)));
        const tensor g = kg::grad(one.f)(kg::cast(tensor(one.x, one.dims), type));
        EXPECT_EQ(g.type(), type);
        expect_near(g, one.gradient, type == dtype::float32 ? 1e-7 : 2e-3);
      }
    }
}

TEST(gradients_at_ties, of_a_direction_that_moves_all_elements_alike_is_that_of_the_result) {
  const tensor x({2.0, 2.0}), v({1.0, 1.0});
  EXPECT_EQ(kg::jvp([](const tensor& t) { return kg::max(t); })(x, v).tangent.item(), 1);
  EXPECT_EQ(kg::jvp([](const tensor& t) { return kg::min(t); })(x, v).tangent.item(), 1);
  EXPECT_EQ(kg::jvp([](const tensor& t) { return kg::segment_max(t, ids({0, 0}), 1); })(x, v).tangent.item(), 1);
}

TEST(gradients_at_ties, have_derivatives_of_zero) {
  for (const auto& [name, f, x, gradient, dims] : ties()) {
    SCOPED_TRACE(name);
    const auto slope = [&](const tensor& t) { return kg::sum(kg::square(kg::grad(f)(t))); };
    expect_near(kg::grad(slope)(tensor(x, dims)), doubles(x.size(), 0), 0);
  }
}

// More ties than float16 can count.
TEST(gradients_at_ties, of_many_halves_are_not_lost) {
  const std::int64_t count = 100000;
  const tensor g = kg::grad([](const tensor& x) { return kg::max(x); })(
      kg::ones({count}, dtype::float16), tensor(kg::cast(tensor(1000.0f), dtype::float16)));
  EXPECT_NEAR(g.to_doubles()[count - 1], 0.01, 1e-5);
}

TEST(the_gradient_of_abs, is_zero_at_zero_of_either_sign_and_at_nan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const tensor x({0.0, -0.0, 3.0, -2.0, nan});
  for (const dtype type : {dtype::float64, dtype::float32, dtype::float16, dtype::bfloat16})
    EXPECT_EQ(kg::grad([](const tensor& t) { return kg::abs(t); })(kg::cast(x, type)).to_doubles(),
              (doubles{0, 0, 1, -1, 0}))
        << kg::name_of(type);
  const tensor by_name = kg::grad([](const tensor& t) { return kg::run_kernel("Abs", {{"x", t}}); })(x);
  EXPECT_EQ(by_name.to_doubles(), (doubles{0, 0, 1, -1, 0}));
}

// ------------------------------------------------------------------------------------------ jumps and corners

TEST(the_gradient_of_a_remainder_for_the_divisor, is_the_whole_quotient_that_it_was_made_with) {
  struct division {
    double a, b;
  };
  constexpr division divisions[] = {{1, 0.1},    {1, -0.1},  {-1, 0.1},  {-1, -0.1},   {7, 2},    {-7, 2},
                                    {7, -2},     {6, 2},     {-6, 2},    {0, 3},       {1, 0.01}, {0.3, 0.1},
                                    {-0.3, 0.1}, {5.5, 0.1}, {1e6, 0.7}, {3e38, -2e38}};
  for (const auto& [a, b] : divisions) {
    SCOPED_TRACE(std::to_string(a) + " by " + std::to_string(b));
    const auto slope = [&](const auto& f, dtype type) {
      return kg::grads(f)(kg::cast(tensor(a), type), kg::cast(tensor(b), type))[1].item();
    };
    // In long double, where the remainder of doubles is exact.
    const auto quotient = [](double p, double q, bool floored) {
      const long double rest = std::fmod(static_cast<long double>(p), static_cast<long double>(q));
      const long double whole = std::nearbyint((p - rest) / static_cast<long double>(q));
      return static_cast<double>(floored && rest != 0 && (rest < 0) != (q < 0) ? whole - 1 : whole);
    };
    const auto mod = [](const tensor& p, const tensor& q) { return kg::mod(p, q); };
    const auto fmod = [](const tensor& p, const tensor& q) { return kg::fmod(p, q); };
    EXPECT_EQ(slope(mod, dtype::float64), -quotient(a, b, true));
    EXPECT_EQ(slope(fmod, dtype::float64), -quotient(a, b, false));
    const auto p = static_cast<float>(a), q = static_cast<float>(b);
    EXPECT_EQ(slope(mod, dtype::float32), -quotient(p, q, true));
    EXPECT_EQ(slope(fmod, dtype::float32), -quotient(p, q, false));
  }
}

TEST(the_hessian_of_a_power, is_right_and_symmetric_where_the_exponent_is_zero) {
  const auto power = [](const tensor& v) { return kg::pow(v(0), v(1)); };
  for (const double base : {23.0, 0.5, 1e-100}) {
    const doubles h = kg::hessian(power)(tensor({base, 0.0})).to_doubles();
    EXPECT_EQ(h[0], 0);
    EXPECT_DOUBLE_EQ(h[1], 1 / base);
    EXPECT_DOUBLE_EQ(h[2], 1 / base);
    EXPECT_DOUBLE_EQ(h[3], std::log(base) * std::log(base));
  }
}

TEST(the_gradient_of_a_power_for_the_base, is_zero_where_the_exponent_is_and_finite_beside_it) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const tensor bases({0.0, -0.0, 5e-324, -2.0, inf, nan}), exponents(0.0);
  const auto g = kg::grads([](const tensor& a, const tensor& b) { return kg::pow(a, b); })(bases, exponents);
  EXPECT_EQ(g[0].to_doubles(), (doubles{0, 0, 0, 0, 0, 0}));
  const tensor second = kg::grad([&](const tensor& a) {
    return kg::sum(kg::grad([&](const tensor& p) { return kg::pow(p, exponents); })(a));
  })(tensor({0.0, 3.0}));
  EXPECT_EQ(second.to_doubles(), (doubles{0, 0}));
}

}  // namespace
