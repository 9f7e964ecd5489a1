// SPDX-License-Identifier: Apache-2.0
// Checkpoints: the same gradients bit by bit, with less kept; variables, captured tensors, random ops, higher orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kg::variable;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

constexpr auto wave = [](const tensor& x) { return kg::sin(x) * kg::exp(x) + kg::softmax(x); };

std::vector<doubles> all_of(const kg::variable_gradients& result) {
  std::vector<doubles> all;
  for (const kg::variable_gradient& g : result.grads) all.push_back(g.grad.to_doubles());
  return all;
}

TEST(a_checkpoint, has_the_value_and_the_gradients_of_its_function_bit_by_bit) {
  const tensor x({0.3, -0.7, 1.1}), dy({1.0, -2.0, 0.5});
  const auto f = kg::checkpoint(wave);
  EXPECT_EQ(f(x).to_doubles(), wave(x).to_doubles()) << "outside a recording";
  EXPECT_EQ(kg::value_and_grad(f)(x).value.to_doubles(), wave(x).to_doubles());
  EXPECT_EQ(kg::grad(f)(x, dy).to_doubles(), kg::grad(wave)(x, dy).to_doubles());
  const auto product = [](const tensor& a, const tensor& b) { return kg::sin(a * b) * b; };
  const auto plain = kg::grads(product)(x, dy), kept = kg::grads(kg::checkpoint(product))(x, dy);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(kept[i].to_doubles(), plain[i].to_doubles());
}

TEST(a_checkpoint, runs_its_function_twice_and_keeps_its_operands_alone) {
  const tensor x = kg::ones({1000}, dtype::float64);
  const auto peak_of = [&](auto block, int& runs) {
    std::int64_t kept = 0;
    const std::int64_t before = kg::memory().live_bytes;
    kg::grad([&](const tensor& t) {
      tensor h = t;
      for (int i = 0; i < 4; ++i)
        h = block([&runs](const tensor& v) {
          ++runs;
          tensor u = v;
          for (int k = 0; k < 10; ++k) u = kg::tanh(u);
          return u;
        })(h);
      kept = kg::memory().live_bytes - before;
      return h;
    })(x);
    EXPECT_EQ(kg::memory().live_bytes, before);
    return kept;
  };
  int plain_runs = 0, runs = 0;
  EXPECT_EQ(peak_of([](auto f) { return f; }, plain_runs), 40 * 8000);
  EXPECT_EQ(peak_of([](auto f) { return kg::checkpoint(f); }, runs), 4 * 8000) << "the blocks' results";
  EXPECT_EQ(plain_runs, 4);
  EXPECT_EQ(runs, 8);
}

TEST(a_checkpoint, lets_go_of_each_second_run_before_the_next) {
  const tensor x = kg::ones({1000}, dtype::float64);
  std::int64_t most = 0;
  const std::int64_t before = kg::memory().live_bytes;
  kg::grad([&](const tensor& t) {
    tensor h = t;
    for (int i = 0; i < 20; ++i)
      h = kg::checkpoint([&](const tensor& v) {
        tensor u = v;
        for (int k = 0; k < 10; ++k) u = kg::tanh(u);
        most = std::max(most, kg::memory().live_bytes - before);
        return u;
      })(h);
    return h;
  })(x);
  EXPECT_LT(most, (20 + 20) * 8000) << "20 results, one block and a few gradients; 200 values without checkpoints";
}

TEST(a_checkpoint, gives_the_variables_that_it_reads_their_gradients) {
  const variable w(tensor({0.5, -1.0, 2.0}), "w"), b(tensor(0.25), "b"), frozen(tensor(2.0), "frozen", false);
  const tensor x({1.0, 2.0, 3.0});
  const auto layer = [&](const tensor& v) { return kg::tanh(v * w + b) * frozen; };
  const auto plain = kg::variable_grads([&] { return kg::sum(layer(layer(x))); });
  const auto kept = kg::variable_grads([&] { return kg::sum(kg::checkpoint(layer)(kg::checkpoint(layer)(x))); });
  EXPECT_EQ(kept.value.item(), plain.value.item());
  ASSERT_EQ(kept.grads.size(), 2u);
  EXPECT_EQ(all_of(kept), all_of(plain));
  const auto no_operand = kg::variable_grads([&] { return kg::checkpoint([&] { return kg::sum(w * w); })(); });
  EXPECT_EQ(no_operand.grads[0].grad.to_doubles(), (doubles{1, -2, 4}));
}

TEST(a_checkpoint, sees_the_values_of_its_first_run_again) {
  const variable w(tensor(3.0)), scale(tensor(10.0), "scale", false);
  const auto result = kg::variable_grads([&] {
    const tensor y = kg::checkpoint([&](const tensor& x) { return x * w * w * scale; })(tensor(1.0));
    w.assign(tensor(100.0));
    scale.assign(tensor(0.0));
    return y;
  });
  EXPECT_EQ(result.value.item(), 90);
  EXPECT_EQ(result.grads[0].grad.item(), 60);
  EXPECT_EQ(w.value().item(), 100);
}

TEST(a_checkpoint, refuses_a_function_that_assigns_or_does_something_else_the_second_time) {
  const variable w(tensor(3.0), "w"), other(tensor(1.0), "other");
  const auto assigning = kg::checkpoint([&](const tensor& x) {
    w.assign(tensor(1.0));
    return x * w;
  });
  EXPECT_NE(refusal([&] { return kg::grad(assigning)(tensor(1.0)); }).find("variable w"), std::string::npos);
  EXPECT_EQ(w.value().item(), 3);
  int run = 0;
  const auto reading = kg::checkpoint([&](const tensor& x) { return run++ ? x * other : x * w; });
  EXPECT_NE(refusal([&] { return kg::grad(reading)(tensor(1.0)); }).find("other"), std::string::npos);
  const auto growing = kg::checkpoint([&](const tensor& x) { return run++ % 2 ? x : kg::sum(x); });
  run = 0;
  EXPECT_NE(refusal([&] { return kg::grad(growing)(tensor({1.0, 2.0})); }).find("again"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::grad(kg::checkpoint([](const tensor&) { return tensor(); }))(tensor(1.0)); }),
            accepted);
}

TEST(a_checkpoint, gives_captured_tensors_their_gradients) {
  const tensor x({0.3, -0.7, 1.1});
  const auto with = [](auto wrap) {
    return [wrap](const tensor& t) {
      const tensor h = kg::exp(t), unused = kg::sin(t);
      return wrap([h](const tensor& a) { return a * h * kg::sum(h); })(t);
    };
  };
  const auto plain = with([](auto f) { return f; });
  const auto kept = with([](auto f) { return kg::checkpoint(f); });
  EXPECT_EQ(kg::grad(kept)(x).to_doubles(), kg::grad(plain)(x).to_doubles());
  const auto second = [](auto f) { return kg::grad([f](const tensor& t) { return kg::sum(kg::grad(f)(t)); }); };
  EXPECT_EQ(second(kept)(x).to_doubles(), second(plain)(x).to_doubles());
  // The captured tensor is the result itself.
  const auto passed = [](const tensor& t) { return kg::checkpoint([t](const tensor&) { return t; })(tensor(1.0)) * t; };
  EXPECT_EQ(kg::grad(passed)(tensor(3.0)).item(), 6);
  // A pullback runs after its recording: it says so rather than giving zeros.
  EXPECT_NE(refusal([&] { return kg::vjp(kept)(x).back(); }).find("captured"), std::string::npos);
}

TEST(a_checkpoint, repeats_random_draws) {
  const tensor x = kg::ones({50}, dtype::float64);
  const auto dropout = [](const tensor& t) {
    return t * t * kg::cast(kg::random_uniform({50}, 0, 1, 7) > 0.5, dtype::float64);
  };
  EXPECT_EQ(kg::grad(kg::checkpoint(dropout))(x).to_doubles(), kg::grad(dropout)(x).to_doubles());
}

TEST(a_checkpoint, is_right_at_higher_orders_and_under_the_other_transforms) {
  const tensor x({0.3, -0.7, 1.1}), v({1.0, 0.5, -2.0});
  const auto f = kg::checkpoint(wave);
  const auto third = [](auto g) {
    return kg::grad([g](const tensor& a) {
      return kg::sum(kg::grad([g](const tensor& b) { return kg::sum(kg::grad(g)(b) * b); })(a) * a);
    });
  };
  const doubles plain = third(wave)(x).to_doubles(), kept = third(f)(x).to_doubles();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(kept[i], plain[i], 1e-13);
  EXPECT_EQ(kg::jvp(f)(x, v).tangent.to_doubles(), kg::jvp(wave)(x, v).tangent.to_doubles());
  EXPECT_EQ(kg::vjp(f)(x).back(v)[0].to_doubles(), kg::vjp(wave)(x).back(v)[0].to_doubles());
  const auto hessian = [&](auto g) { return kg::jvp(kg::grad(g))(x, v).tangent.to_doubles(); };
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(hessian(f)[i], hessian(wave)[i], 1e-14);
  // A gradient inside the checkpointed function.
  const auto slope = [](const tensor& t) { return kg::grad([](const tensor& u) { return u * u * u; })(t); };
  EXPECT_EQ(kg::grad(kg::checkpoint(slope))(x).to_doubles(), kg::grad(slope)(x).to_doubles());
}

TEST(a_checkpoint, with_variables_is_right_at_the_second_order) {
  const variable w(tensor({2.0, 3.0}));
  const auto cube = kg::checkpoint([&] { return kg::sum(w * w * w); });
  const auto outer = kg::variable_grads([&] {
    const auto inner = kg::variable_grads([&] { return cube(); });
    return kg::sum(inner.grads[0].grad);
  });
  EXPECT_EQ(outer.grads[0].grad.to_doubles(), (doubles{12, 18}));
  // The gradient with respect to variables, taken inside the checkpointed function.
  const auto inside = kg::variable_grads([&] {
    return kg::checkpoint(
        [&] { return kg::sum(kg::variable_grads([&] { return kg::sum(w * w * w); }).grads[0].grad); })();
  });
  EXPECT_EQ(inside.grads[0].grad.to_doubles(), (doubles{12, 18}));
}

TEST(a_checkpoint, nests) {
  const variable w(tensor({0.5, -1.0, 2.0}));
  const tensor x({0.3, -0.7, 1.1});
  const auto inner = [&](const tensor& t) { return kg::tanh(t * w); };
  const auto plain = [&](const tensor& t) { return kg::exp(inner(kg::sin(t))); };
  const auto nested = kg::checkpoint([&](const tensor& t) {
    const tensor h = kg::sin(t);
    return kg::exp(kg::checkpoint([&, h](const tensor& one) { return inner(h * one); })(kg::ones_like(h)));
  });
  EXPECT_EQ(kg::grad(nested)(x).to_doubles(), kg::grad(plain)(x).to_doubles());
  EXPECT_EQ(all_of(kg::variable_grads([&] { return kg::sum(nested(x)); })),
            all_of(kg::variable_grads([&] { return kg::sum(plain(x)); })));
}

}  // namespace
