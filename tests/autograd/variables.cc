// SPDX-License-Identifier: Apache-2.0
// Variables: reading, assigning, gradients with respect to them at every order, and the optimizers that change them.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kg::variable;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

// The gradient of a variable in a list, or an undefined tensor.
tensor gradient_of(const kg::variable_gradients& all, const variable& v) {
  for (const kg::variable_gradient& g : all.grads)
    if (g.of == v) return g.grad;
  return {};
}

// ------------------------------------------------------------------------------------------ values

TEST(a_variable, is_named_trainable_and_one_thing_however_often_it_is_copied) {
  const variable v(tensor({1.0, 2.0}), "weights"), copy = v, other(tensor({1.0, 2.0}), "weights", false);
  EXPECT_EQ(v.name(), "weights");
  EXPECT_TRUE(v.trainable());
  EXPECT_FALSE(other.trainable());
  EXPECT_TRUE(v == copy);
  EXPECT_FALSE(v == other);
  copy.assign(tensor({3.0, 4.0}));
  EXPECT_EQ(v.value().to_doubles(), (doubles{3, 4}));
  EXPECT_EQ((kg::exp(v * 0) + v).to_doubles(), (doubles{4, 5})) << "a variable stands for its value";
}

TEST(a_variable, refuses_an_empty_handle_and_another_shape_or_dtype) {
  EXPECT_NE(refusal([] { return variable(tensor{}); }), accepted);
  const variable v(tensor({1.0, 2.0}), "w");
  for (const tensor& bad : {tensor(), tensor({1.0}), tensor({1.f, 2.f}), tensor({1.0, 2.0}, {1, 2})})
    EXPECT_NE(refusal([&] { return v.assign(bad); }), accepted);
  EXPECT_NE(refusal([&] { return v.assign(tensor({1.0})); }).find("w"), std::string::npos);
  EXPECT_EQ(v.value().to_doubles(), (doubles{1, 2}));
}

TEST(assigning, changes_no_value_that_was_read_before) {
  const variable v(tensor({1.0, 2.0}));
  const tensor before = v.value();
  v.assign(tensor({5.0, 6.0}));
  EXPECT_EQ(before.to_doubles(), (doubles{1, 2}));
  kg::sgd(1).apply(std::vector{kg::variable_gradient{v, tensor({1.0, 1.0})}});
  EXPECT_EQ(v.value().to_doubles(), (doubles{4, 5}));
  const tensor held = v.value();
  kg::sgd(1).apply(std::vector{kg::variable_gradient{v, tensor({1.0, 1.0})}});
  EXPECT_EQ(held.to_doubles(), (doubles{4, 5}));
  EXPECT_EQ(v.value().to_doubles(), (doubles{3, 4}));
}

TEST(assigning, between_forward_and_backward_leaves_the_saved_value) {
  const variable v(tensor(3.0));
  const auto result = kg::variable_grads([&] {
    const tensor y = v * v.value() * 2;
    v.assign(tensor(100.0));
    kg::sgd(1).apply(std::vector{kg::variable_gradient{v, tensor(1.0)}});
    return y;
  });
  EXPECT_EQ(result.value.item(), 18);
  EXPECT_EQ(gradient_of(result, v).item(), 12);
  EXPECT_EQ(v.value().item(), 99);
}

TEST(assigning, a_slice_that_overlaps_the_last_value_is_seen_by_a_recording) {
  const tensor all({1.0, 2.0, 3.0});
  const variable v(all(kg::range(0, 2)));
  const auto result = kg::variable_grads([&] {
    const tensor before = kg::sum(v);
    v.assign(all(kg::range(1, 3)));
    return before + kg::sum(kg::square(v));
  });
  EXPECT_EQ(result.value.item(), 16);
}

// ------------------------------------------------------------------------------------------ gradients

TEST(variable_grads, names_every_trainable_variable_that_was_read) {
  const variable w(tensor({1.0, 2.0}), "w"), b(tensor(0.5), "b"), frozen(tensor(2.0), "frozen", false),
      unread(tensor(1.0), "unread");
  const auto result = kg::variable_grads([&] { return kg::sum(w * frozen + b); });
  EXPECT_EQ(result.value.item(), 7);
  ASSERT_EQ(result.grads.size(), 2u);
  EXPECT_EQ(gradient_of(result, w).to_doubles(), (doubles{2, 2}));
  EXPECT_EQ(gradient_of(result, b).item(), 2);
  EXPECT_FALSE(gradient_of(result, unread).defined());
}

TEST(variable_grads, come_in_the_order_in_which_the_variables_were_made) {
  const variable first(tensor(2.0), "first"), second(tensor(3.0), "second"), third(tensor(5.0), "third");
  const auto result = kg::variable_grads([&] {
    const tensor early = second.value(), late = first.value();
    return early * late * third.value();
  });
  std::string names;
  for (const auto& [of, grad] : result.grads) names += of.name() + " ";
  EXPECT_EQ(names, "first second third ");
}

TEST(variable_grads, adds_up_all_readings_of_a_variable) {
  const variable w(tensor(3.0));
  const auto result = kg::variable_grads([&] { return w * w.value() * w.value(); });
  ASSERT_EQ(result.grads.size(), 1u);
  EXPECT_EQ(result.grads[0].grad.item(), 27);
}

TEST(variable_grads, looks_at_the_listed_ones_only) {
  const variable a(tensor(2.0)), b(tensor(3.0));
  const auto result = kg::variable_grads([&] { return a * b.value(); }, std::vector{b});
  ASSERT_EQ(result.grads.size(), 1u);
  EXPECT_EQ(gradient_of(result, b).item(), 2);
}

TEST(variable_grads, refuses_a_result_that_is_no_scalar_not_floating_or_depends_on_none) {
  const variable v(tensor({1.0, 2.0})), frozen(tensor(1.0), "", false);
  EXPECT_NE(refusal([&] { return kg::variable_grads([&] { return v.value(); }); }).find("scalar"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::variable_grads([&] { return kg::argmax(v); }); }), accepted);
  EXPECT_NE(refusal([&] { return kg::variable_grads([&] { return frozen.value(); }); }), accepted);
  EXPECT_NE(refusal([&] { return kg::variable_grads([&] { return tensor(1.0); }); }), accepted);
  EXPECT_NE(refusal([&] { return kg::variable_grads([&] { return kg::sum(v); }, std::vector{frozen}); }), accepted);
}

TEST(variable_grads, is_usable_after_an_exception) {
  const variable v(tensor(2.0));
  EXPECT_THROW(kg::variable_grads([&]() -> tensor {
                 const tensor y = v * v.value();
                 throw std::runtime_error("no");
               }),
               std::runtime_error);
  EXPECT_EQ(kg::variable_grads([&] { return v * v.value(); }).grads[0].grad.item(), 4);
}

TEST(variable_grads, nests_to_the_second_order) {
  const variable w(tensor({2.0, 3.0}));
  const auto outer = kg::variable_grads([&] {
    const auto inner = kg::variable_grads([&] { return kg::sum(w * w.value() * w.value()); });
    return kg::sum(inner.grads[0].grad);
  });
  ASSERT_EQ(outer.grads.size(), 1u);
  EXPECT_EQ(outer.grads[0].grad.to_doubles(), (doubles{12, 18}));
}

TEST(variable_grads, nests_where_both_read_the_variable) {
  const variable w(tensor(2.0));
  for (bool outer_first : {true, false}) {
    SCOPED_TRACE(outer_first);
    const auto outer = kg::variable_grads([&] {
      tensor early = outer_first ? w.value() * 5 : tensor();
      const auto inner = kg::variable_grads([&] { return w * w.value() * w.value(); });
      if (!early.defined()) early = w.value() * 5;
      return inner.grads[0].grad + early;
    });
    ASSERT_EQ(outer.grads.size(), 1u);
    EXPECT_EQ(outer.grads[0].grad.item(), 6 * 2 + 5);
  }
}

TEST(variable_grads, of_a_gradient_with_respect_to_an_operand_is_right) {
  const variable w(tensor(3.0));
  const auto penalty =
      kg::variable_grads([&] { return kg::grad([&](const tensor& x) { return w * x * x * w.value(); })(tensor(2.0)); });
  EXPECT_EQ(penalty.value.item(), 9 * 4);
  EXPECT_EQ(penalty.grads[0].grad.item(), 2 * 3 * 4);
}

TEST(variable_grads, inside_a_gradient_with_respect_to_an_operand_is_right) {
  const variable w(tensor(3.0));
  const tensor mixed = kg::grad([&](const tensor& x) {
    return kg::variable_grads([&] { return x * x * w * w.value(); }).grads[0].grad;
  })(tensor(2.0));
  EXPECT_EQ(mixed.item(), 2 * 2 * 2 * 3);
}

TEST(variable_grads, of_one_variable_in_many_threads_are_right) {
  const variable w(tensor(3.0));
  std::vector<int> wrong(8);
  std::vector<std::thread> all;
  for (int& mine : wrong)
    all.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto result = kg::variable_grads([&] { return w * w.value() * w.value(); });
        mine += result.grads.size() != 1 || result.grads[0].grad.item() != 27;
      }
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
}

// ------------------------------------------------------------------------------------------ optimizers

// Steps with a constant gradient, computed by hand next to the library.
struct by_hand {
  double value = 1, first = 0, second = 0, third = 0;
};

// The gradient grows, and of some steps it has the other sign.
double slope_at(int t) { return (0.5 + 0.25 * t) * (t % 4 == 3 ? -1 : 1); }

template <class Optimizer, class Step>
void compare_steps_of(dtype type, Optimizer optimizer, Step step, by_hand expected) {
  const variable v(kg::ones({67}, type));
  for (int t = 1; t <= 10; ++t) {
    const double g = slope_at(t);
    optimizer.apply(std::vector{kg::variable_gradient{v, kg::full({67}, g, type)}});
    step(expected, g, t);
    for (double got : v.value().to_doubles())
      ASSERT_NEAR(got, expected.value, type == dtype::float32 ? 2e-6 : 1e-14) << "step " << t;
  }
}

// On every SIMD target; 67 elements are full vectors and a rest on each.
template <class Optimizer, class Step>
void compare_steps(const Optimizer& optimizer, Step step, by_hand start = {}) {
  for (const kg::simd_target& target : kg::simd_targets()) {
    SCOPED_TRACE(target.name);
    kg::set_simd_target(target.name);
    for (dtype type : {dtype::float32, dtype::float64}) compare_steps_of(type, optimizer, step, start);
  }
  kg::set_simd_target("");
}

TEST(sgd, follows_its_recurrence) {
  compare_steps(kg::sgd(0.1), [](by_hand& s, double g, int) { s.value -= 0.1 * g; });
}

TEST(momentum, follows_its_recurrence_with_and_without_looking_ahead) {
  compare_steps(kg::momentum(0.1, 0.9),
                [](by_hand& s, double g, int) { s.first = 0.9 * s.first + g, s.value -= 0.1 * s.first; });
  compare_steps(kg::momentum(0.1, 0.9, true),
                [](by_hand& s, double g, int) { s.first = 0.9 * s.first + g, s.value -= 0.1 * (g + 0.9 * s.first); });
}

TEST(adam, follows_its_recurrence) {
  compare_steps(kg::adam(0.01), [](by_hand& s, double g, int t) {
    s.first = 0.9 * s.first + 0.1 * g;
    s.second = 0.999 * s.second + 0.001 * g * g;
    s.value -= 0.01 * (s.first / (1 - std::pow(0.9, t))) / (std::sqrt(s.second / (1 - std::pow(0.999, t))) + 1e-7);
  });
}

TEST(adam_w, takes_the_decay_of_the_weights_off_before_adams_step) {
  compare_steps(kg::adam_w(0.01, 0.9, 0.999, 1e-7, 0.25), [](by_hand& s, double g, int t) {
    s.first = 0.9 * s.first + 0.1 * g;
    s.second = 0.999 * s.second + 0.001 * g * g;
    s.value -= 0.01 * 0.25 * s.value;
    s.value -= 0.01 * (s.first / (1 - std::pow(0.9, t))) / (std::sqrt(s.second / (1 - std::pow(0.999, t))) + 1e-7);
  });
}

TEST(adagrad, follows_its_recurrence_from_the_initial_sum) {
  const auto step = [](by_hand& s, double g, int) {
    s.first += g * g;
    s.value -= 0.1 * g / std::sqrt(s.first + 1e-7);
  };
  compare_steps(kg::adagrad(0.1), step, {.first = 0.1});
  compare_steps(kg::adagrad(0.1, 2), step, {.first = 2});
}

TEST(adadelta, divides_by_the_mean_of_the_steps_before) {
  compare_steps(kg::adadelta(0.5, 0.9, 1e-3), [](by_hand& s, double g, int) {
    const double move = g * std::sqrt(s.second + 1e-3) / std::sqrt(s.first + 1e-3);
    s.first = 0.9 * s.first + 0.1 * g * g;
    s.second = 0.9 * s.second + 0.1 * move * move;
    s.value -= 0.5 * move;
  });
}

TEST(adamax, follows_its_recurrence_at_a_rate_that_decays) {
  compare_steps(kg::adamax(0.1, 0.9, 0.5, 1e-6, 0.25), [](by_hand& s, double g, int t) {
    s.first = 0.9 * s.first + 0.1 * g;
    s.second = std::fmax(0.5 * s.second, std::fabs(g));
    s.value -= 0.1 / (1 + 0.25 * (t - 1)) / (1 - std::pow(0.9, t)) * s.first / (s.second + 1e-6);
  });
}

TEST(rms_prop, follows_its_recurrence_plain_and_centered) {
  compare_steps(kg::rms_prop(0.1, 0.8, 0.5), [](by_hand& s, double g, int) {
    s.first = 0.8 * s.first + 0.2 * g * g;
    s.second = 0.5 * s.second + 0.1 * g / std::sqrt(s.first + 1e-7);
    s.value -= s.second;
  });
  compare_steps(kg::rms_prop(0.1, 0.8, 0.5, 1e-3, true), [](by_hand& s, double g, int) {
    s.first = 0.8 * s.first + 0.2 * g * g;
    s.third = 0.8 * s.third + 0.2 * g;
    s.second = 0.5 * s.second + 0.1 * g / std::sqrt(s.first - (s.third * s.third + 1e-3));
    s.value -= s.second;
  });
}

TEST(rms_prop, centered_stays_finite_where_the_gradient_never_changes) {
  kg::rms_prop optimizer(0.01, 0.5, 0, 1e-7, true);
  const variable v(tensor(1.0));
  for (int i = 0; i < 200; ++i) optimizer.apply(std::vector{kg::variable_gradient{v, tensor(0.5)}});
  EXPECT_TRUE(std::isfinite(v.value().item())) << v.value().item();
}

TEST(an_optimizer, shows_a_gradient_of_nan_in_its_element_alone_and_for_good) {
  const auto check = [](kg::optimizer&& optimizer) {
    const variable v(kg::ones({3}));
    const float nan = std::nanf("");
    optimizer.apply(std::vector{kg::variable_gradient{v, tensor({1.f, nan, 1.f})}});
    optimizer.apply(std::vector{kg::variable_gradient{v, tensor({1.f, 1.f, 1.f})}});
    const std::vector<double> got = v.value().to_doubles();
    EXPECT_TRUE(std::isfinite(got[0]) && std::isnan(got[1]) && std::isfinite(got[2]));
  };
  check(kg::sgd(0.1)), check(kg::momentum(0.1, 0.9)), check(kg::adam()), check(kg::adam_w()), check(kg::adagrad(0.1));
  check(kg::adadelta()), check(kg::adamax()), check(kg::rms_prop(0.1)), check(kg::rms_prop(0.1, 0.9, 0, 1e-7, true));
}

TEST(an_optimizer, refuses_gradients_that_do_not_fit_before_anything_changes) {
  const variable a(tensor({1.0, 2.0}), "a"), b(tensor(1.0), "b"), whole(tensor({1, 2}), "whole");
  kg::momentum optimizer(0.1, 0.9);
  for (const tensor& bad : {tensor(), tensor({1.0}), tensor({1.f, 2.f})})
    EXPECT_NE(
        refusal([&] {
          return optimizer.apply(std::vector{kg::variable_gradient{b, tensor(1.0)}, kg::variable_gradient{a, bad}});
        }),
        accepted);
  EXPECT_NE(refusal([&] { return optimizer.apply(std::vector{kg::variable_gradient{whole, tensor({1, 2})}}); }),
            accepted);
  EXPECT_EQ(b.value().item(), 1);
  EXPECT_EQ(a.value().to_doubles(), (doubles{1, 2}));
}

TEST(an_optimizer, keeps_apart_variables_of_different_sizes) {
  const variable a(kg::ones({3})), b(kg::ones({5}));
  kg::adam optimizer(0.1);
  for (int i = 0; i < 3; ++i) optimizer.minimize([&] { return kg::sum(kg::square(a)) + kg::sum(kg::square(b)); });
  EXPECT_EQ(a.value().to_doubles()[0], b.value().to_doubles()[4]);
}

TEST(an_optimizer, trains_a_linear_model_to_its_solution) {
  const tensor x = kg::random_normal({64, 3}, 0, 1, 1, dtype::float64), truth({1.0, -2.0, 0.5}, {3, 1});
  const tensor y = kg::matmul(x, truth) + 0.25;
  const variable w(kg::zeros({3, 1}, dtype::float64), "w"), b(kg::zeros({}, dtype::float64), "b");
  const auto loss = [&] { return kg::mean(kg::squared_difference(kg::matmul(x, w) + b, y)); };
  kg::adam optimizer(0.05);
  double last = 0;
  for (int i = 0; i < 600; ++i) last = optimizer.minimize(loss).item();
  EXPECT_LT(last, 1e-6);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(w.value().to_doubles()[i], truth.data<double>()[i], 1e-3);
  EXPECT_NEAR(b.value().item(), 0.25, 1e-3);
}

TEST(an_optimizer, changes_the_listed_variables_only_and_gives_the_value_before_the_step) {
  const variable a(tensor(2.0)), b(tensor(3.0));
  kg::sgd optimizer(0.5);
  EXPECT_EQ(optimizer.minimize([&] { return a * b.value(); }, std::vector{a}).item(), 6);
  EXPECT_EQ(a.value().item(), 0.5);
  EXPECT_EQ(b.value().item(), 3);
}

TEST(training, leaves_no_buffers_behind) {
  const kg::memory_info before = kg::memory();
  {
    const variable w(kg::ones({8, 8}));
    kg::adam optimizer;
    for (int i = 0; i < 20; ++i) optimizer.minimize([&] { return kg::mean(kg::square(kg::matmul(w, w))); });
  }
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

}  // namespace
