// SPDX-License-Identifier: Apache-2.0
// The examples of the page on transforms: its code blocks are lines of this file.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

import kerngrad;

namespace {

using kg::tensor;
using doubles = std::vector<double>;

constexpr auto cube = kg::custom_gradient<[](const tensor& x) { return kg::saved(x * x * x, x); },
                                          [](const tensor& dy, const tensor& x) { return dy * x * x * 3; }>;
constexpr auto product =
    kg::custom_gradient<[](const tensor& a, const tensor& b) { return kg::saved(a * b, a, b); },
                        [](const tensor& dy, const tensor& a, const tensor& b) { return std::tuple{dy * b, dy * a}; }>;

TEST(example, of_vjp) {
  const auto area = [](const tensor& a, const tensor& b) { return a * b; };
  const auto [value, back] = kg::vjp(area)(tensor({2.0, 3.0}), tensor({5.0, 7.0}));
  const auto grads = back(tensor({1.0, 10.0}));  // grads[0] is [5, 70], grads[1] is [2, 30]
  EXPECT_EQ(value.to_doubles(), (doubles{10, 21}));
  EXPECT_EQ(grads[0].to_doubles(), (doubles{5, 70}));
  EXPECT_EQ(grads[1].to_doubles(), (doubles{2, 30}));
}

TEST(example, of_jvp) {
  const auto area = [](const tensor& a, const tensor& b) { return a * b; };
  const tensor a(3.0), b(4.0), va(1.0), vb(100.0);
  const auto both = kg::jvp(area)({a, b}, {va, vb});  // both.tangent is 304
  const auto cubes = [](const tensor& x) { return kg::sum(x * x * x); };
  const tensor x({2.0, 3.0}), v({1.0, 10.0});
  const tensor hv = kg::jvp(kg::grad(cubes))(x, v).tangent;  // the Hessian times v: [12, 180]
  EXPECT_EQ(both.tangent.item(), 304);
  EXPECT_EQ(hv.to_doubles(), (doubles{12, 180}));
}

TEST(example, of_checkpoint) {
  const kg::variable w(tensor({0.5, -1.0}));
  const auto layer = [&](const tensor& x) { return kg::tanh(kg::sin(x * w) + x); };
  const auto light = kg::checkpoint(layer);
  const tensor x({1.0, 2.0});
  const auto result = kg::variable_grads([&] { return kg::sum(light(light(x))); });
  const auto plain = kg::variable_grads([&] { return kg::sum(layer(layer(x))); });
  EXPECT_EQ(result.grads[0].grad.to_doubles(), plain.grads[0].grad.to_doubles());
}

TEST(example, of_custom_grad) {
  const auto clipped = kg::custom_grad([](const tensor& x, const tensor& limit) {
    return kg::with_gradient(x, [limit](const tensor& dy) {
      return std::vector{kg::minimum(dy, limit), tensor()};  // an empty tensor: no gradient
    });
  });
  const auto f = [&](const tensor& x) { return kg::sum(clipped(x, tensor(1.0)) * 5); };
  EXPECT_EQ(kg::grad(f)(tensor({2.0, 3.0})).to_doubles(), (doubles{1, 1}));
}

// exp(x) by a library that kerngrad knows nothing of.
tensor computed_elsewhere(const tensor& x) {
  doubles values = x.to_doubles();
  for (double& v : values) v = std::exp(v);
  return tensor(values, x.dims());
}

TEST(example, of_custom_grad_with_the_value) {
  const auto power = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(computed_elsewhere(x),
                             [](const tensor& dy, const tensor& y) { return std::vector{dy * y}; });
  });
  const auto f = [&](const tensor& x) { return kg::sum(power(x)); };
  EXPECT_EQ(kg::grad(kg::grad(f))(tensor({0.0, 1.0})).to_doubles(), (doubles{1, std::exp(1.0)}));
}

TEST(example, of_custom_gradient) {
  EXPECT_EQ(kg::grad(cube)(tensor({2.0, 3.0})).to_doubles(), (doubles{12, 27}));
  EXPECT_EQ(kg::grads(product)(tensor(2.0), tensor(3.0))[0].item(), 3);
}

}  // namespace
