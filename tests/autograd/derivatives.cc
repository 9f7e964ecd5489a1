// SPDX-License-Identifier: Apache-2.0
// Jacobians, Hessians and products with them, implicit functions, gradients of containers, and what is not recorded.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::jacobian_by;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

constexpr jacobian_by every_way[] = {jacobian_by::fewer, jacobian_by::rows, jacobian_by::columns};

// f's derivatives by central differences, [result, operand] in row-major order.
template <class F>
doubles differences(F f, const tensor& x) {
  constexpr double h = 1e-6;
  const doubles at = x.to_doubles();
  const std::size_t n = at.size(), m = static_cast<std::size_t>(f(x).size());
  doubles all(m * n);
  for (std::size_t j = 0; j < n; ++j) {
    doubles below = at, above = at;
    below[j] -= h, above[j] += h;
    const doubles low = f(tensor(below, x.dims())).to_doubles(), high = f(tensor(above, x.dims())).to_doubles();
    for (std::size_t i = 0; i < m; ++i) all[i * n + j] = (high[i] - low[i]) / (2 * h);
  }
  return all;
}

void expect_near(const tensor& got, const kg::shape& dims, const doubles& wanted, double within) {
  ASSERT_EQ(got.dims(), dims);
  const doubles values = got.to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], within) << "element " << i;
}

// ------------------------------------------------------------------------------------------ jacobian

TEST(jacobian, agrees_with_differences_by_rows_and_by_columns_for_every_shape) {
  const auto f = [](const tensor& x) { return kg::stack({kg::sum(kg::sin(x) * x), kg::prod(x)}); };
  const auto g = [](const tensor& x) { return kg::concat({kg::exp(x), x * x, kg::softmax(x)}, -1); };
  const auto h = [](const tensor& x) { return kg::sum(kg::sqrt(x)); };
  const struct {
    std::function<tensor(const tensor&)> f;
    tensor x;
    kg::shape dims;
  } cases[] = {{f, tensor({0.3, 0.7, 1.1, 0.2, 0.9, 0.4}, {2, 3}), {2, 2, 3}},
               {g, tensor({0.3, 0.7, 1.1, 0.2}, {2, 2}), {2, 6, 2, 2}},
               {h, tensor({0.3, 0.7}), {2}},
               {h, tensor(0.5), {}}};
  for (const auto& c : cases)
    for (jacobian_by by : every_way) expect_near(kg::jacobian(c.f, by)(c.x), c.dims, differences(c.f, c.x), 1e-8);
}

TEST(jacobian, takes_rows_or_columns_whichever_are_fewer) {
  int backward = 0, runs = 0;
  const auto counted = [&](const tensor& x) {
    ++runs;
    return kg::custom_grad([&](const tensor& y) {
      return kg::with_gradient(y * 2, [&](const tensor& dy) { return ++backward, std::vector<tensor>{dy * 2}; });
    })(x);
  };
  const tensor x = kg::ones({5});
  expect_near(kg::jacobian([&](const tensor& t) { return kg::sum(counted(t)); })(x), {5}, doubles(5, 2), 0);
  EXPECT_EQ(backward, 1) << "one row";
  EXPECT_EQ(runs, 1);
  backward = 0;
  const tensor column = kg::jacobian([&](const tensor& t) { return counted(kg::broadcast_to(t, {5})); })(tensor(1.f));
  expect_near(column, {5}, doubles(5, 2), 0);
  EXPECT_EQ(backward, 1) << "one gradient, then columns of it";
}

TEST(jacobian, of_what_does_not_depend_on_x_and_of_nothing_is_zeros) {
  for (jacobian_by by : every_way) {
    expect_near(kg::jacobian([](const tensor&) { return tensor({1.0, 2.0}); }, by)(tensor({1.0})), {2, 1}, {0, 0}, 0);
    expect_near(kg::jacobian([](const tensor& x) { return x; }, by)(tensor({1.0, 2.0})), {2, 2}, {1, 0, 0, 1}, 0);
    EXPECT_EQ(kg::jacobian([](const tensor& x) { return x * 2; }, by)(kg::zeros({0})).dims(), (kg::shape{0, 0}));
    EXPECT_EQ(kg::jacobian([](const tensor& x) { return kg::sum(x); }, by)(kg::zeros({0})).dims(), (kg::shape{0}));
  }
}

TEST(jacobian, has_the_operands_dtype) {
  const auto f = [](const tensor& x) { return kg::cast(x, dtype::float64) * 3; };
  for (jacobian_by by : every_way)
    for (dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::bfloat16}) {
      const tensor j = kg::jacobian(f, by)(kg::ones({2}, type));
      EXPECT_EQ(j.type(), type);
      EXPECT_EQ(j.to_doubles(), (doubles{3, 0, 0, 3}));
    }
}

TEST(jacobians, are_given_for_every_operand_and_every_result) {
  const auto product = [](const tensor& a, const tensor& b) { return a * b; };
  const tensor a({2.0, 3.0}), b({5.0, 7.0});
  const auto both = [](const tensor& x, const tensor& y) { return std::array{x * y, kg::sum(x) * y}; };
  for (jacobian_by by : every_way) {
    const std::array<tensor, 2> of = kg::jacobians(product, by)(a, b);
    expect_near(of[0], {2, 2}, {5, 0, 0, 7}, 0);
    expect_near(of[1], {2, 2}, {2, 0, 0, 3}, 0);
    const auto [first, second] = kg::jacobians(both, by)(a, b);
    expect_near(first[1], {2, 2}, {2, 0, 0, 3}, 0);
    expect_near(second[0], {2, 2}, {5, 5, 7, 7}, 0);
    expect_near(second[1], {2, 2}, {5, 0, 0, 5}, 0);
    const std::vector<tensor> xs{a, b};
    const auto list = [](std::span<const tensor> of_list) { return of_list[0] * of_list[1]; };
    expect_near(kg::jacobian_of(list, xs, by)[0], {2, 2}, {5, 0, 0, 7}, 0);
  }
  const auto one = kg::jacobian([](const tensor& x) { return std::array{x, x * x}; })(a);
  expect_near(one[1], {2, 2}, {4, 0, 0, 6}, 0);
}

TEST(jacobian, nests_with_itself_grad_jvp_and_checkpoint) {
  const auto cube = [](const tensor& x) { return x * x * x; };
  const tensor x({2.0, 3.0});
  for (jacobian_by outer : every_way)
    for (jacobian_by inner : every_way) {
      const tensor second = kg::jacobian(kg::jacobian(cube, inner), outer)(x);
      expect_near(second, {2, 2, 2}, {12, 0, 0, 0, 0, 0, 0, 18}, 1e-12);
    }
  for (jacobian_by by : every_way) {
    const auto total = [&](const tensor& t) { return kg::sum(kg::jacobian(cube, by)(t)); };
    expect_near(kg::grad(total)(x), {2}, {12, 18}, 1e-12);
    expect_near(kg::jvp(total)(x, tensor({1.0, 10.0})).tangent, {}, {192}, 1e-12);
    expect_near(kg::jacobian(kg::checkpoint(cube), by)(x), {2, 2}, {12, 0, 0, 27}, 1e-12);
    // A tensor that is recorded outside and captured inside.
    const auto captured = [&](const tensor& a) {
      return kg::sum(kg::jacobian([&](const tensor& t) { return t * t * a; }, by)(x));
    };
    expect_near(kg::grad(captured)(tensor({1.0, 1.0})), {2}, {4, 6}, 1e-12);
  }
}

TEST(jacobian, refuses_what_has_none_in_one_sentence) {
  const auto same = [](const tensor& x) { return x; };
  EXPECT_TRUE(
      says(refusal([&] { return kg::jacobian(same)(tensor()); }), {"[kg::jacobian]", "undefined tensor", "defined()"}));
  EXPECT_TRUE(says(refusal([&] { return kg::jacobian(same)(tensor({1, 2})); }), {"[kg::jacobian]", "int32", "cast"}));
  EXPECT_TRUE(says(refusal([&] { return kg::jacobian([](const tensor& x) { return kg::argmax(x); })(tensor({1.0})); }),
                   {"[kg::jacobian]", "result", "int32"}));
  EXPECT_TRUE(
      says(refusal([&] { return kg::jacobian(same)(kg::ones({1, 1, 1, 1, 1})); }), {"[kg::jacobian]", "8 axes"}));
  EXPECT_EQ(kg::grad(same)(tensor(1.0)).item(), 1) << "nothing is left of them";
}

// ------------------------------------------------------------------------------------------ hessian and hvp

TEST(hessian, agrees_with_differences_of_the_gradient) {
  const auto f = [](const tensor& x) { return kg::sum(kg::sin(x) * kg::exp(kg::reverse(x, 0))); };
  const tensor x({0.3, 0.7, 1.1});
  expect_near(kg::hessian(f)(x), {3, 3}, differences(kg::grad(f), x), 1e-8);
  const tensor scalar(2.0);
  EXPECT_EQ(kg::hessian([](const tensor& t) { return t * t * t; })(scalar).item(), 12);
  const auto quartic = [](const tensor& t) { return kg::sum(t * t * t * t); };
  const auto trace = [&](const tensor& t) { return kg::sum(kg::hessian(quartic)(t)); };
  expect_near(kg::grad(trace)(tensor({1.0, 2.0})), {2}, {24, 48}, 1e-12);
}

TEST(hessians, have_a_block_for_every_pair_of_operands) {
  const auto f = [](const tensor& a, const tensor& b) { return kg::sum(a * a) * b; };
  const auto of = kg::hessians(f)(tensor({2.0, 3.0}), tensor(5.0));
  expect_near(of[0][0], {2, 2}, {10, 0, 0, 10}, 0);
  expect_near(of[0][1], {2}, {4, 6}, 0);
  expect_near(of[1][0], {2}, {4, 6}, 0);
  expect_near(of[1][1], {}, {0}, 0);
}

TEST(hvp, is_the_hessian_times_the_vector) {
  const auto f = [](const tensor& x) { return kg::sum(kg::sin(x) * kg::exp(kg::reverse(x, 0))); };
  const tensor x({0.3, 0.7, 1.1}), v({1.0, -2.0, 0.5});
  const tensor wanted = kg::matmul(kg::hessian(f)(x), kg::reshape(v, {3, 1}));
  expect_near(kg::hvp(f)(x, v), {3}, wanted.to_doubles(), 1e-12);
  const auto g = [](const tensor& a, const tensor& b) { return kg::sum(a * a) * b; };
  const auto both = kg::hvp(g)({tensor({2.0, 3.0}), tensor(5.0)}, {tensor({1.0, 1.0}), tensor()});
  expect_near(both[0], {2}, {10, 10}, 0);
  expect_near(both[1], {}, {10}, 0);
  const auto of_v = [&](const tensor& u) { return kg::sum(kg::hvp(f)(x, u)); };
  expect_near(kg::grad(of_v)(v), {3}, kg::sum(kg::hessian(f)(x), 0).to_doubles(), 1e-12);
  const auto quartic = [](const tensor& t) { return kg::sum(t * t * t * t); };
  const auto along = [&](const tensor& t) { return kg::sum(kg::hvp(quartic)(t, tensor({1.0, 1.0}))); };
  expect_near(kg::grad(along)(tensor({1.0, 2.0})), {2}, {24, 48}, 1e-12);
}

TEST(hessian, and_hvp_refuse_results_that_are_no_scalar_and_vectors_of_another_shape) {
  const auto square = [](const tensor& x) { return x * x; };
  const tensor x({1.0, 2.0});
  EXPECT_TRUE(says(refusal([&] { return kg::hessian(square)(x); }), {"[kg::hessian]", "[2]", "scalar"}));
  EXPECT_TRUE(says(refusal([&] { return kg::hvp(square)(x, x); }), {"[kg::hvp]", "scalar"}));
  EXPECT_TRUE(
      says(refusal([&] { return kg::hvp(square)(x, tensor({1.f, 2.f})); }), {"[kg::hvp]", "float32", "float64"}));
}

// ------------------------------------------------------------------------------------------ implicit functions

// The root of x^3 + x = a by Newton's method on numbers, which has no gradient.
tensor cubic_root(const tensor& a) {
  doubles roots;
  for (double number : a.to_doubles()) {
    double x = 0;
    for (int i = 0; i < 100; ++i) x -= (x * x * x + x - number) / (3 * x * x + 1);
    roots.push_back(x);
  }
  return {roots, a.dims()};
}

TEST(implicit, differentiates_a_solution_to_every_order) {
  const auto root = kg::implicit([](const tensor& x, const tensor& a) { return x * x * x + x - a; }, cubic_root);
  const tensor a({2.0, 10.0, -2.0});
  expect_near(root(a), {3}, {1, 2, -1}, 1e-12);
  // x' = 1 / (3 x^2 + 1), x'' = -6 x x'^3
  expect_near(kg::grad(root)(a), {3}, {1.0 / 4, 1.0 / 13, 1.0 / 4}, 1e-9);
  const auto slope = [&](const tensor& t) { return kg::grad(root)(t); };
  expect_near(kg::grad(slope)(a), {3}, {-6.0 / 64, -12.0 / 2197, 6.0 / 64}, 1e-8);
  expect_near(kg::jvp(root)(a, kg::ones({3}, dtype::float64)).tangent, {3}, {1.0 / 4, 1.0 / 13, 1.0 / 4}, 1e-9);
}

TEST(implicit, differentiates_the_solution_of_a_linear_system_in_matrix_and_right_side) {
  const tensor m({4.0, 1.0, 2.0, 3.0}, {2, 2}), b({1.0, 2.0}, {2, 1});
  const auto solve = [](const tensor& a, const tensor& right) {
    const doubles e = a.to_doubles(), r = right.to_doubles();
    const double det = e[0] * e[3] - e[1] * e[2];
    return tensor({(e[3] * r[0] - e[1] * r[1]) / det, (e[0] * r[1] - e[2] * r[0]) / det}, {2, 1});
  };
  const auto system = kg::implicit(
      [](const tensor& x, const tensor& a, const tensor& right) { return kg::matmul(a, x) - right; }, solve);
  const auto first = [&](const tensor& a, const tensor& right) {
    return kg::sum(system(a, right) * tensor({{1.0}, {0.0}}));
  };
  const auto [of_m, of_b] = kg::grads(first)(m, b);
  expect_near(of_m, {2, 2}, differences([&](const tensor& a) { return first(a, b); }, m), 1e-7);
  expect_near(of_b, {2, 1}, {0.3, -0.1}, 1e-10);
}

TEST(implicit, refuses_a_singular_derivative_and_a_residual_of_another_shape) {
  const tensor one(1.0);
  const auto zero = [](const tensor& a) { return a * 0; };
  const auto flat = kg::implicit([](const tensor& x, const tensor& a) { return x * x * a; }, zero);
  EXPECT_TRUE(says(refusal([&] { return kg::grad(flat)(one); }), {"[kg::implicit]", "singular"}));
  const auto wide = kg::implicit([](const tensor& x, const tensor& a) { return kg::stack({x, a}); }, zero);
  EXPECT_TRUE(says(refusal([&] { return kg::grad(wide)(one); }), {"[kg::implicit]", "residual"}));
  EXPECT_EQ(kg::grad([](const tensor& x) { return x; })(one).item(), 1);
}

// ------------------------------------------------------------------------------------------ trees

struct dense {
  tensor weight, bias;
  int units = 3;
};

}  // namespace

template <>
struct kg::tree_members<dense> {
  static auto of(auto& d) { return std::tie(d.weight, d.bias, d.units); }
};

namespace {

TEST(grad, of_a_map_is_a_map) {
  using parameters = std::map<std::string, tensor>;
  const parameters at{{"b", tensor(3.0)}, {"w", tensor({1.0, 2.0})}};
  const auto loss = [](const parameters& p) { return kg::sum(p.at("w") * p.at("w")) * p.at("b"); };
  const parameters g = kg::grad(loss)(at);
  EXPECT_EQ(g.at("w").to_doubles(), (doubles{6, 12}));
  EXPECT_EQ(g.at("b").item(), 5);
  const auto [value, again] = kg::value_and_grad(loss)(at);
  EXPECT_EQ(value.item(), 15);
  EXPECT_EQ(again.at("b").item(), 5);
  const parameters next = kg::tree_map([](const tensor& p, const tensor& d) { return p - d; }, at, g);
  EXPECT_EQ(next.at("w").to_doubles(), (doubles{-5, -10}));
  EXPECT_EQ(at.at("w").to_doubles(), (doubles{1, 2}));
}

TEST(grad, of_nested_containers_and_structs_has_their_form) {
  using model = std::tuple<std::vector<dense>, std::pair<tensor, std::optional<tensor>>, std::array<tensor, 2>, double>;
  const tensor two(2.0);
  const model at{{{two, two}, {two, tensor()}}, {two, std::nullopt}, {two, two}, 0.5};
  const auto f = [](const model& m) {
    const auto& [layers, ends, rest, rate] = m;
    return layers[0].weight * layers[1].weight * ends.first * rate + layers[0].bias * 7 + rest[1] * rest[1];
  };
  const auto [layers, ends, rest, rate] = kg::grad(f)(at);
  EXPECT_EQ(layers[0].weight.item(), 2);
  EXPECT_EQ(layers[0].bias.item(), 7);
  EXPECT_EQ(layers[0].units, 3);
  EXPECT_FALSE(layers[1].bias.defined());
  EXPECT_EQ(ends.first.item(), 2);
  EXPECT_FALSE(ends.second.has_value());
  EXPECT_EQ(rest[0].item(), 0);
  EXPECT_EQ(rest[1].item(), 4);
  EXPECT_EQ(rate, 0.5);
  EXPECT_EQ(kg::tree_leaves(at).size(), 6u);
  // And nests.
  const auto slope = [&](const model& m) { return std::get<2>(kg::grad(f)(m))[1]; };
  EXPECT_EQ(std::get<2>(kg::grad(slope)(at))[1].item(), 2);
}

TEST(tree_map, refuses_trees_of_other_sizes) {
  const std::vector<tensor> one{tensor(1.0)}, none;
  const std::string text =
      refusal([&] { return kg::tree_map([](const tensor& a, const tensor&) { return a; }, one, none).size(); });
  EXPECT_TRUE(says(text, {"[kg::tree_map]", "0 tensors", "1"})) << text;
}

// ------------------------------------------------------------------------------------------ what is not recorded

TEST(no_grad, makes_what_is_computed_meanwhile_a_constant) {
  const tensor x(3.0);
  const auto f = [](const tensor& t) {
    tensor factor;
    {
      const kg::no_grad pause;
      const kg::no_grad nested;
      factor = t * t;
    }
    return factor * t;
  };
  EXPECT_EQ(kg::grad(f)(x).item(), 9);
  EXPECT_EQ(kg::grad([](const tensor& t) { return kg::detach(t) * t; })(x).item(), 3);
  const kg::variable v(x);
  const auto result = kg::variable_grads([&] {
    tensor read;
    {
      const kg::no_grad pause;
      read = v.value();
    }
    return v * read;
  });
  EXPECT_EQ(result.grads[0].grad.item(), 3);
}

TEST(no_grad, leaves_gradients_inside_of_it_right) {
  const kg::no_grad pause;
  EXPECT_EQ(kg::grad([](const tensor& t) { return t * t; })(tensor(3.0)).item(), 6);
  const auto outer = [](const tensor& t) {
    const kg::no_grad inside;
    return kg::grad([](const tensor& u) { return u * u; })(t);
  };
  EXPECT_EQ(kg::grad([&](const tensor& t) { return outer(t) * t; })(tensor(3.0)).item(), 6);
}

}  // namespace
