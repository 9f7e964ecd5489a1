// SPDX-License-Identifier: Apache-2.0
// Gradients, matrices of derivatives, rules and optimizers that run out of memory.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/failing_memory.h"

namespace {

using kg::tensor;
using kg::variable;
using kgtest::failing;
using kgtest::for_each_allocation;
using kgtest::is_done_despite;
using kgtest::sweep;
using kgtest::watched;

std::string nothing() { return {}; }

// Calls that keep nothing but caches. The memory of the thread's tape goes with a pullback.
void sweep_calls(const std::vector<std::pair<std::string, std::function<void()>>>& all) {
  const auto empty_tape = [] { kg::vjp([](const tensor& t) { return t * 2; })(tensor(1.0)); };
  for (const auto& [name, run] : all) sweep({.name = name, .run = run, .undo = empty_tape, .state = nothing});
}

// ------------------------------------------------------------------------------------------ the first use

TEST(first_use, of_the_library_may_run_out_of_memory) {
  const std::vector<std::pair<std::string, std::function<void()>>> all{
      {"an op", [] { kg::exp(tensor({1.f, 2.f})); }},
      {"a call by name", [] { kg::run_kernel("LeakyRelu", {{"x", tensor({1.f, 2.f})}}, {{"alpha", 0.1}}); }},
      {"a gradient", [] { kg::grad([](const tensor& t) { return kg::sum(kg::exp(t)); })(tensor({1.f, 2.f})); }},
      {"a step of an optimizer",
       [] {
         const variable v(tensor({1.f, 2.f}));
         kg::adam().minimize([&] { return kg::sum(v * v.value()); });
       }},
      {"a scope of a backend",
       [] {
         const kg::backend_scope here(kg::backend::reference);
         kg::exp(tensor({1.f, 2.f}));
       }},
      {"a hook",
       [] {
         const kg::hook_handle here = kg::add_hooks({.begin = [](const kg::kernel_event&) {}});
         kg::exp(tensor({1.f, 2.f}));
       }},
      {"a kernel of the program",
       [] {
         const kg::registration mine = kg::scoped_kernel(
             {.name = "Mine", .run = [](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x") + 1}; }});
         kg::run_kernel("Mine", {{"x", tensor(1.f)}});
       }},
      {"an FFT", [] { kg::rfft(kg::ones({12})); }},
      {"a convolution", [] { kg::conv2d(kg::ones({1, 8, 8, 2}), kg::ones({3, 3, 2, 4})); }},
      {"threads",
       [] {
         kg::set_num_threads(2);
         kg::exp(kg::ones({1 << 19}));
       }},
      {"printing", [] { to_string(tensor({1.f, 2.f})); }},
  };
  for (const auto& [name, run] : all) kgtest::sweep_first_use(name, run);
}

// ------------------------------------------------------------------------------------------ derivatives

TEST(out_of_memory, ends_derivatives_of_every_kind_without_a_trace) {
  const tensor x({0.5, 1.0, 2.0}), y({3.0, -1.0, 0.5});
  const auto wave = [](const tensor& t) { return kg::sin(t) * kg::exp(t); };
  const auto energy = [&](const tensor& t) { return kg::sum(wave(t)); };
  const auto product = [](const tensor& a, const tensor& b) { return a * b; };
  const auto of_list = [](std::span<const tensor> xs) { return xs[0] * kg::sum(xs[1]); };
  const auto root = kg::implicit([](const tensor& z, const tensor& a) { return z * z - a; },
                                 [](const tensor& a) { return kg::sqrt(a); });
  sweep_calls({
      {"a Jacobian by rows", [&] { kg::jacobian(wave, kg::jacobian_by::rows)(x); }},
      {"a Jacobian by columns", [&] { kg::jacobian(wave, kg::jacobian_by::columns)(x); }},
      {"Jacobians of two operands", [&] { kg::jacobians(product)(x, y); }},
      {"Jacobians of a list", [&] { kg::jacobian_of(of_list, std::vector{x, y}); }},
      {"a Hessian", [&] { kg::hessian(energy)(x); }},
      {"Hessians of pairs",
       [&] { kg::hessians([&](const tensor& a, const tensor& b) { return kg::sum(a * b * b); })(x, y); }},
      {"a product with a Hessian", [&] { kg::hvp(energy)(x, y); }},
      {"a pullback that is called twice",
       [&] {
         const auto back = kg::vjp(product)(x, y).back;
         back(y);
         back(x);
       }},
      {"a pullback of a list", [&] { kg::vjp_of(of_list, std::vector{x, y}).back(x); }},
      {"a derivative in a direction", [&] { kg::jvp(product)({x, y}, {y, x}); }},
      {"a gradient of a Jacobian",
       [&] { kg::grad([&](const tensor& t) { return kg::sum(kg::jacobian(wave)(t)); })(x); }},
      {"an implicit function", [&] { kg::grad([&](const tensor& a) { return kg::sum(root(a)); })(x); }},
      {"a second derivative of an implicit function",
       [&] {
         const auto slope = kg::grad([&](const tensor& a) { return kg::sum(root(a)); });
         kg::grad([&](const tensor& a) { return kg::sum(slope(a)); })(x);
       }},
  });
}

TEST(out_of_memory, ends_custom_rules_and_trees_without_a_trace) {
  using tree = std::map<std::string, std::vector<tensor>>;
  const tensor x({0.5, 1.0, 2.0});
  const tree all{{"first", {x, x}}, {"second", {x}}};
  const auto ruled = kg::custom_grad([](const tensor& a, const tensor& b) {
    return kg::with_gradient(a * b, [a, b](const tensor& dy) { return std::vector{dy * b, dy * a}; });
  });
  constexpr auto cube = kg::custom_gradient<[](const tensor& t) { return kg::saved(t * t * t, t); },
                                            [](const tensor& dy, const tensor& t) { return dy * t * t * 3; }>;
  sweep_calls({
      {"a custom rule", [&] { kg::grad([&](const tensor& t) { return kg::sum(ruled(t, x)); })(x); }},
      {"a compiled custom rule", [&] { kg::grad([&](const tensor& t) { return kg::sum(cube(t)); })(x); }},
      {"a checkpoint in a gradient of a gradient",
       [&] {
         const auto kept = kg::checkpoint([](const tensor& t) { return kg::sum(kg::exp(t) * t); });
         kg::grad([&](const tensor& t) { return kg::sum(kg::grad(kept)(t)); })(x);
       }},
      {"a rule for a scope",
       [&] {
         const kg::rule_scope straight(
             kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));
         kg::grad([](const tensor& t) { return kg::sum(kg::round(t)); })(x);
       }},
      {"leaves of a tree", [&] { kg::tree_leaves(all); }},
      {"a tree from two", [&] { kg::tree_map([](const tensor& a, const tensor& b) { return a - b; }, all, all); }},
      {"a gradient of a tree",
       [&] { kg::value_and_grad([](const tree& t) { return kg::sum(t.at("first")[0] * t.at("second")[0]); })(all); }},
  });
}

// The recording of 100 ops fills the chunks of several lists; each ends in the middle of a node's operands.
TEST(out_of_memory, inside_of_a_long_inner_gradient_leaves_the_outer_one_right) {
  const tensor x({1.0, 2.0});
  const std::vector<tensor> three(3, x);
  const auto inner = [&](const tensor& t) {
    tensor y = t;
    for (int i = 0; i < 100; ++i) y = kg::add_n(std::vector{y, three[0], three[1]});
    return kg::sum(y);
  };
  for (std::int64_t n = 1, asked = n; asked >= n; ++n) {
    failing now{n};
    const tensor slope = kg::grad([&](const tensor& t) {
      is_done_despite(now, [&] { kg::grad(inner)(t); });
      return kg::sum(t * t);
    })(x);
    asked = now.asked;
    ASSERT_EQ(slope.to_doubles(), (std::vector<double>{2, 4})) << "allocation " << n;
  }
}

// ------------------------------------------------------------------------------------------ optimizers

std::string text_of(const std::vector<variable>& all) {
  std::string text;
  for (const variable& v : all) text += to_string(v.value()) + "\n";
  return text;
}
std::string text_of(const kg::optimizer& by) {
  std::string text = std::to_string(by.steps());
  for (const auto& [name, value] : by.state()) text += "\n" + name + " " + to_string(value);
  return text;
}

std::vector<variable> three_variables() {
  const tensor ones = kg::ones({5});
  return {variable(ones, "first"), variable(ones, "second"), variable(ones, "third")};
}

template <class Optimizer, class... Args>
void check_steps(const std::string& name, Args... args) {
  const tensor ones = kg::ones({5}), slope({1.f, 2.f, 3.f, 4.f, 5.f});
  const std::vector<variable> all = three_variables();
  const std::vector<kg::variable_gradient> grads = {{all[0], slope}, {all[1], slope}, {all[2], slope}, {all[0], slope}};
  std::unique_ptr<Optimizer> optimizer;
  tensor elsewhere;
  const auto prepare = [&] {  // one variable is known to the optimizer, and the value of one is held elsewhere, too
    for (const variable& v : all) v.assign(ones * 1);
    elsewhere = all[1].value();
    optimizer = std::make_unique<Optimizer>(args...);
    optimizer->add_group(std::span(all).first(1), {.learning_rate = kg::cosine_schedule(0.5, 10)});
    optimizer->apply(std::vector{kg::variable_gradient{all[2], slope}});
  };
  sweep({.name = name,
         .run = [&] { optimizer->apply(grads); },
         .prepare = prepare,
         .undo = [&] { optimizer.reset(), elsewhere = tensor(); },
         .state = [&] { return text_of(all) + text_of(*optimizer) + std::to_string(kg::memory().live_bytes); }});
}

TEST(out_of_memory, ends_a_step_of_an_optimizer_before_any_variable_has_changed) {
  check_steps<kg::sgd>("sgd", 0.5);
  check_steps<kg::momentum>("momentum", 0.5, 0.9);
  check_steps<kg::adam>("adam", 0.5);
  check_steps<kg::adam_w>("adam_w", 0.5);
  check_steps<kg::adagrad>("adagrad", 0.5);
  check_steps<kg::adadelta>("adadelta", 0.5);
  check_steps<kg::adamax>("adamax", 0.5);
  check_steps<kg::rms_prop>("centered rms_prop", 0.5, 0.9, 0.5, 1e-7, true);
}

// Three threads share the elements of each variable.
TEST(out_of_memory, ends_a_step_by_several_threads_before_any_variable_has_changed) {
  const kg::shape dims{1 << 18};
  const std::vector<variable> all = {variable(kg::ones(dims)), variable(kg::ones(dims))};
  const std::vector<kg::variable_gradient> grads = {{all[0], kg::ones(dims)}, {all[1], kg::ones(dims)}};
  std::unique_ptr<kg::adam> optimizer;
  kg::set_num_threads(3);
  const auto prepare = [&] {
    for (const variable& v : all) v.assign(kg::ones(dims));
    optimizer = std::make_unique<kg::adam>(0.5);
  };
  const auto ends = [&] {
    std::string text = std::to_string(optimizer->steps());
    for (const variable& v : all)
      text += " " + std::to_string(kg::min(v.value()).item()) + " " + std::to_string(kg::max(v.value()).item());
    return text;
  };
  sweep({.name = "a step by threads",
         .run = [&] { optimizer->apply(grads); },
         .prepare = prepare,
         .undo = [&] { optimizer.reset(); },
         .state = ends});
  kg::set_num_threads(1);
}

TEST(out_of_memory, leaves_an_optimizer_and_its_gradients_as_they_were) {
  const tensor slope({1.f, 2.f, 3.f, 4.f, 5.f});
  const std::vector<variable> all = three_variables();
  std::vector<kg::variable_gradient> grads;
  std::unique_ptr<kg::adam> optimizer;
  kg::named_tensors saved;
  const auto prepare = [&] {
    for (const variable& v : all) v.assign(slope * 1);
    grads = {{all[0], slope}, {all[1], slope * 2}, {all[2], slope}};
    optimizer = std::make_unique<kg::adam>(0.5);
    optimizer->apply(grads);
    saved = optimizer->state();
    optimizer->apply(grads);
  };
  const auto undo = [&] { grads.clear(), saved.clear(), optimizer.reset(); };
  const auto state = [&] {
    std::string text = text_of(all) + text_of(*optimizer);
    for (const kg::variable_gradient& g : grads) text += to_string(g.grad);
    return text;
  };
  const auto one = [&](const std::string& name, const std::function<void()>& run) {
    sweep({.name = name, .run = run, .prepare = prepare, .undo = undo, .state = state});
  };
  one("the state of an optimizer", [&] { optimizer->state(); });
  one("restoring an optimizer", [&] { optimizer->set_state(saved, all); });
  one("clipping by a norm", [&] { kg::clip_by_global_norm(grads, 0.5); });
  one("clipping by values", [&] { kg::clip_by_value(grads, -1, 1); });
  one("a group of variables", [&] { optimizer->add_group(all, {.learning_rate = 0.25, .weight_decay = 0.5}); });
  one("gradients by variables", [&] { kg::variable_grads([&] { return kg::sum(all[0] * all[1].value()); }, all); });
  one("a step with a loss", [&] { optimizer->minimize([&] { return kg::sum(all[0] * all[1].value()); }); });
  one("a schedule", [&] {
    const kg::schedule rate = kg::warm_up(3, kg::chain_schedules({{0.5, 2}, {kg::linear_schedule(1, 0, 4), 4}}));
    static_cast<void>(rate(5));
  });
  one("new variables", [&] {
    const variable v(slope, "a name that is longer than a string has room for without an allocation");
    v.assign(slope * 2);
  });
}

// Steps that failed leave no trace in what the optimizer remembers either.
TEST(out_of_memory, again_and_again_in_a_training_leaves_it_where_an_untroubled_one_ends) {
  struct model {
    variable w{kg::random_normal({3, 4}, 0, 1, 1)}, b{kg::zeros({4})};
    kg::adam optimizer{0.1};
    const tensor x = kg::random_normal({8, 3}, 0, 1, 2);
    void step() {
      optimizer.minimize([&] { return kg::mean(kg::square(kg::tanh(kg::matmul(x, w) + b) - 0.5)); });
    }
    std::vector<double> values() const {
      std::vector<double> all = w.value().to_doubles();
      for (double v : b.value().to_doubles()) all.push_back(v);
      return all;
    }
  } troubled, untroubled;
  int refused = 0;
  for_each_allocation([&](std::int64_t n) {
    kg::release_cached_memory();
    failing now{n};
    if (is_done_despite(now, [&] { troubled.step(); })) untroubled.step();
    else ++refused;
    EXPECT_EQ(troubled.values(), untroubled.values()) << "allocation " << n;
    return now.asked;
  });
  EXPECT_GT(refused, 0);
}

}  // namespace
