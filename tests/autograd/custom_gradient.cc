// SPDX-License-Identifier: Apache-2.0
// Custom rules for several tensors: as functions found at run time, and as template arguments.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

// ------------------------------------------------------------------------------------------ at run time

TEST(custom_grad, takes_a_function_of_several_tensors) {
  const auto scaled = kg::custom_grad([](const tensor& a, const tensor& b) {
    return kg::with_gradient(a * b, [a, b](const tensor& dy) { return std::vector{dy * b * 10, dy * a * 100}; });
  });
  const tensor a({2.0, 3.0}), b({5.0, 7.0});
  EXPECT_EQ(scaled(a, b).to_doubles(), (doubles{10, 21}));
  const auto g = kg::grads([&](const tensor& p, const tensor& q) { return scaled(p, q); })(a, b);
  EXPECT_EQ(g[0].to_doubles(), (doubles{50, 70}));
  EXPECT_EQ(g[1].to_doubles(), (doubles{200, 300}));
}

// The exponentials without an op that could be differentiated.
tensor computed_elsewhere(const tensor& x) {
  doubles values = x.to_doubles();
  for (double& v : values) v = std::exp(v);
  return tensor(values, x.dims());
}

TEST(custom_grad, of_every_order_is_right_when_the_rule_takes_the_value) {
  const auto power = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(computed_elsewhere(x),
                             [](const tensor& dy, const tensor& y) { return std::vector{dy * y}; });
  });
  const auto f = [&](const tensor& x) { return power(x); };
  const tensor x({0.5, -1.0});
  const doubles wanted = computed_elsewhere(x).to_doubles();
  EXPECT_EQ(f(x).to_doubles(), wanted);
  EXPECT_EQ(kg::grad(f)(x).to_doubles(), wanted);
  EXPECT_EQ(kg::grad(kg::grad(f))(x).to_doubles(), wanted);
  EXPECT_EQ(kg::grad(kg::grad(kg::grad(f)))(x).to_doubles(), wanted);
  EXPECT_EQ(kg::jvp(kg::grad(f))(x, tensor({2.0, 3.0})).tangent.to_doubles(), (doubles{2 * wanted[0], 3 * wanted[1]}));
}

TEST(custom_grad, gives_the_value_the_rule_itself_as_its_gradient) {
  const auto steep = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(kg::exp(x), [](const tensor& dy, const tensor& y) { return std::vector{dy * y * 3}; });
  });
  const auto f = [&](const tensor& x) { return steep(x); };
  EXPECT_EQ(kg::grad(f)(tensor(0.0)).item(), 3);
  EXPECT_EQ(kg::grad(kg::grad(f))(tensor(0.0)).item(), 9);
}

TEST(custom_grad, hands_several_values_to_a_rule_of_two_parameters) {
  const auto both = kg::custom_grad([](const tensor& x) {
    return kg::with_gradients(
        std::array{computed_elsewhere(x), computed_elsewhere(-x)},
        [](std::span<const tensor> dy, std::span<const tensor> y) { return std::vector{dy[0] * y[0] - dy[1] * y[1]}; });
  });
  const auto cosh = [&](const tensor& x) {
    const auto parts = both(x);
    return (parts[0] + parts[1]) * 0.5;
  };
  EXPECT_DOUBLE_EQ(kg::grad(cosh)(tensor(1.0)).item(), std::sinh(1.0));
  EXPECT_DOUBLE_EQ(kg::grad(kg::grad(cosh))(tensor(1.0)).item(), std::cosh(1.0));
}

TEST(custom_grad, gives_an_array_for_several_values_and_takes_null_gradients) {
  const auto both = kg::custom_grad([](const tensor& a, const tensor& b) {
    return kg::with_gradients(std::array{a + b, a * b},
                              [a, b](std::span<const tensor> dy) { return std::vector{dy[0] + dy[1] * b, tensor()}; });
  });
  const tensor a(2.0), b(3.0);
  const std::array<tensor, 2> values = both(a, b);
  EXPECT_EQ(values[0].item(), 5);
  EXPECT_EQ(values[1].item(), 6);
  const auto g = kg::grads([&](const tensor& p, const tensor& q) { return both(p, q)[1]; })(a, b);
  EXPECT_EQ(g[0].item(), 3);
  EXPECT_EQ(g[1].item(), 0) << "no gradient";
}

TEST(custom_grad, for_several_tensors_refuses_wrong_gradients_and_values_that_it_would_drop) {
  const auto with_rule = [](std::function<std::vector<tensor>(const tensor&)> rule) {
    return kg::custom_grad([rule](const tensor& a, const tensor& b) { return kg::with_gradient(a * b, rule); });
  };
  const tensor x({1.0, 2.0});
  for (const std::vector<tensor>& wrong : {std::vector<tensor>{}, std::vector{x}, std::vector{x, x, x},
                                           std::vector{x, tensor({1.0})}, std::vector{tensor({1.f, 2.f}), x}})
    EXPECT_NE(refusal([&] { return kg::grads(with_rule([&](const tensor&) { return wrong; }))(x, x); }), accepted);
  const auto two = kg::custom_grad([](const tensor& a) {
    return kg::custom_result{{a, a}, [](std::span<const tensor> dy) { return std::vector{dy[0]}; }};
  });
  EXPECT_NE(refusal([&] { return two(x); }).find("with_gradients"), std::string::npos);
}

// ------------------------------------------------------------------------------------------ at compile time

constexpr auto cube = kg::custom_gradient<[](const tensor& x) { return kg::saved(x * x * x, x); },
                                          [](const tensor& dy, const tensor& x) { return dy * x * x * 3; }>;
constexpr auto product =
    kg::custom_gradient<[](const tensor& a, const tensor& b) { return kg::saved(a * b, a, b); },
                        [](const tensor& dy, const tensor& a, const tensor& b) { return std::tuple{dy * b, dy * a}; }>;
constexpr auto straight_through =
    kg::custom_gradient<[](const tensor& x) { return kg::round(x); }, [](const tensor& dy) { return dy; }>;
// A saved result: the derivative of exp is exp, at every order.
constexpr auto exponential = kg::custom_gradient<[](const tensor& x) {
  const tensor y = kg::exp(x);
  return kg::saved(y, y);
},
                                                 [](const tensor& dy, const tensor& y) { return dy * y; }>;

tensor quotient(const tensor& a, const tensor& b) { return a / b; }
std::array<tensor, 2> no_gradients(const tensor&) { return {}; }

TEST(custom_gradient, has_the_value_of_its_forward_part_and_the_gradients_of_the_other) {
  const tensor a({2.0, 3.0}), b({5.0, 7.0});
  EXPECT_EQ(cube(a).to_doubles(), (doubles{8, 27}));
  EXPECT_EQ(kg::grad([](const tensor& x) { return cube(x); })(a).to_doubles(), (doubles{12, 27}));
  const auto g = kg::grads([](const tensor& p, const tensor& q) { return product(p, q); })(a, b);
  EXPECT_EQ(g[0].to_doubles(), (doubles{5, 7}));
  EXPECT_EQ(g[1].to_doubles(), (doubles{2, 3}));
  EXPECT_EQ(kg::grad(straight_through)(tensor({1.4})).item(), 1);
  constexpr auto flat = kg::custom_gradient<quotient, no_gradients>;
  EXPECT_EQ(kg::grads(flat)(a, b)[1].to_doubles(), (doubles{0, 0})) << "empty tensors: no gradients";
}

TEST(custom_gradient, is_right_at_higher_orders_and_under_the_transforms) {
  const tensor x({2.0, 3.0}), v({1.0, 10.0});
  const auto nth = [](auto f) { return [f](const tensor& t) { return kg::sum(kg::grad(f)(t)); }; };
  EXPECT_EQ(kg::grad(nth(cube))(x).to_doubles(), (doubles{12, 18}));
  EXPECT_EQ(kg::grad(nth(nth(cube)))(x).to_doubles(), (doubles{6, 6}));
  EXPECT_EQ(kg::jvp(cube)(x, v).tangent.to_doubles(), (doubles{12, 270}));
  EXPECT_EQ(kg::vjp(cube)(x).back(v)[0].to_doubles(), (doubles{12, 270}));
  EXPECT_EQ(kg::grad(kg::checkpoint(cube))(x).to_doubles(), (doubles{12, 27}));
  auto mixed = kg::grad([](const tensor& a) { return kg::grads(product)(a * a, a)[1]; });
  EXPECT_EQ(mixed(x).to_doubles(), (doubles{4, 6}));
  EXPECT_EQ(kg::grad(nth(nth(exponential)))(x).to_doubles(), kg::exp(x).to_doubles());
}

// A saved result is a value of the step itself: the second order uses the step's rule, not the ops inside.
constexpr auto doubled_rule = kg::custom_gradient<[](const tensor& x) {
  const tensor y = kg::exp(x);
  return kg::saved(y, y);
},
                                                  [](const tensor& dy, const tensor& y) { return dy * y * 2; }>;

TEST(custom_gradient, gives_a_saved_result_its_own_rule) {
  const tensor second = kg::grad(
      [](const tensor& t) { return kg::grad([](const tensor& x) { return doubled_rule(x); })(t); })(tensor(0.0));
  EXPECT_EQ(second.item(), 4);
}

TEST(custom_gradient, keeps_what_it_saved_as_long_as_the_tape_does) {
  const tensor x = kg::ones({100});
  const kg::memory_info before = kg::memory();
  kg::grad([&](const tensor& t) {
    const tensor y = cube(t);
    EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1) << "the result; the saved operand is shared";
    return y;
  })(x);
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

constexpr auto wrong_shape =
    kg::custom_gradient<[](const tensor& x) { return x * 2; }, [](const tensor&) { return tensor({1.0}); }>;
constexpr auto wrong_dtype =
    kg::custom_gradient<[](const tensor& x) { return x * 2; }, [](const tensor&) { return tensor({1.f, 2.f}); }>;
constexpr auto no_value =
    kg::custom_gradient<[](const tensor&) { return tensor(); }, [](const tensor& dy) { return dy; }>;

TEST(custom_gradient, refuses_gradients_of_another_shape_or_dtype_and_no_value) {
  const tensor x({1.0, 2.0});
  EXPECT_NE(refusal([&] { return kg::grad(wrong_shape)(x); }).find("custom_gradient"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::grad(wrong_dtype)(x); }).find("float32"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::grad(no_value)(x); }).find("undefined"), std::string::npos);
}

}  // namespace
