// SPDX-License-Identifier: Apache-2.0
// Fused functions that are put together while the program runs: the bits and gradients of the ops one by one, and of
// what the compiler reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/fused/fused.h"
#include "tests/support/refusal.h"
import kerngrad;

namespace {

using kg::dtype;
using kg::shape;
using kg::symbol;
using kg::tensor;
using kgtest::normal;
using kgtest::refusal;
using kgtest::same_bits;
using kgtest::says;

using symbols = std::span<const symbol>;

constexpr auto gated = [](const auto& x, const auto& y, const auto& z) { return x * kg::sigmoid(x) * y + z * 3; };

TEST(an_expression, has_the_bits_and_gradients_of_what_the_compiler_reads) {
  constexpr auto compiled = kg::fuse(gated);
  const kg::fused_expression made = kg::fuse(3, [](symbols x) { return gated(x[0], x[1], x[2]); });
  for (const dtype type : {dtype::float32, dtype::float64})
    for (const shape& dims : {shape{}, shape{17}, shape{3, 1025}, shape{70, 1000}})
      for (const bool broadcast : {false, true}) {
        const tensor x = normal(dims, 1, type), y = normal(broadcast ? shape{} : dims, 2, type);
        const tensor z = normal(dims, 3, type);
        const std::string what = to_string(dims) + " of " + std::string(kg::name_of(type));
        EXPECT_TRUE(same_bits(made(x, y, z), gated(x, y, z))) << what;
        const auto slopes = [&](const auto& f) { return kg::grads([&](auto... xs) { return f(xs...); })(x, y, z); };
        const auto got = slopes(made), wanted = slopes(compiled);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(got[i], wanted[i])) << what << ", operand " << i;
      }
}

TEST(an_expression, may_have_captures_loops_and_ops_by_name) {
  const std::vector<std::string> names{"Tanh", "Neg", "Relu6", "Exp"};
  const double slope = 1.5;
  const kg::fused_expression f = kg::fuse(2, [&](symbols x) {
    symbol y = kg::call("Sub", {slope, x[0]});
    for (const std::string& name : names) y = kg::call(name, {y});
    return kg::call("LeakyRelu", {y - x[1]}, {{"alpha", 0.25}});
  });
  const tensor a = normal({9, 130}, 1, dtype::float32), b = normal({9, 130}, 2, dtype::float32);
  tensor y = slope - a;
  for (const std::string& name : names) y = kg::run_kernel(name, {{"x", y}});
  EXPECT_TRUE(same_bits(f(a, b), kg::leaky_relu(y - b, 0.25)));
  const tensor* const in[] = {&a, &b};
  EXPECT_TRUE(same_bits(f(std::span<const tensor* const>(in)), f(a, b)));
}

TEST(an_expression, may_end_with_a_reduction) {
  const kg::fused_expression f = kg::fuse(1, [](symbols x) { return kg::sum(x[0] * x[0], 1); });
  const tensor x = normal({5, 2000}, 1, dtype::float32);
  EXPECT_TRUE(same_bits(f(x), kg::sum(x * x, 1)));
  EXPECT_TRUE(same_bits(kg::grad([&](const tensor& t) { return f(t); })(x), x + x));
}

// The step that the constant takes its dtype from gives no result, and has to go somewhere.
TEST(an_expression, of_which_the_result_or_the_slope_is_a_constant_is_computed) {
  const tensor x = normal({2, 3}, 1, dtype::float32), none = kg::zeros({2, 3});
  const auto steps = [](const auto& a) { return -kg::sign(a); };
  const kg::fused_expression made = kg::fuse(1, [&](symbols xs) { return steps(xs[0]); });
  constexpr auto compiled = kg::fuse([](auto a) { return -kg::sign(a); });
  EXPECT_TRUE(same_bits(kg::grad([&](const tensor& t) { return made(t); })(x), none));
  EXPECT_TRUE(same_bits(kg::grad([&](const tensor& t) { return compiled(t); })(x), none));
  const kg::fused_expression nothing = kg::fuse(1, [](symbols xs) { return kg::call("ZerosLike", {xs[0] + xs[0]}); });
  EXPECT_TRUE(same_bits(nothing(x), none));
  const kg::fused_expression chain =
      kg::fuse(1, [](symbols xs) { return kg::call("ZerosLike", {xs[0] * xs[0] + xs[0]}); });
  EXPECT_TRUE(same_bits(chain(x), none));
}

// Steps by name on values by number, of which the first are the operands; -1 is the number 0.5.
struct random_steps {
  struct one {
    std::string op;
    std::vector<int> in;
  };
  int operands;
  std::vector<one> all;
  random_steps(int operands, int count, std::mt19937& random) : operands(operands) {
    const std::string unary[] = {"Neg", "Sign",      "Round",    "Tanh",    "Relu6",
                                 "Abs", "ZerosLike", "OnesLike", "Sigmoid", "Identity"};
    const std::string binary[] = {"Add", "Sub", "Multiply", "Maximum"};
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int i = 0; i < count; ++i) {
      const int values = operands + i, a = below(values);
      if (below(2) == 0) all.push_back({unary[below(10)], {a}});
      else all.push_back({binary[below(4)], {a, below(5) == 0 ? -1 : below(values)}});
    }
  }
  tensor run(std::vector<tensor> values) const {
    for (const one& s : all) {
      const tensor a = values[static_cast<std::size_t>(s.in[0])];
      if (s.in.size() == 1) {
        values.push_back(kg::run_kernel(s.op, {{"x", a}}));
      } else {
        const tensor b = s.in[1] < 0 ? kg::tensor(0.5f) : values[static_cast<std::size_t>(s.in[1])];
        values.push_back(kg::run_kernel(s.op, {{"a", a}, {"b", b}}));
      }
    }
    return values.back();
  }
  kg::fused_expression fused() const {
    return kg::fuse(operands, [&](symbols xs) {
      std::vector<symbol> values(xs.begin(), xs.end());
      for (const one& s : all) {
        std::vector<kg::fuse_operand> in;
        for (const int k : s.in)
          in.push_back(k < 0 ? kg::fuse_operand(0.5f) : kg::fuse_operand(values[static_cast<std::size_t>(k)]));
        values.push_back(kg::call(s.op, in));
      }
      return values.back();
    });
  }
};

TEST(random_expressions, have_the_bits_of_their_ops_and_their_slopes) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const random_steps steps(2, 1 + i % 9, random);
    const kg::fused_expression fused = steps.fused();
    const shape dims = i % 3 ? shape{3, 5} : shape{2, 1025};
    const tensor x = normal(dims, i, dtype::float32), y = normal(i % 5 ? dims : shape{dims[1]}, i + 1, dtype::float32);
    const tensor wanted = steps.run({x, y});
    if (wanted.dims() == dims) EXPECT_TRUE(same_bits(fused(x, y), wanted)) << i;
    const auto slopes = [&](const auto& f) {
      return kg::grads([&](const tensor& a, const tensor& b) { return kg::sum(f(a, b) * normal(dims, 7)); })(x, y);
    };
    const auto got = slopes(fused);
    const auto right = slopes([&](const tensor& a, const tensor& b) { return steps.run({a, b}); });
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_TRUE(kg::all_close(got[k], right[k], {.rtol = 1e-4, .atol = 1e-4})) << i << ", operand " << k;
  }
}

TEST(an_expression, follows_a_rule_that_is_replaced) {
  const kg::fused_expression f = kg::fuse(1, [](symbols x) { return kg::sum(kg::call("Sigmoid", {x[0]}) * 2); });
  const tensor x = normal({2, 3}, 1, dtype::float32);
  const kg::rule_scope other(kg::rule<"Sigmoid">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));
  EXPECT_TRUE(same_bits(kg::grad([&](const tensor& t) { return f(t); })(x), kg::full({2, 3}, 2)));
}

TEST(an_expression, is_its_operand_where_nothing_is_computed) {
  const kg::fused_expression f = kg::fuse(2, [](symbols x) { return kg::call("Identity", {x[1]}); });
  const tensor x = normal({7}, 1, dtype::float32), y = normal({7}, 2, dtype::float32);
  EXPECT_TRUE(same_bits(f(x, y), y));
}

// An operand of an op: of the first of these dtypes that it takes, where every function is defined.
tensor operand_for(const kg::operand& wanted, std::uint32_t seed) {
  for (const dtype type : {dtype::float32, dtype::int32, dtype::boolean, dtype::complex64})
    if (wanted.types.has(type)) return kg::cast(kg::abs(normal({3, 41}, seed, dtype::float32)) + 1.25, type);
  return {};
}

TEST(every_op_that_can_be_fused, gives_alone_what_a_call_by_name_gives) {
  int count = 0;
  for (const std::string& name : kg::op_names()) {
    if (!kg::can_be_fused(name)) continue;
    const kg::op_row& row = *kg::row_named(name);
    std::vector<tensor> operands;
    std::vector<kg::operand_ref> named;
    for (const kg::operand& item : row.operands)
      operands.push_back(operand_for(item, static_cast<std::uint32_t>(operands.size())));
    for (std::size_t k = 0; k < operands.size(); ++k) named.emplace_back(row.operands[k].name, operands[k]);
    std::vector<kg::attribute_ref> attrs;
    for (const kg::attr_spec& item : row.attrs) {
      if (item.kind == kg::attr_kind::dtype) attrs.emplace_back(item.name, kg::attr_value(dtype::int32));
      else if (item.kind == kg::attr_kind::integer) attrs.emplace_back(item.name, kg::attr_value(std::int64_t{2}));
      else attrs.emplace_back(item.name, kg::attr_value(std::clamp(1.5, item.least, item.most)));
    }
    const kg::fused_expression alone = kg::fuse(static_cast<int>(operands.size()), [&](symbols xs) {
      return kg::call(name, std::vector<kg::fuse_operand>(xs.begin(), xs.end()), attrs);
    });
    std::vector<const tensor*> in;
    for (const tensor& x : operands) in.push_back(&x);
    EXPECT_TRUE(same_bits(alone(in), kg::run_kernel_list(name, named, attrs)[0])) << name;
    ++count;
  }
  EXPECT_GE(count, 80);
}

TEST(mistakes_in_an_expression, are_refused_while_it_is_put_together) {
  symbol kept;
  kg::fuse(1, [&](symbols x) { return kept = x[0] + 1; });
  const auto made = [](const auto& f) { return refusal([&] { kg::fuse(1, f); }); };
  EXPECT_TRUE(says(refusal([] { kg::fuse(0, [](symbols) { return symbol(); }); }), {"fuse", "0 operands", "1 to 100"}));
  EXPECT_TRUE(says(made([](symbols) { return symbol(); }), {"fuse", "an empty symbol"}));
  EXPECT_TRUE(says(made([](symbols x) { return kg::call("Sigmoidd", {x[0]}); }), {"Sigmoidd", "such as Sigmoid"}));
  EXPECT_TRUE(says(made([](symbols x) { return kg::call("Conv2D", {x[0], x[0]}); }), {"Conv2D", "element by element"}));
  EXPECT_TRUE(says(made([](symbols x) { return kg::call("Add", {x[0]}); }), {"Add", "1 operands", "2"}));
  EXPECT_TRUE(says(made([](symbols) { return kg::call("Add", {1, 2}); }), {"Add", "numbers alone"}));
  EXPECT_TRUE(says(made([](symbols) { return kg::call("Neg", {symbol()}); }), {"Neg", "not of this expression"}));
  EXPECT_TRUE(
      says(made([](symbols x) { return kg::call("LeakyRelu", {x[0]}, {{"slope", 1}}); }), {"LeakyRelu", "slope"}));
  EXPECT_TRUE(says(made([](symbols x) { return kg::call("Cast", {x[0]}); }), {"Cast", "dtype"}));
  EXPECT_TRUE(
      says(made([](symbols x) { return kg::sum(x[0], {0, 1}); }), {"fuse", "several axes", "all axes, or one"}));
  const auto order = [](symbol x, auto n) { return kg::call<"Polygamma">(x, kg::attr<"n">(n)); };
  EXPECT_TRUE(says(made([&](symbols x) { return order(x[0], 1.5); }), {"kg::polygamma", "n = 1.5", "integer"}));
  EXPECT_TRUE(says(made([&](symbols x) { return order(x[0], 101); }), {"kg::polygamma", "n = 101", "from 0 to 100"}));
  EXPECT_EQ(made([&](symbols x) { return order(x[0], 2.0); }), kgtest::accepted);
  EXPECT_TRUE(says(made([](symbols x) {
                     symbol y = x[0];
                     for (int i = 0; i < 1000; ++i) y = y + i;
                     return y;
                   }),
                   {"fuse", "steps", "fewer than 1000", "split"}));
}

TEST(calls_of_an_expression, that_do_not_fit_are_refused) {
  const kg::fused_expression f = kg::fuse(2, [](symbols x) { return x[0] + x[1]; });
  const tensor x({1.f, 2.f}), y({1.f, 2.f, 3.f});
  EXPECT_TRUE(says(refusal([&] { f(x); }), {"fuse", "1 operands", "2"}));
  EXPECT_TRUE(says(refusal([&] { f(x, y); }), {"kg::add", "[2]", "[3]"}));
  EXPECT_TRUE(says(refusal([&] { kg::fused_expression()(x); }), {"an empty fused_expression"}));
}

}  // namespace
