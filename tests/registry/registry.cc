// SPDX-License-Identifier: Apache-2.0
// The run-time registry: kernels and gradients that a program brings along run, differentiate and train like known
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::existing;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

// Removes at the end of a test the kernel that it registered.
struct registered_kernel {
  std::string name, backend;
  explicit registered_kernel(kg::kernel_config config, existing taken = existing::refuse)
      : name(config.name), backend(config.backend) {
    kg::register_kernel(std::move(config), taken);
  }
  ~registered_kernel() { kg::unregister_kernel(name, backend); }
};
struct registered_gradient {
  std::string name;
  explicit registered_gradient(kg::gradient_config config, existing taken = existing::refuse) : name(config.name) {
    kg::register_gradient(std::move(config), taken);
  }
  ~registered_gradient() { kg::unregister_gradient(name); }
};

// softshrink(x) = x - lambda above lambda, x + lambda below -lambda, 0 between; written with a loop of its own.
kg::tensor_list run_softshrink(const kg::kernel_call& call) {
  const double lambda = call.attr("lambda", 0.5).as_number();
  std::vector<double> values = call.input("x").to_doubles();
  for (double& v : values) v = v > lambda ? v - lambda : v < -lambda ? v + lambda : 0;
  return {tensor(values, call.input("x").dims())};
}
kg::kernel_config softshrink() {
  kg::kernel_config config;
  config.name = "Softshrink";
  config.run = run_softshrink;
  config.dtypes = kg::only(dtype::float64);
  return config;
}
kg::gradient_config softshrink_gradient() {
  kg::gradient_config config;
  config.name = "Softshrink";
  config.saves_inputs = {"x"};
  config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    const tensor& x = call.input("x");
    const double lambda = call.attr("lambda", 0.5).as_number();
    return {{"x", kg::where(kg::abs(x) > lambda, call.dy(), kg::zeros_like(x))}};
  };
  return config;
}
tensor shrink(const tensor& x, double lambda = 0.5) {
  return kg::run_kernel("Softshrink", {{"x", x}}, {{"lambda", lambda}});
}

// y = scale * x * x with a gradient that can be differentiated again.
kg::kernel_config scaled_square() {
  kg::kernel_config config;
  config.name = "ScaledSquare";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    return {call.input("x") * call.input("x") * call.input("scale")};
  };
  return config;
}
kg::gradient_config scaled_square_gradient() {
  kg::gradient_config config;
  config.name = "ScaledSquare";
  config.saves_inputs = {"x", "scale"};
  config.saves_outputs = true;
  config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    const tensor &x = call.input("x"), &scale = call.input("scale");
    return {{"x", call.dy() * x * scale * 2}, {"scale", call.dy() * call.output() / scale}};
  };
  return config;
}

std::vector<std::string> listing() {
  std::vector<std::string> names;
  for (const char* backend : {"simd", "reference", "mine"})
    for (const kg::kernel_info& info : kg::kernels_for_backend(backend))
      names.push_back(info.backend + "/" + info.name + (info.known ? "" : "*"));
  return names;
}

// ------------------------------------------------------------------------------------------ running

TEST(a_registered_kernel, runs_by_name_and_leaves_again) {
  const std::vector<std::string> before = listing();
  {
    const registered_kernel kernel(softshrink());
    EXPECT_EQ(shrink(tensor({1.0, 0.2, -2.0})).to_doubles(), (doubles{0.5, 0, -1.5}));
    EXPECT_EQ(listing().size(), before.size() + 1);
  }
  EXPECT_EQ(listing(), before);
  EXPECT_NE(refusal([] { return shrink(tensor({1.0})); }).find("Softshrink"), std::string::npos);
}

TEST(a_registered_kernel, is_found_with_what_it_says_of_itself) {
  EXPECT_FALSE(kg::get_kernel("Softshrink"));
  const registered_kernel kernel(softshrink());
  const auto info = kg::get_kernel("Softshrink");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->backend, "simd");
  EXPECT_FALSE(info->known);
  EXPECT_FALSE(info->has_gradient);
  EXPECT_TRUE(info->dtypes == kg::only(dtype::float64));
  EXPECT_FALSE(kg::get_kernel("Softshrink", "reference"));
  const registered_gradient gradient(softshrink_gradient());
  EXPECT_TRUE(kg::get_kernel("Softshrink")->has_gradient);
  EXPECT_TRUE(kg::has_gradient("Softshrink"));
}

TEST(known_kernels, are_listed_by_backend_in_order) {
  const auto list = kg::kernels_for_backend("simd");
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  int known = 0;
  for (const kg::kernel_info& info : list) known += info.known;
  EXPECT_GE(known, 90);
  EXPECT_TRUE(kg::get_kernel("Conv2D")->has_gradient);
  EXPECT_FALSE(kg::get_kernel("ArgMax")->has_gradient);
  EXPECT_TRUE(kg::kernels_for_backend("nonsense").empty());
}

TEST(known_kernels, include_those_that_share_memory_instead_of_running) {
  for (const char* name : {"Reshape", "Identity", "ExpandDims"}) EXPECT_TRUE(kg::get_kernel(name)) << name;
}

TEST(a_registered_kernel, refuses_dtypes_that_it_does_not_take) {
  const registered_kernel kernel(softshrink());
  const std::string text = refusal([] { return shrink(tensor({1.f})); });
  for (const char* part : {"[Softshrink]", "x", "float32", "float64"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(a_registered_kernel, takes_lists_and_gives_several_results) {
  kg::kernel_config config;
  config.name = "SumAndCount";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    return {kg::add_n(call.inputs("xs")), tensor(static_cast<std::int32_t>(call.inputs("xs").size()))};
  };
  const registered_kernel kernel(std::move(config));
  const std::vector<kg::named_operand> operands = {{"xs", std::vector{tensor({1.0}), tensor({2.0}), tensor({4.0})}}};
  const kg::tensor_list results = kg::run_kernel_list("SumAndCount", operands);
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(results[0].item(), 7);
  EXPECT_EQ(results[1].item(), 3);
  EXPECT_NE(refusal([&] {
              return kg::run_kernel("SumAndCount", {{"xs", std::vector{tensor({1.0})}}});
            }).find("run_kernel_list"),
            std::string::npos);
}

TEST(a_registered_kernel, may_return_its_operand) {
  kg::kernel_config config;
  config.name = "Pass";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x")}; };
  const registered_kernel kernel(std::move(config));
  kg::gradient_config rule;
  rule.name = "Pass";
  rule.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> { return {{"x", call.dy() * 3}}; };
  const registered_gradient gradient(std::move(rule));
  const auto f = [](const tensor& x) { return kg::run_kernel("Pass", {{"x", x}}) * x; };
  EXPECT_EQ(kg::grad(f)(tensor(5.0)).item(), 5 + 3 * 5);
}

// ------------------------------------------------------------------------------------------ differentiating

TEST(a_registered_gradient, is_used_by_every_recording) {
  const registered_kernel kernel(softshrink());
  const auto f = [](const tensor& x) { return kg::sum(kg::square(shrink(x, 0.25))); };
  EXPECT_NE(refusal([&] { return kg::grad(f)(tensor({1.0})); }).find("Softshrink"), std::string::npos)
      << "it has no gradient yet";
  const registered_gradient gradient(softshrink_gradient());
  EXPECT_EQ(kg::grad(f)(tensor({1.0, 0.1, -2.25})).to_doubles(), (doubles{1.5, 0, -4}));
}

TEST(a_registered_gradient, has_a_second_order) {
  const registered_kernel kernel(scaled_square());
  const registered_gradient gradient(scaled_square_gradient());
  const auto f = [](const tensor& x, const tensor& s) {
    return kg::run_kernel("ScaledSquare", {{"x", x}, {"scale", s}});
  };
  const auto first = kg::grads(f)(tensor(3.0), tensor(5.0));
  EXPECT_EQ(first[0].item(), 30);
  EXPECT_EQ(first[1].item(), 9);
  const tensor xx = kg::grad(
      [&](const tensor& x) { return kg::grad([&](const tensor& y) { return f(y, tensor(5.0)); })(x); })(tensor(3.0));
  EXPECT_EQ(xx.item(), 10);
  const tensor mixed = kg::grad(
      [&](const tensor& s) { return kg::grad([&](const tensor& x) { return f(x, s); })(tensor(3.0)); })(tensor(5.0));
  EXPECT_EQ(mixed.item(), 6);
}

TEST(a_registered_gradient, trains_a_model) {
  const registered_kernel kernel(softshrink());
  const registered_gradient gradient(softshrink_gradient());
  const kg::variable w(tensor({4.0, -3.0}));
  kg::adam optimizer(0.05);
  for (int i = 0; i < 400; ++i)
    optimizer.minimize([&] { return kg::sum(kg::square(shrink(w) - tensor({1.0, -1.0}))); });
  EXPECT_NEAR(w.value().to_doubles()[0], 1.5, 1e-3);
  EXPECT_NEAR(w.value().to_doubles()[1], -1.5, 1e-3);
}

TEST(a_registered_gradient, with_wrong_names_or_unsaved_values_is_refused_when_it_is_used) {
  const registered_kernel kernel(softshrink());
  const auto f = [](const tensor& x) { return kg::sum(shrink(x)); };
  {
    kg::gradient_config config = softshrink_gradient();
    config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> { return {{"y", call.dy()}}; };
    const registered_gradient gradient(std::move(config));
    EXPECT_NE(refusal([&] { return kg::grad(f)(tensor({1.0})); }), accepted);
  }
  kg::gradient_config config = softshrink_gradient();
  config.saves_inputs.clear();
  const registered_gradient gradient(std::move(config));
  EXPECT_NE(refusal([&] { return kg::grad(f)(tensor({1.0})); }), accepted);
  EXPECT_EQ(kg::grad([](const tensor& x) { return x * x; })(tensor(3.0)).item(), 6) << "the tape is usable";
}

// ------------------------------------------------------------------------------------------ replacing

TEST(registering_what_exists, is_refused_with_the_way_out) {
  const registered_kernel kernel(softshrink());
  const registered_gradient gradient(softshrink_gradient());
  kg::kernel_config relu = softshrink();
  relu.name = "Relu";
  kg::gradient_config relu_gradient = softshrink_gradient();
  relu_gradient.name = "Relu";
  for (const std::string& text : {refusal([] { return kg::register_kernel(softshrink()); }),
                                  refusal([] { return kg::register_gradient(softshrink_gradient()); }),
                                  refusal([&] { return kg::register_kernel(relu); }),
                                  refusal([&] { return kg::register_gradient(relu_gradient); })})
    EXPECT_NE(text.find("replace"), std::string::npos) << text;
  EXPECT_NE(refusal([] { return kg::register_kernel({}); }), accepted);
  EXPECT_NE(refusal([] { return kg::register_gradient({}); }), accepted);
}

TEST(unregistering_what_does_not_exist, is_refused) {
  EXPECT_NE(refusal([] { return kg::unregister_kernel("Nothing"); }), accepted);
  EXPECT_NE(refusal([] { return kg::unregister_kernel("Relu"); }), accepted);
  EXPECT_NE(refusal([] { return kg::unregister_gradient("Relu"); }), accepted);
}

TEST(a_replaced_known_kernel, runs_for_calls_by_name_until_it_leaves) {
  kg::kernel_config config;
  config.name = "Relu";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x") * 0 + 42}; };
  {
    const registered_kernel kernel(std::move(config), existing::replace);
    EXPECT_EQ(kg::run_kernel("Relu", {{"x", tensor({-1.f})}}).item(), 42);
    EXPECT_EQ(kg::relu(tensor({-1.f})).item(), 0) << "typed calls are resolved at compile time";
    EXPECT_FALSE(kg::get_kernel("Relu")->known);
  }
  EXPECT_EQ(kg::run_kernel("Relu", {{"x", tensor({-1.f})}}).item(), 0);
}

TEST(a_replaced_known_kernel, keeps_the_gradient_of_its_op) {
  kg::kernel_config config;
  config.name = "Square";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x") * call.input("x")}; };
  const registered_kernel kernel(std::move(config), existing::replace);
  EXPECT_TRUE(kg::has_gradient("Square"));
  EXPECT_EQ(kg::grad([](const tensor& x) { return kg::run_kernel("Square", {{"x", x}}); })(tensor(3.0)).item(), 6);
}

TEST(a_replaced_known_gradient, holds_for_typed_calls_of_the_next_recording_until_it_leaves) {
  kg::gradient_config config;
  config.name = "Exp";
  config.saves_outputs = true;
  config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    return {{"x", call.dy() * call.output() * 100}};
  };
  const auto f = [](const tensor& x) { return kg::exp(x); };
  const tensor zero(0.0);
  {
    const registered_gradient gradient(std::move(config), existing::replace);
    EXPECT_EQ(kg::grad(f)(zero).item(), 100);
    EXPECT_EQ(kg::grad([](const tensor& x) { return kg::run_kernel("Exp", {{"x", x}}); })(zero).item(), 100);
    const tensor second = kg::grad([&](const tensor& x) { return kg::grad(f)(x); })(zero);
    EXPECT_EQ(second.item(), 10000);
  }
  EXPECT_EQ(kg::grad(f)(zero).item(), 1);
}

TEST(a_replaced_known_gradient, of_an_op_with_lists_and_attributes_sees_them) {
  kg::gradient_config config;
  config.name = "Concat";
  config.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    std::vector<tensor> grads;
    const double scale = 10 + static_cast<double>(call.attr("axis").as_integer());
    for (std::int64_t i = 0; i < 2; ++i) grads.push_back(kg::slice(call.dy(), {i}, {1}) * scale);
    return {{"tensors", grads}};
  };
  const registered_gradient gradient(std::move(config), existing::replace);
  const auto g = kg::grads([](const tensor& a, const tensor& b) {
    return kg::sum(kg::concat(std::vector{a, b}) * tensor({1.0, 2.0}));
  })(tensor({5.0}), tensor({6.0}));
  EXPECT_EQ(g[0].item(), 10);
  EXPECT_EQ(g[1].item(), 20);
}

// ------------------------------------------------------------------------------------------ set-up and failures

TEST(set_up_and_dispose, run_once_each) {
  int set_up = 0, disposed = 0;
  kg::kernel_config config = softshrink();
  config.setup = [&] { ++set_up; };
  config.dispose = [&] { ++disposed; };
  {
    const registered_kernel kernel(config);
    shrink(tensor({1.0}));
    shrink(tensor({1.0}));
    EXPECT_EQ(set_up, 1);
    EXPECT_EQ(disposed, 0);
    kg::register_kernel(config, existing::replace);
    EXPECT_EQ(set_up, 2);
    EXPECT_EQ(disposed, 1) << "the one that was replaced";
  }
  EXPECT_EQ(disposed, 2);
}

TEST(a_set_up, that_throws_registers_nothing) {
  const std::vector<std::string> before = listing();
  kg::kernel_config config = softshrink();
  config.setup = [] { throw std::runtime_error("no device"); };
  EXPECT_THROW(kg::register_kernel(config), std::runtime_error);
  EXPECT_EQ(listing(), before);
}

TEST(a_kernel, that_throws_leaves_everything_as_it_was) {
  kg::kernel_config config;
  config.name = "Thrower";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    const tensor half_done = call.input("x") * 2;
    throw std::runtime_error("in the kernel");
  };
  const registered_kernel kernel(std::move(config));
  const std::vector<std::string> names = listing();
  const kg::memory_info before = kg::memory();
  EXPECT_THROW(kg::run_kernel("Thrower", {{"x", tensor({1.0, 2.0})}}), std::runtime_error);
  const tensor slope = kg::grad([](const tensor& x) {
    EXPECT_THROW(kg::run_kernel("Thrower", {{"x", x}}), std::runtime_error);
    return x * x;
  })(tensor(3.0));
  EXPECT_EQ(slope.item(), 6);
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1) << "that is, the slope's";
  EXPECT_EQ(listing(), names);
}

TEST(a_gradient, that_throws_leaves_the_tape_usable) {
  const registered_kernel kernel(softshrink());
  kg::gradient_config config = softshrink_gradient();
  config.run = [](const kg::gradient_call&) -> std::vector<kg::named_operand> {
    throw std::runtime_error("in the rule");
  };
  const registered_gradient gradient(std::move(config));
  const kg::memory_info before = kg::memory();
  EXPECT_THROW(kg::grad([](const tensor& x) { return shrink(x); })(tensor({1.0})), std::runtime_error);
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
  EXPECT_EQ(kg::grad([](const tensor& x) { return x * x; })(tensor(3.0)).item(), 6);
}

TEST(a_kernel, that_returns_an_empty_handle_is_refused) {
  kg::kernel_config config;
  config.name = "Empty";
  config.run = [](const kg::kernel_call&) -> kg::tensor_list { return {tensor()}; };
  const registered_kernel kernel(std::move(config));
  EXPECT_NE(refusal([] { return kg::run_kernel("Empty", {{"x", tensor({1.0})}}); }), accepted);
}

TEST(a_kernel_call, refuses_what_was_not_given) {
  kg::kernel_config config;
  config.name = "Asker";
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    EXPECT_TRUE(call.has("x"));
    EXPECT_FALSE(call.has("y"));
    EXPECT_FALSE(call.has_attr("k"));
    EXPECT_EQ(call.attr("k", 3).as_integer(), 3);
    EXPECT_NE(refusal([&] { return call.input("y"); }), accepted);
    return {call.attr("k").given() ? call.input("x") : call.input("x")};
  };
  const registered_kernel kernel(std::move(config));
  EXPECT_NE(refusal([] { return kg::run_kernel("Asker", {{"x", tensor({1.0})}}); }).find("k"), std::string::npos);
}

// ------------------------------------------------------------------------------------------ names and backends

TEST(a_name, that_is_unknown_is_refused_with_similar_ones) {
  const std::string near = refusal([] { return kg::run_kernel("Relo", {{"x", tensor({1.f})}}); });
  for (const char* part : {"Relo", "Relu", "register_kernel"}) EXPECT_NE(near.find(part), std::string::npos) << near;
  EXPECT_NE(refusal([] { return kg::run_kernel("", {{"x", tensor({1.f})}}); }), accepted);
}

TEST(a_name, that_is_registered_and_misspelt_is_refused_with_the_registered_one) {
  const registered_kernel kernel(softshrink());
  EXPECT_NE(refusal([] { return kg::run_kernel("SoftShrink", {{"x", tensor({1.0})}}); }).find("Softshrink"),
            std::string::npos);
}

TEST(a_kernel_of_another_backend, is_named_when_it_is_missing_here) {
  kg::kernel_config config = softshrink();
  config.backend = "reference";
  const registered_kernel kernel(std::move(config));
  EXPECT_NE(refusal([] { return shrink(tensor({1.0})); }).find("reference"), std::string::npos);
  kg::set_backend(kg::backend::reference);
  EXPECT_EQ(shrink(tensor({1.0})).item(), 0.5);
  kg::set_backend(kg::backend::simd);
}

TEST(kernels_of_names_that_join_alike, are_kept_apart) {
  kg::kernel_config one = softshrink(), two = softshrink();
  one.name = "A_b", one.backend = "c";
  two.name = "A", two.backend = "b_c";
  const registered_kernel first(std::move(one)), second(std::move(two));
  EXPECT_TRUE(kg::get_kernel("A_b", "c"));
  EXPECT_TRUE(kg::get_kernel("A", "b_c"));
  EXPECT_FALSE(kg::get_kernel("A_b", "b_c"));
}

TEST(an_operand_without_a_name, serves_ops_with_one_operand) {
  EXPECT_EQ(kg::run_kernel("Neg", {kg::named_operand(tensor({2.f}))}).item(), -2);
  EXPECT_NE(refusal([] {
              return kg::run_kernel("Add", {kg::named_operand(tensor({2.f})), kg::named_operand(tensor({2.f}))});
            }),
            accepted);
}

}  // namespace
