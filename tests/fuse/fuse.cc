// SPDX-License-Identifier: Apache-2.0
// Fused functions against the same expression called op by op: values, dtypes, refusals and gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "tests/fused/fused.h"
#include "tests/support/refusal.h"
import kerngrad;

namespace {

namespace views = ranges::views;

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::normal;
using kgtest::refusal;
using kgtest::same_bits;

struct swish_expression {
  constexpr auto operator()(auto x, auto y, auto z) const { return x * kg::sigmoid(x) * y + z; }
};
constexpr swish_expression one_by_one;
constexpr auto swish = kg::fuse(one_by_one);

// Both ways of a call, on every target.
template <class F, class... T>
void expect_same(F expression, const T&... xs) {
  const auto fused = kg::fuse(expression);
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    EXPECT_TRUE(same_bits(fused(xs...), expression(xs...))) << target.name;
  }
  kg::set_simd_target("");
}

// ------------------------------------------------------------------------------------------ values

TEST(a_fused_function, gives_the_bits_of_its_ops_called_one_by_one_for_every_size) {
  for (std::int64_t n : {0, 1, 2, 15, 16, 17, 1000, 1023, 1024, 1025, 5000})
    expect_same(one_by_one, normal({n}, 1), normal({n}, 2), normal({n}, 3));
}

TEST(a_fused_function, broadcasts_rows_columns_scalars_and_leading_axes) {
  const std::vector<shape> shapes{{},        {1},         {300},       {5, 1},    {5, 300}, {1, 300},
                                  {2, 1, 1}, {2, 5, 300}, {2, 1, 300}, {2, 5, 1}, {1, 1, 1}};
  for (const auto& [a, b] : views::cartesian_product(shapes, shapes)) {
    expect_same(one_by_one, normal(a, 1), normal(b, 2), normal({}, 3));
    expect_same(one_by_one, normal({5, 300}, 1), normal(a, 2), normal(b, 3));
  }
  expect_same(one_by_one, normal({3, 2000}, 1), normal({2000}, 2), normal({3, 1}, 3));
  expect_same(one_by_one, normal({4000, 3}, 1), normal({3}, 2), normal({4000, 1}, 3));
  expect_same(one_by_one, normal({4, 1, 7, 1}, 1), normal({3, 1, 50}, 2), normal({1, 1, 7, 50}, 3));
  expect_same(one_by_one, normal({0, 3}, 1), normal({3}, 2), normal({1, 1}, 3));
}

TEST(a_fused_function, promotes_dtypes_and_numbers_as_single_ops_do) {
  const auto expression = [](auto a, auto b) { return (a + b * 2) * 0.5 - kg::where(a > b, a, b) / 3; };
  for (const auto& [p, q] : views::cartesian_product(kgtest::real_dtypes, kgtest::real_dtypes)) {
    expect_same(expression, kgtest::values_of(p, {40}, 1), kgtest::values_of(q, {40}, 2));
    expect_same(expression, kgtest::values_of(p, {3, 40}, 1), kgtest::values_of(q, {3, 1}, 2));
  }
  const tensor x = normal({20}, 1);
  EXPECT_TRUE(same_bits(swish(x, 2, 0.5), one_by_one(x, tensor(2.f), tensor(0.5f)))) << "numbers as operands";
}

TEST(a_fused_function, converts_compares_and_chooses) {
  const auto expression = [](auto x) {
    const auto whole = kg::cast(x * 10, dtype::int32);
    return kg::where(kg::mod(whole, 3) == 0, x, kg::cast(whole > 2, dtype::float32));
  };
  expect_same(expression, normal({1500}, 1));
}

TEST(a_fused_function, takes_numbers_as_branches_of_a_choice) {
  const auto second = [](auto c, auto x) { return kg::where(c > 0, x, 0); };
  const auto first = [](auto c, auto x) { return kg::where(c > 0, 2, x * x) + 1; };
  const auto fraction = [](auto c, auto x) { return kg::where(c > 0, x, 0.25); };
  for (const dtype type : kgtest::real_dtypes)
    for (const shape& dims : {shape{}, shape{40}, shape{3, 40}}) {
      const tensor c = normal(dims, 1), x = kgtest::values_of(type, dims, 2);
      expect_same(second, c, x);
      expect_same(first, c, x);
      expect_same(fraction, c, x);
      expect_same(second, normal({40}, 1), x);
    }
  const tensor x = normal({2000}, 1);
  expect_same([](auto a) { return kg::where(a > 0, 1, 0); }, x);
  expect_same([](auto a) { return kg::where(a > 0, 1.5, 0) * a; }, x);
  expect_same([](auto a) { return kg::where(a > 0, true, false); }, x);
  expect_same([](auto a) { return kg::sum(kg::where(a > 0, a, 0)); }, x);
  EXPECT_TRUE(same_bits(kg::fuse(fraction)(x, kg::cast(x, dtype::int32)), fraction(x, kg::cast(x, dtype::int32))));
  EXPECT_NE(
      refusal([&] { return kg::fuse([](auto a) { return kg::where(a > 0, a, 300); })(kg::cast(x, dtype::uint8)); }),
      kgtest::accepted)
      << "a number that the dtype does not hold";
}

TEST(a_fused_gradient, of_a_choice_beside_a_number_reaches_the_other_branch) {
  const tensor x = normal({300}, 1, dtype::float64);
  constexpr auto bent = kg::fuse([](auto a) { return kg::where(a > 0, a * a, 3) - kg::where(a > 1, 0, a); });
  const auto by_ops = [](const tensor& a) { return kg::where(a > 0, a * a, 3) - kg::where(a > 1, 0, a); };
  const tensor wanted = kg::grad(by_ops)(x);
  EXPECT_TRUE(same_bits(kg::grad([&](const tensor& a) { return bent(a); })(x), wanted));
  EXPECT_TRUE(same_bits(bent.value_and_grads(x).grads[0], wanted));
  EXPECT_EQ(bent(2.0), 4.0);
  EXPECT_EQ(bent(-2.0), 5.0);
}

TEST(a_fused_function, that_only_passes_on_gives_what_the_expression_gives) {
  const tensor x = normal({30}, 1);
  expect_same([](auto a) { return a; }, x);
  expect_same([](auto a) { return kg::zeros_like(a); }, x);
  expect_same([](auto a) { return kg::ones_like(a) * 1.5; }, x);
  expect_same([](auto a) { return kg::exp(kg::ones_like(a)); }, x);
  expect_same([](auto a, auto b) { return kg::exp(b) + a * 0; }, x, tensor(1.f));
  expect_same([](auto a) { return kg::cast(a, dtype::float32); }, x);
  expect_same([](auto a) { return kg::cast(kg::exp(a), dtype::float32) * a; }, x);
}

TEST(a_fused_function, reduces_at_its_end) {
  const tensor x = normal({7, 900}, 1), y = normal({900}, 2);
  expect_same([](auto a, auto b) { return kg::sum(a * b); }, x, y);
  expect_same([](auto a, auto b) { return kg::mean(a * b, -1); }, x, y);
  expect_same([](auto a, auto b) { return kg::max(a * b, 1, true); }, x, y);
  expect_same([](auto a, auto b) { return kg::min(a - b, 0); }, x, y);
  expect_same([](auto a) { return kg::prod(a + 1, -1); }, x);
  for (std::int64_t n : {0, 1, 1000, 1024, 1025, 4096, 4097, 20000, 50001}) {
    expect_same([](auto a) { return kg::sum(a * a); }, normal({n}, 3));
    expect_same([](auto a) { return kg::sum(a * a); }, normal({n}, 3, dtype::float64));
    if (n > 0) expect_same([](auto a) { return kg::max(a - 1); }, normal({n}, 4));
    if (n > 0) expect_same([](auto a) { return kg::mean(a - 1, 0); }, normal({n}, 4));
    if (n > 0) expect_same([](auto a) { return kg::min(a - 1, -1, true); }, normal({3, n}, 4));
    expect_same([](auto a) { return kg::prod(a * 0.01 + 1); }, normal({n}, 5));
  }
  expect_same([](auto a) { return kg::sum(a > 0); }, normal({2000}, 3));
  expect_same([](auto a) { return kg::sum(a); }, normal({2000}, 3));
}

TEST(a_fused_function, computes_once_what_is_written_twice) {
  int sigmoids = 0;
  const kg::hook_handle watching =
      kg::add_hooks({.begin = [&](const kg::kernel_event& event) { sigmoids += event.op == "Sigmoid"; }});
  const auto twice = kg::fuse([](auto x) { return kg::sigmoid(x) * x + kg::sigmoid(x); });
  static_cast<void>(twice(normal({9}, 1)));
  EXPECT_EQ(sigmoids, 1);
}

TEST(a_fused_function, runs_on_the_backend_that_is_active_and_shows_its_ops_to_hooks) {
  const tensor x = normal({50}, 1), y = normal({50}, 2), z = normal({50}, 3);
  std::vector<std::string> seen;
  {
    const kg::hook_handle watching =
        kg::add_hooks({.begin = [&](const kg::kernel_event& event) { seen.emplace_back(event.op); }});
    static_cast<void>(swish(x, y, z));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"Sigmoid", "Multiply", "Multiply", "Add"}));
  const kg::backend_scope slow("reference");
  EXPECT_TRUE(same_bits(swish(x, y, z), one_by_one(x, y, z)));
}

TEST(a_fused_function, refuses_what_its_ops_refuse_in_their_words) {
  const tensor a = normal({3}, 1), b = normal({4}, 2);
  EXPECT_EQ(refusal([&] { return swish(a, b, a); }), refusal([&] { return one_by_one(a, b, a); }));
  EXPECT_NE(refusal([&] { return swish(a, b, a); }).find("[kg::mul]"), std::string::npos);
  EXPECT_EQ(refusal([&] { return swish(a, tensor(), a); }), refusal([&] { return one_by_one(a, tensor(), a); }));
  EXPECT_NE(refusal([&] { return one_by_one(a, tensor(), a); }), kgtest::accepted);
  const auto both = [](auto p, auto q) { return kg::logical_and(p, q); };
  EXPECT_EQ(refusal([&] { return kg::fuse(both)(a, a); }), refusal([&] { return both(a, a); }));
  EXPECT_NE(refusal([&] { return both(a, a); }), kgtest::accepted);
  const auto clipped = [](auto p) { return kg::clip(p, 2, 1); };
  EXPECT_EQ(refusal([&] { return kg::fuse(clipped)(a); }), refusal([&] { return clipped(a); }));
  EXPECT_NE(refusal([&] { return clipped(a); }), kgtest::accepted);
}

// ------------------------------------------------------------------------------------------ gradients

TEST(a_fused_gradient, has_the_bits_of_the_tape_for_operands_of_one_shape) {
  for (std::int64_t n : {1, 17, 1024, 3000}) {
    const tensor x = normal({n}, 1), y = normal({n}, 2), z = normal({n}, 3);
    const auto fused = kg::value_and_grads(swish)(x, y, z), expected = kg::value_and_grads(one_by_one)(x, y, z);
    const auto at_once = swish.value_and_grads(x, y, z);
    EXPECT_TRUE(same_bits(fused.value, expected.value) && same_bits(at_once.value, expected.value));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(same_bits(fused.grads[i], expected.grads[i])) << n << " operand " << i;
      EXPECT_TRUE(same_bits(at_once.grads[i], expected.grads[i])) << n << " operand " << i;
    }
  }
}

TEST(a_fused_gradient, adds_up_what_an_operand_was_broadcast_over) {
  const std::vector<std::array<shape, 3>> cases{{shape{5, 300}, shape{300}, shape{5, 1}},
                                                {shape{}, shape{4, 7}, shape{7}},
                                                {shape{2, 1, 9}, shape{3, 1}, shape{}}};
  for (const auto& [a, b, c] : cases) {
    const tensor x = normal(a, 1, dtype::float64), y = normal(b, 2, dtype::float64), z = normal(c, 3, dtype::float64);
    const auto expected = kg::grads(one_by_one)(x, y, z), fused = kg::grads(swish)(x, y, z);
    const auto at_once = swish.value_and_grads(x, y, z);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LT(kgtest::distance(fused[i], expected[i]), 1e-12) << i;
      EXPECT_LT(kgtest::distance(at_once.grads[i], expected[i]), 1e-12) << i;
    }
  }
}

TEST(a_fused_gradient, is_there_for_those_who_are_asked_for_only) {
  const tensor x = normal({2000}, 1), y = normal({2000}, 2), z = normal({2000}, 3);
  const auto of_y = [&](auto f) { return kg::grad([&](const tensor& t) { return f(x, t, z); })(y); };
  EXPECT_TRUE(same_bits(of_y(swish), of_y(one_by_one)));
  const auto of_x = [&](auto f) { return kg::grad([&](const tensor& t) { return f(t, t, z) * 2; })(x); };
  EXPECT_LT(kgtest::distance(of_x(swish), of_x(one_by_one)), 1e-5);
  // The gradient of c is what those of a and b are made of.
  const auto grown = [](auto a, auto b, auto c) { return kg::exp(c + a * b); };
  const auto of_a = [&](auto f) { return kg::grad([&](const tensor& t) { return f(t, y, z); })(x); };
  EXPECT_TRUE(same_bits(of_a(kg::fuse(grown)), of_a(grown)));
  const tensor wide = normal({4, 500}, 1), row = normal({500}, 2);
  const auto of_wide = [&](auto f) { return kg::grad([&](const tensor& t) { return f(t, row, row); })(wide); };
  EXPECT_TRUE(same_bits(of_wide(kg::fuse(grown)), of_wide(grown)));
}

TEST(a_fused_gradient, is_itself_differentiable) {
  const tensor x = normal({40}, 1, dtype::float64), y = normal({40}, 2, dtype::float64), z = x;
  const auto second = [&](auto f) {
    auto first = kg::grad([&](const tensor& t) { return f(t, y, z) * f(t, t, y); });
    return kg::grad([&](const tensor& t) { return kg::sum(first(t) * first(t)); })(x);
  };
  EXPECT_LT(kgtest::distance(second(swish), second(one_by_one)), 1e-10);
}

TEST(a_fused_gradient, flows_through_a_reduction_at_the_end) {
  const tensor x = normal({7, 30}, 1, dtype::float64), y = normal({30}, 2, dtype::float64);
  const auto check = [&](auto expression) {
    const auto fused = kg::grads(kg::fuse(expression))(x, y), expected = kg::grads(expression)(x, y);
    const auto at_once = kg::fuse(expression).value_and_grads(x, y);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_LT(kgtest::distance(fused[i], expected[i]), 1e-12);
      EXPECT_LT(kgtest::distance(at_once.grads[i], expected[i]), 1e-12);
    }
  };
  check([](auto a, auto b) { return kg::sum(a * kg::exp(b)); });
  check([](auto a, auto b) { return kg::mean(a * b, -1); });
  check([](auto a, auto b) { return kg::max(a * b, 1); });
}

TEST(a_fused_gradient, of_mixed_dtypes_is_that_of_the_ops) {
  const tensor x = normal({30}, 1), y = normal({30}, 2, dtype::float64), z = kgtest::values_of(dtype::int32, {30}, 3);
  const auto fused = kg::grads([&](const tensor& a, const tensor& b) { return swish(a, b, z); })(x, y);
  const auto expected = kg::grads([&](const tensor& a, const tensor& b) { return one_by_one(a, b, z); })(x, y);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same_bits(fused[i], expected[i]));
  const auto chosen = [](auto c, auto a) { return kg::where(c, a, a * 2); };
  const tensor c = x > 0;
  EXPECT_TRUE(same_bits(kg::grad([&](const tensor& a) { return kg::fuse(chosen)(c, a); })(y),
                        kg::grad([&](const tensor& a) { return chosen(c, a); })(y)));
}

// ------------------------------------------------------------------------------------------ replaced rules

TEST(a_fused_gradient, refuses_while_the_rule_of_one_of_its_ops_is_replaced) {
  const tensor x = normal({4}, 1);
  const auto gradient = [&] { return kg::grad([&](const tensor& t) { return swish(t, t, t); })(x); };
  {
    const kg::rule_scope other(kg::rule<"Sigmoid">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));
    const std::string text = refusal(gradient);
    EXPECT_NE(text.find("[kg::fuse]"), std::string::npos) << text;
    EXPECT_NE(text.find("Sigmoid"), std::string::npos) << text;
    EXPECT_EQ(refusal([&] { return swish(x, x, x); }), kgtest::accepted) << "no gradient is asked for";
  }
  {
    const kg::registration other = kg::scoped_gradient(
        {.name = "Sigmoid",
         .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> { return {{"x", c.dy()}}; }},
        kg::existing::replace);
    EXPECT_NE(refusal(gradient).find("Sigmoid"), std::string::npos);
    EXPECT_NE(refusal([&] { return swish.value_and_grads(x, x, x).value; }).find("Sigmoid"), std::string::npos);
  }
  {
    const kg::rule_scope other(kg::rule<"Sub">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); }),
                                               kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));
    EXPECT_EQ(refusal(gradient), kgtest::accepted) << "the derivative subtracts, the expression does not";
    EXPECT_EQ(refusal([&] { return swish.value_and_grads(x, x, x).value; }), kgtest::accepted);
  }
  EXPECT_EQ(refusal(gradient), kgtest::accepted);
}

// ------------------------------------------------------------------------------------------ user-defined ops

struct Cube {
  static constexpr kg::operand operands[] = {{"x", kg::floating}};
  static constexpr kg::op_row row{.name = "Cube",
                                  .doc = "x * x * x.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return x * x * x; }),
                                                  kg::per_element<double>([](double x) { return x * x * x; }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) { return c.dy() * kg::square(c.in(0)) * 3; }));
};
struct Softshrink {
  static constexpr kg::operand operands[] = {{"x", kg::floating}};
  static constexpr kg::attr_spec attrs[] = {{"lambda", kg::attr_kind::number, "half the dead zone", false, 0.5}};
  static constexpr kg::op_row row{.name = "Softshrink",
                                  .doc = "x pulled towards 0 by lambda.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .attrs = attrs,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  template <class T>
  static constexpr T shrunk(T x, double lambda) {
    return x > lambda ? static_cast<T>(x - lambda) : x < -lambda ? static_cast<T>(x + lambda) : T{0};
  }
  static constexpr auto kernels =
      kg::kernel_list(kg::per_element<float>([](float x, double lambda) { return shrunk(x, lambda); }),
                      kg::per_element<double>([](double x, double lambda) { return shrunk(x, lambda); }));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::out0, [](const auto& c) { return kg::where(c.out() == 0, kg::zeros_like(c.dy()), c.dy()); }));
};

TEST(an_op_from_outside, takes_part_in_a_fused_function) {
  const auto expression = [](auto x, auto y) {
    return kg::call<Cube>(x) * y + kg::call<Softshrink>(y, kg::attr<"lambda">(0.25));
  };
  const tensor x = normal({2500}, 1), y = normal({2500}, 2);
  expect_same(expression, x, y);
  const auto fused = kg::grads(kg::fuse(expression))(x, y), expected = kg::grads(expression)(x, y);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same_bits(fused[i], expected[i])) << i;
}

// ------------------------------------------------------------------------------------------ single numbers

TEST(a_fused_function_of_single_numbers, is_close_to_what_its_kernels_give) {
  constexpr auto wave = kg::fuse([](auto x) { return kg::sin(x) * x + kg::exp(x); });
  constexpr auto bent = kg::fuse([](auto x, auto y) { return kg::where(x > y, kg::gelu(x), kg::leaky_relu(y * x)); });
  for (double at : {-2.5, -0.3, 0.0, 0.7, 1.5}) {
    const auto scalar = wave.value_and_grads(at);
    EXPECT_NEAR(scalar.value, std::sin(at) * at + std::exp(at), 1e-14);
    EXPECT_NEAR(scalar.grads[0], std::cos(at) * at + std::sin(at) + std::exp(at), 1e-14);
    EXPECT_EQ(wave(at), scalar.value);
    const auto tensors = bent.value_and_grads(tensor(at), tensor(0.5));
    const auto numbers = bent.value_and_grads(at, 0.5);
    EXPECT_NEAR(numbers.value, tensors.value.item(), 1e-14);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(numbers.grads[i], tensors.grads[i].item(), 1e-14);
  }
  EXPECT_NEAR(wave(1.5f), std::sin(1.5f) * 1.5f + std::exp(1.5f), 1e-5f);
}

// Its scalar form differs from its kernels, so that a test sees which of them ran.
struct TwoWays {
  static constexpr kg::op_row row{.name = "TwoWays",
                                  .doc = "x + 1 by the kernels, x + 2 by the scalar form.",
                                  .group = kg::family::elementwise,
                                  .operands = Cube::operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .scalar = kg::scalar_of([](auto x) { return x + 2; }),
                                  .no_gradient = "the tests need none"};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return x + 1; }),
                                                  kg::per_element<double>([](double x) { return x + 1; }));
};

TEST(a_fused_function_of_single_numbers, runs_the_scalar_form_of_an_own_op_that_has_one) {
  constexpr auto once = kg::fuse([](auto x) { return kg::call<TwoWays>(x) * 10; });
  EXPECT_EQ(once(1.0), 30);
  EXPECT_EQ(once(1.f), 30);
  EXPECT_EQ(once(tensor(1.f)).item(), 20);
  constexpr auto cube = kg::fuse([](auto x) { return kg::call<Cube>(x); });
  EXPECT_EQ(cube(2.0), 8) << "the kernel, on one element";
}

}  // namespace
