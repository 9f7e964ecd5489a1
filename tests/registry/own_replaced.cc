// SPDX-License-Identifier: Apache-2.0
// Replacements at compile time for a built-in op: its kernels on a user-defined backend, and its gradient rule in a
// scope.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/support/refusal.h"

namespace my {

// Kernels of a user-defined backend: what they give tells them from the library's.
struct Marked {
  static constexpr auto kernels = std::tuple(
      kg::kernels_of<"Add">(kg::per_pair<float>([](float a, float b) { return a + b + 1000; })),
      kg::kernels_of<"Round">(kg::per_element<float>([](float x) { return std::trunc(x); }),
                              kg::per_element<double>([](double x) { return std::trunc(x); })),
      kg::kernels_of<"LeakyRelu">(
          kg::per_element<float>([](float x, double alpha) { return x > 0 ? x : static_cast<float>(x * alpha - 7); })));
};
struct OnReference {
  static constexpr kg::backend base = kg::backend::reference;
  static constexpr auto kernels = std::tuple();
};

}  // namespace my

namespace {

using kg::tensor;
using kgtest::refusal;
using doubles = std::vector<double>;

constexpr auto pass_through = [](const auto& c) { return c.dy(); };

TEST(the_raw_door_of_a_backend_of_ones_own, has_its_kernels_and_those_of_its_base) {
  const std::vector<float> a = {1.75f, -2.5f}, b = {1, 2};
  std::vector<float> y(2);
  kg::kernel<"Add", my::Marked>(std::span<const float>(a), std::span<const float>(b), std::span<float>(y));
  EXPECT_EQ(y, (std::vector<float>{1002.75f, 999.5f}));
  kg::kernel<"Round", my::Marked>(std::span<const float>(a), std::span<float>(y));
  EXPECT_EQ(y, (std::vector<float>{1, -2}));
  kg::kernel<"Sub", my::Marked>(std::span<const float>(a), std::span<const float>(b), std::span<float>(y));
  EXPECT_EQ(y, (std::vector<float>{0.75f, -4.5f})) << "the base has it";
  kg::kernel<"Neg", my::OnReference>(std::span<const float>(a), std::span<float>(y));
  EXPECT_EQ(y, (std::vector<float>{-1.75f, 2.5f}));
}

// ------------------------------------------------------------------------------------------ call_on

TEST(a_call_on_a_backend_of_ones_own, runs_its_kernels_with_promotion_broadcasting_and_attributes) {
  const tensor a({1.f, 2.f});
  EXPECT_EQ((kg::call_on<"Add", my::Marked>(a, a)).to_doubles(), (doubles{1002, 1004}));
  EXPECT_EQ((kg::call_on<"Add", my::Marked>(a, tensor(1))).to_doubles(), (doubles{1002, 1003}));
  EXPECT_EQ((kg::call_on<"Add", my::Marked>(tensor({1.0}), tensor({1.0}))).item(), 2) << "float64 is its base's";
  EXPECT_EQ((kg::call_on<"LeakyRelu", my::Marked>(tensor({-1.f}), kg::attr<"alpha">(0.5))).item(), -7.5);
  EXPECT_NEAR((kg::call_on<"LeakyRelu", my::Marked>(tensor({-1.f}))).item(), -7.2, 1e-6) << "the row's default";
  EXPECT_EQ((kg::call_on<"Sub", my::OnReference>(a, a)).to_doubles(), (doubles{0, 0}));
  EXPECT_EQ(kg::add(a, a).to_doubles(), (doubles{2, 4})) << "other calls do not care";
  EXPECT_NE(refusal([&] { return kg::call_on<"Add", my::Marked>(a, tensor({1.f, 2.f, 3.f})); }).find("[kg::add]"),
            std::string::npos);
}

TEST(a_call_on_a_backend_of_ones_own, has_the_rule_of_its_op) {
  const auto f = [](const tensor& x) { return kg::sum(kg::square(kg::call_on<"Add", my::Marked>(x, x))); };
  EXPECT_EQ(kg::grad(f)(tensor({1.f})).item(), 2 * 1002 * 2);
}

// ------------------------------------------------------------------------------------------ rule_scope

double slope_of_round(double at) {
  return kg::grad([](const tensor& x) { return kg::round(x); })(tensor(at)).item();
}

TEST(a_rule_scope, gives_round_a_gradient_that_passes_through) {
  EXPECT_EQ(slope_of_round(1.25), 0);
  {
    const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, pass_through)));
    EXPECT_EQ(slope_of_round(1.25), 1);
    const auto f = [](const tensor& x) { return kg::sum(kg::square(kg::run_kernel("Round", {{"x", x}}))); };
    EXPECT_EQ(kg::grad(f)(tensor({1.25, 2.75})).to_doubles(), (doubles{2, 6})) << "by name as well";
  }
  EXPECT_EQ(slope_of_round(1.25), 0);
}

TEST(a_rule_scope, nests_and_gives_back_what_was_there_before) {
  const kg::rule_scope outer(kg::rule<"Round">(kg::wrt(kg::keep::nothing, pass_through)));
  {
    const kg::rule_scope inner(
        kg::rule<"Round">(kg::wrt(kg::keep::in0, [](const auto& c) { return c.dy() * c.in(0) * 10; })));
    EXPECT_EQ(slope_of_round(1.25), 12.5);
    const kg::rule_scope another(kg::rule<"Sign">(kg::wrt(kg::keep::nothing, pass_through)));
    EXPECT_EQ(slope_of_round(1.25), 12.5) << "a scope of another op does not hide it";
    EXPECT_EQ(kg::grad([](const tensor& x) { return kg::sign(x); })(tensor(3.0)).item(), 1);
  }
  EXPECT_EQ(slope_of_round(1.25), 1);
  try {
    const kg::rule_scope thrown_out(
        kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * 5; })));
    throw std::runtime_error("out of the scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(slope_of_round(1.25), 1);
}

TEST(a_rule_scope, is_its_threads_own) {
  const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, pass_through)));
  double there = -1;
  std::thread([&] { there = slope_of_round(1.25); }).join();
  EXPECT_EQ(there, 0);
  EXPECT_EQ(slope_of_round(1.25), 1);
}

TEST(a_rule_scope, may_end_in_any_order_and_on_any_thread) {
  const auto times = [](auto factor) {
    return kg::rule<"Round">(
        kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * decltype(factor)::value; }));
  };
  const auto five = times(std::integral_constant<int, 5>{});
  const auto seven = times(std::integral_constant<int, 7>{});
  std::optional<decltype(kg::rule_scope(five))> outer(five);
  std::optional<decltype(kg::rule_scope(seven))> inner(seven);
  outer.reset();
  EXPECT_EQ(slope_of_round(1.25), 7);
  outer.emplace(five);
  EXPECT_EQ(slope_of_round(1.25), 5) << "the youngest";
  std::thread([&] { outer.reset(); }).join();
  EXPECT_EQ(slope_of_round(1.25), 7);
  std::thread([&] { inner.reset(); }).join();
  EXPECT_EQ(slope_of_round(1.25), 0);
}

TEST(a_rule_scope, leaves_its_rule_with_what_was_recorded_in_it) {
  const auto f = [](const tensor& x) {
    tensor y;
    {
      const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, pass_through)));
      y = kg::round(x);
    }
    return y + kg::round(x) * 100;  // the second one is recorded with the op's own
  };
  EXPECT_EQ(kg::grad(f)(tensor(1.25)).item(), 1);
}

TEST(a_rule_scope, holds_for_what_a_backend_of_ones_own_runs) {
  const auto f = [](const tensor& x) { return kg::call_on<"Round", my::Marked>(x); };
  EXPECT_EQ(kg::grad(f)(tensor(1.75)).item(), 0);
  const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, pass_through)));
  EXPECT_EQ(kg::grad(f)(tensor(1.75)).item(), 1);
}

TEST(a_rule_scope, comes_before_a_gradient_of_the_registry) {
  const kg::registration gradient = kg::scoped_gradient(
      {.name = "Round",
       .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> { return {{"x", c.dy() * 100}}; }},
      kg::existing::replace);
  EXPECT_EQ(slope_of_round(1.25), 100);
  const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, pass_through)));
  EXPECT_EQ(slope_of_round(1.25), 1) << "the nearer one of the two";
}

TEST(a_rule_scope, serves_ops_with_several_operands_and_constant_ones) {
  const kg::rule_scope half(kg::rule<"Multiply">(
      kg::wrt(kg::keep::in1, [](const auto& c) { return c.reduced(0, c.dy() * 2); }), kg::constant_operand()));
  const auto g = kg::grads([](const tensor& a, const tensor& b) { return kg::sum(kg::mul(a, b)); })(tensor({3.0, 4.0}),
                                                                                                    tensor({5.0}));
  EXPECT_EQ(g[0].to_doubles(), (doubles{2, 2}));
  EXPECT_EQ(g[1].to_doubles(), (doubles{0}));
}

}  // namespace
