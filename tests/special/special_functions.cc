// SPDX-License-Identifier: Apache-2.0
// The special functions of tensors: SciPy's results, gradients against formulas, broadcasting, dtypes and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/special/scipy_special.h"
#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using doubles = std::vector<double>;

// x, y, u, a and b of scipy_special.py.
const tensor x(doubles{0.05, 0.4, 0.75, 1, 1.5, 2, 3.25, 7, 12, 40});
const tensor y(doubles{-12, -3.5, -0.25, 0.3, 2.5, 6, 9, 20});
const tensor u(doubles{0.01, 0.2, 0.45, 0.5, 0.7, 0.95, 0.999});
const tensor a(doubles{0.2, 0.9, 1, 2.5, 4, 10, 60});
const tensor b(doubles{0.3, 2, 5, 2.2, 11, 3, 50});

void expect_near(const tensor& got, const doubles& wanted, double relative, const std::string& what) {
  const doubles values = got.to_doubles();
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(values[i], wanted[i], relative * std::max(std::fabs(wanted[i]), 1e-3)) << what << ", element " << i;
}

void expect_refused(const std::function<void()>& call, std::initializer_list<std::string_view> parts) {
  const std::string text = kgtest::refusal([&] { return call(), 0; });
  EXPECT_TRUE(kgtest::says(text, parts)) << text;
}

struct scipy_case {
  const char* expression;
  std::function<tensor()> f;
};

TEST(special, results_are_those_of_scipy) {
  const scipy_case cases[] = {{"s.gammaln(x)", [] { return kg::lgamma(x); }},
                              {"s.gammaln(y - 0.1)", [] { return kg::lgamma(y - 0.1); }},
                              {"s.digamma(x)", [] { return kg::digamma(x); }},
                              {"s.digamma(y - 0.1)", [] { return kg::digamma(y - 0.1); }},
                              {"s.polygamma(1, x)", [] { return kg::polygamma(1, x); }},
                              {"s.polygamma(2, x)", [] { return kg::polygamma(2, x); }},
                              {"s.polygamma(5, x)", [] { return kg::polygamma(5, x); }},
                              {"s.erfinv(2 * u - 1)", [] { return kg::erfinv(2 * u - 1); }},
                              {"s.i0(y)", [] { return kg::i0(y); }},
                              {"s.i1(y)", [] { return kg::i1(y); }},
                              {"s.j0(y)", [] { return kg::j0(y); }},
                              {"s.j1(y)", [] { return kg::j1(y); }},
                              {"s.expi(y)", [] { return kg::expi(y); }},
                              {"s.logit(u)", [] { return kg::logit(u); }},
                              {"s.beta(a, b)", [] { return kg::beta(a, b); }},
                              {"s.gammainc(a, b)", [] { return kg::gammainc(a, b); }},
                              {"s.gammaincc(a, b)", [] { return kg::gammaincc(a, b); }},
                              {"s.betainc(a, b, u)", [] { return kg::betainc(a, b, u); }}};
  for (const scipy_case& c : cases) {
    ASSERT_TRUE(kgtest::scipy_special.contains(c.expression)) << c.expression;
    expect_near(c.f(), kgtest::scipy_special.at(c.expression), 1e-11, c.expression);
  }
  EXPECT_EQ(std::size(cases), kgtest::scipy_special.size());
}

struct differentiable {
  std::string name;
  std::function<tensor(const tensor&)> f;
  tensor at;
};

// The derivative by differences of order four, which are right to about 1e-9 of the values.
TEST(special, gradients_of_both_orders_are_the_slopes_of_the_functions) {
  const differentiable cases[] = {
      {"lgamma", [](const tensor& t) { return kg::lgamma(t); }, tensor(doubles{-2.6, -0.4, 0.3, 1.5, 4, 30})},
      {"digamma", [](const tensor& t) { return kg::digamma(t); }, tensor(doubles{-2.6, -0.4, 0.3, 1.5, 4, 30})},
      {"polygamma", [](const tensor& t) { return kg::polygamma(2, t); }, tensor(doubles{-1.3, 0.7, 1.5, 4, 30})},
      {"erfinv", [](const tensor& t) { return kg::erfinv(t); }, tensor(doubles{-0.9, -0.2, 0.0, 0.4, 0.8})},
      {"i0", [](const tensor& t) { return kg::i0(t); }, tensor(doubles{-3, 0.0, 0.5, 5})},
      {"i1", [](const tensor& t) { return kg::i1(t); }, tensor(doubles{-3, 0.25, 0.5, 5})},
      {"j0", [](const tensor& t) { return kg::j0(t); }, tensor(doubles{-3, 0.0, 0.5, 5, 14})},
      {"j1", [](const tensor& t) { return kg::j1(t); }, tensor(doubles{-3, 0.25, 0.5, 5, 14})},
      {"expi", [](const tensor& t) { return kg::expi(t); }, tensor(doubles{-3, -0.5, 0.4, 2, 5})},
      {"beta", [](const tensor& t) { return kg::beta(t, tensor(2.5)); }, tensor(doubles{0.4, 1, 3, 8})},
      {"beta of two", [](const tensor& t) { return kg::beta(t, t); }, tensor(doubles{0.4, 1, 3})},
      {"gammainc", [](const tensor& t) { return kg::gammainc(tensor(2.5), t); }, tensor(doubles{0.4, 1, 3, 8})},
      {"gammaincc", [](const tensor& t) { return kg::gammaincc(tensor(2.5), t); }, tensor(doubles{0.4, 1, 3, 8})},
      {"betainc", [](const tensor& t) { return kg::betainc(tensor(2.5), tensor(1.5), t); },
       tensor(doubles{0.2, 0.5, 0.9})},
      {"logit", [](const tensor& t) { return kg::logit(t); }, tensor(doubles{0.1, 0.3, 0.5, 0.9})},
      {"mish", [](const tensor& t) { return kg::mish(t); }, tensor(doubles{-5, -0.5, 0.0, 2, 25})},
      {"hard_swish", [](const tensor& t) { return kg::hard_swish(t); }, tensor(doubles{-5, -2, 0.5, 2, 4})},
  };
  const auto slope = [](const std::function<tensor(const tensor&)>& f, const tensor& at) {
    const double h = 1e-3;
    return ((f(at + h) - f(at - h)) * 8 - (f(at + 2 * h) - f(at - 2 * h))) / (12 * h);
  };
  for (const differentiable& c : cases) {
    const auto gradient = [&](const tensor& t) {
      return kg::grad([&](const tensor& v) { return kg::sum(c.f(v)); })(t);
    };
    expect_near(gradient(c.at), slope(c.f, c.at).to_doubles(), 1e-7, c.name);
    const auto second = [&](const tensor& t) {
      return kg::grad(
          [&](const tensor& v) { return kg::sum(kg::grad([&](const tensor& w) { return kg::sum(c.f(w)); })(v)); })(t);
    };
    expect_near(second(c.at), slope(gradient, c.at).to_doubles(), 1e-6, c.name + ", second order");
  }
}

TEST(special, gradients_at_0_of_bessel_functions_are_the_limits) {
  const auto at_0 = [](auto f) { return kg::grad([=](const tensor& t) { return kg::sum(f(t)); })(tensor(0.0)); };
  EXPECT_EQ(at_0([](const tensor& t) { return kg::i1(t); }).item<double>(), 0.5);
  EXPECT_EQ(at_0([](const tensor& t) { return kg::j1(t); }).item<double>(), 0.5);
  EXPECT_EQ(at_0([](const tensor& t) { return kg::i0(t); }).item<double>(), 0);
}

TEST(special, functions_of_several_operands_broadcast) {
  const tensor column = kg::reshape(tensor(doubles{0.5, 2, 7}), {3, 1}), row(doubles{0.3, 1, 4, 9});
  for (const auto& f : {std::function<tensor(const tensor&, const tensor&)>(
                            [](const tensor& p, const tensor& q) { return kg::beta(p, q); }),
                        {[](const tensor& p, const tensor& q) { return kg::gammainc(p, q); }},
                        {[](const tensor& p, const tensor& q) { return kg::gammaincc(p, q); }},
                        {[](const tensor& p, const tensor& q) { return kg::betainc(p, q, tensor(0.25)); }}}) {
    const tensor both = f(column, row);
    EXPECT_EQ(both.dims(), (kg::shape{3, 4}));
    const tensor whole = f(kg::broadcast_to(column, {3, 4}), kg::broadcast_to(row, {3, 4}));
    EXPECT_EQ(both.to_doubles(), whole.to_doubles());
  }
  // The gradient of a broadcast operand adds up.
  const tensor g = kg::grad([&](const tensor& t) { return kg::sum(kg::gammainc(column, t)); })(row);
  EXPECT_EQ(g.dims(), row.dims());
}

TEST(special, a_gradient_for_an_order_is_rejected) {
  for (const auto& f : {std::function<tensor(const tensor&)>([](const tensor& t) { return kg::gammainc(t, b); }),
                        {[](const tensor& t) { return kg::gammaincc(t, b); }},
                        {[](const tensor& t) { return kg::betainc(t, b, u); }},
                        {[](const tensor& t) { return kg::betainc(b, t, u); }}})
    expect_refused([&] { kg::grad([&](const tensor& t) { return kg::sum(f(t)); })(a); }, {"no closed form"});
}

TEST(special, complements_add_up_to_1) {
  const tensor p = kg::gammainc(a, b) + kg::gammaincc(a, b);
  expect_near(p, doubles(7, 1.0), 1e-15, "P + Q");
  expect_near(kg::betainc(a, b, u) + kg::betainc(b, a, 1 - u), doubles(7, 1.0), 1e-14, "I_x + I_1-x");
}

TEST(special, integers_are_computed_in_float32_and_halves_rounded_once) {
  EXPECT_EQ(kg::lgamma(tensor{3, 5}).type(), dtype::float32);
  EXPECT_EQ(kg::beta(tensor{2, 3}, tensor{1, 2}).type(), dtype::float32);
  const tensor half = kg::cast(u, dtype::float16);
  for (const auto& f : {std::function<tensor(const tensor&)>([](const tensor& t) { return kg::erfinv(t); }),
                        {[](const tensor& t) { return kg::logit(t); }},
                        {[](const tensor& t) { return kg::mish(t); }},
                        {[](const tensor& t) { return kg::hard_swish(t); }}}) {
    const tensor got = f(half), wanted = kg::cast(f(kg::cast(half, dtype::float32)), dtype::float16);
    EXPECT_EQ(got.type(), dtype::float16);
    EXPECT_EQ(got.to_doubles(), wanted.to_doubles());
  }
}

TEST(special, activations_follow_their_definitions_in_the_tails) {
  const tensor far(doubles{-1e4, -50, 0.0, 50, 1e4});
  expect_near(kg::hard_swish(far), {0, 0, 0, 50, 1e4}, 1e-15, "hard_swish");
  expect_near(kg::mish(far), {0, -50 * std::exp(-50.0), 0, 50, 1e4}, 1e-14, "mish");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(kg::logit(tensor(doubles{0, 0.5, 1})).to_doubles(), (doubles{-inf, 0, inf}));
  EXPECT_TRUE(std::isnan(kg::logit(tensor(1.5)).item<double>()));
}

TEST(special, an_order_out_of_range_and_shapes_that_do_not_broadcast_are_rejected) {
  expect_refused([] { kg::polygamma(-1, x); }, {"n"});
  expect_refused([] { kg::polygamma(101, x); }, {"n"});
  expect_refused([] { kg::gammainc(x, y); }, {"[kg::gammainc]", "broadcast"});
  expect_refused([] { kg::betainc(a, b, x); }, {"[kg::betainc]", "broadcast"});
  expect_refused([] { kg::logit(tensor()); }, {"x"});
}

}  // namespace
