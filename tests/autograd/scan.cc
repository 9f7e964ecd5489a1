// SPDX-License-Identifier: Apache-2.0
// Loops that carry tensors and trees, and checkpoints of functions of both.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::refusal;
using doubles = std::vector<double>;
using parameters = std::map<std::string, tensor>;

// Discounted sums: the carry is the sum so far, the result is its square.
std::pair<tensor, tensor> discounted(const tensor& sum, const tensor& x) {
  const tensor next = sum * 0.5 + x;
  return {next, next * next};
}

TEST(scan, carries_a_tensor_over_the_first_axis) {
  const tensor x({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}), start({8.0, 0.0});
  const auto [last, squares] = kg::scan(discounted, start, x);
  EXPECT_EQ(last.to_doubles(), (doubles{7.75, 8.5}));
  EXPECT_EQ(squares.dims(), (kg::shape{3, 2}));
  EXPECT_EQ(squares.to_doubles(), (doubles{25, 4, 30.25, 25, 60.0625, 72.25}));
  const auto back = kg::scan(discounted, start, kg::reverse(x, 0), {.reverse = true});
  EXPECT_EQ(kg::reverse(back.ys, 0).to_doubles(), squares.to_doubles()) << "results stay where their inputs are";
}

TEST(scan, carries_trees_and_returns_trees) {
  const parameters start{{"a", tensor(1.0)}, {"b", tensor({1.0, 2.0})}};
  const std::vector<tensor> xs{tensor({1.0, 2.0}), tensor({{1.0, 1.0}, {2.0, 2.0}})};
  const auto step = [](const parameters& carry, const std::vector<tensor>& x) {
    parameters next{{"a", carry.at("a") + x[0]}, {"b", carry.at("b") * x[1]}};
    return std::pair(next, std::vector{next.at("a") * 2, next.at("b")});
  };
  const auto [last, ys] = kg::scan(step, start, xs);
  EXPECT_EQ(last.at("a").item(), 4);
  EXPECT_EQ(last.at("b").to_doubles(), (doubles{2, 4}));
  EXPECT_EQ(ys[0].to_doubles(), (doubles{4, 8}));
  EXPECT_EQ(ys[1].to_doubles(), (doubles{1, 2, 2, 4}));
  const auto nothing =
      kg::scan([](const tensor& carry, const tensor& x) { return std::pair(carry + x, std::tuple<>()); }, tensor(0.0),
               tensor({1.0, 2.0}));
  EXPECT_EQ(nothing.carry.item(), 3);
}

TEST(scan, counts_steps_without_inputs) {
  const auto power = [](const tensor& carry, std::int64_t i) {
    return std::pair(carry * 2.0, carry + static_cast<double>(i));
  };
  const auto [last, ys] = kg::scan(power, tensor(1.0), 3);
  EXPECT_EQ(last.item(), 8);
  EXPECT_EQ(ys.to_doubles(), (doubles{1, 3, 6}));
  EXPECT_EQ(kg::scan(power, tensor(1.0), 3, {.reverse = true}).ys.to_doubles(), (doubles{4, 3, 3}));
}

TEST(scan, has_the_gradients_of_its_steps_with_and_without_checkpoints) {
  const tensor x({0.3, -0.2, 0.5}), w(0.7);
  const auto loss_of = [](const kg::scan_options& options) {
    return [options](const tensor& inputs, const tensor& weight) {
      const auto step = [weight](const tensor& carry, const tensor& at) {
        const tensor next = kg::tanh(carry * weight + at);
        return std::pair(next, next * at);
      };
      const auto [last, ys] = kg::scan(step, kg::zeros({}, dtype::float64), inputs, options);
      return last + kg::sum(ys);
    };
  };
  const auto written = [](const tensor& inputs, const tensor& weight) {
    tensor carry = kg::zeros({}, dtype::float64), sum = carry;
    for (const tensor& at : kg::unstack(inputs)) carry = kg::tanh(carry * weight + at), sum = sum + carry * at;
    return carry + sum;
  };
  const auto wanted = kg::grads(written)(x, w);
  for (const bool light : {false, true}) {
    const auto loss = loss_of({.checkpoint = light});
    const auto got = kg::grads(loss)(x, w);
    for (std::size_t i = 0; i < 2; ++i) {
      const doubles a = got[i].to_doubles(), b = wanted[i].to_doubles();
      for (std::size_t k = 0; k < b.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-15);
    }
    const auto slope = [&](const auto& f) {
      return kg::grad([&](const tensor& v) { return kg::grad([&](const tensor& u) { return f(x, u); })(v); })(w).item();
    };
    EXPECT_NEAR(slope(loss), slope(written), 1e-14) << "the second order";
  }
}

TEST(scan, refuses_steps_that_do_not_fit) {
  const auto keep = [](const tensor& carry, const tensor& x) { return std::pair(carry, x); };
  const auto cast = [](const tensor& carry, const tensor& x) { return std::pair(kg::cast(carry, dtype::float32), x); };
  const auto pair = [](const tensor& carry, const std::vector<tensor>& x) { return std::pair(carry, x[0]); };
  const tensor start(1.0);
  EXPECT_TRUE(kgtest::says(refusal([&] { return kg::scan(keep, start, start).ys; }), {"[kg::scan]", "rank 0"}));
  EXPECT_TRUE(kgtest::says(refusal([&] { return kg::scan(keep, start, kg::zeros({0, 2})).ys; }), {"0 steps"}));
  EXPECT_TRUE(kgtest::says(refusal([&] { return kg::scan(cast, start, kg::zeros({2})).ys; }), {"step 0", "float32"}));
  const std::vector<tensor> uneven{kg::zeros({2}), kg::zeros({3})};
  EXPECT_TRUE(kgtest::says(refusal([&] { return kg::scan(pair, start, uneven).ys; }), {"[2]", "[3]"}));
}

// ------------------------------------------------------------------------------------------ checkpoints

struct both {
  tensor value, logarithm;
};

}  // namespace

template <>
struct kg::tree_members<both> {
  static auto of(auto& t) { return std::tie(t.value, t.logarithm); }
};

namespace {

TEST(a_checkpoint, takes_trees_and_tensors_and_returns_trees) {
  const auto plain = [](const parameters& p, const tensor& x) {
    const tensor y = kg::exp(kg::sin(x * p.at("w")) + p.at("b"));
    return both{y, kg::log(y)};
  };
  const auto light = kg::checkpoint(plain);
  const parameters p{{"b", tensor({0.5, -0.5})}, {"w", tensor({1.0, 2.0})}};
  const tensor x({0.3, 0.4});
  EXPECT_EQ(light(p, x).value.to_doubles(), plain(p, x).value.to_doubles()) << "outside a recording";
  const auto loss_of = [&](auto f) {
    return [=](const parameters& at) {
      const both y = f(at, x);
      return kg::sum(y.value * y.value) + kg::sum(y.logarithm * 3);
    };
  };
  const parameters wanted = kg::grad(loss_of(plain))(p), got = kg::grad(loss_of(light))(p);
  for (const auto& [name, g] : wanted) EXPECT_EQ(got.at(name).to_doubles(), g.to_doubles()) << name;
  const auto second = [&](auto f) {
    return kg::grad([&](const tensor& w) {
             parameters at = p;
             at["w"] = w;
             return kg::sum(kg::grad([&](const tensor& b) {
               parameters inner = at;
               inner["b"] = b;
               return loss_of(f)(inner);
             })(p.at("b")));
           })(p.at("w"))
        .to_doubles();
  };
  const doubles wanted_slopes = second(plain), slopes = second(light);
  for (std::size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(slopes[i], wanted_slopes[i], 1e-13);
}

TEST(a_checkpoint, of_a_tree_keeps_a_result_that_nothing_uses_and_one_of_integers) {
  const auto f =
      kg::checkpoint([](const tensor& x) { return std::tuple(x * x, kg::exp(x), kg::cast(x > 0, dtype::int32), x); });
  const tensor x({1.0, -2.0});
  const auto loss = [&](const tensor& at) {
    const auto [square, unused, sign, same] = f(at);
    return kg::sum(square * kg::cast(sign, dtype::float64)) + kg::sum(same);
  };
  EXPECT_EQ(kg::grad(loss)(x).to_doubles(), (doubles{3, 1}));
}

}  // namespace
