// SPDX-License-Identifier: Apache-2.0
// Gradients, whole matrices of derivatives, rules of one's own, learning rates, trees of parameters.
#include <array>
#include <atomic>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "example.h"

import kerngrad;

namespace {

void the_norm_of_all_together() {
  const std::vector<kg::tensor> slopes{kg::tensor({3.f, 0.f}), kg::tensor(4.f)};
  std::cout << kg::global_norm(slopes) << "\n";
}
const example for_the_norm_of_all_together{"kg::global_norm", the_norm_of_all_together};

void each_element_is_clipped() {
  std::vector<kg::tensor> slopes{kg::tensor({-5.f, 0.5f}), kg::tensor(2.f)};
  kg::clip_by_value(slopes, -1, 1);
  std::cout << slopes[0] << "\n" << slopes[1] << "\n";
}
const example for_each_element_is_clipped{"kg::clip_by_value", each_element_is_clipped};

void a_value_and_its_gradient() {
  const auto f = [](const kg::tensor& x) { return kg::sum(x * x); };
  const auto [value, grad] = kg::value_and_grad(f)(kg::tensor({1.f, 3.f}));
  std::cout << value.item() << "\n" << grad << "\n";
}
const example for_a_value_and_its_gradient{"kg::value_and_grad", a_value_and_its_gradient};

void a_gradient_for_each_operand() {
  const auto f = [](const kg::tensor& a, const kg::tensor& b) { return kg::sum(a * b); };
  const auto [da, db] = kg::grads(f)(kg::tensor({1.f, 2.f}), kg::tensor(5.f));
  std::cout << da << "\n" << db << "\n";
}
const example for_a_gradient_for_each_operand{"kg::grads", a_gradient_for_each_operand};

void gradients_of_a_list_of_operands() {
  const auto product = [](std::span<const kg::tensor> xs) { return xs[0] * xs[1] * xs[2]; };
  const std::vector<kg::tensor> xs{kg::tensor(2.f), kg::tensor(3.f), kg::tensor(4.f)};
  const kg::value_and_gradient_list found = kg::value_and_grads_of(product, xs);
  std::cout << found.value.item() << ":";
  for (const kg::tensor& g : found.grads) std::cout << " " << g.item();
  std::cout << "\n";
}
const example for_gradients_of_a_list_of_operands{"kg::value_and_grads_of", gradients_of_a_list_of_operands};

void a_factor_without_history() {
  const auto f = [](const kg::tensor& x) { return kg::sum(x * kg::detach(x)); };
  std::cout << kg::grad(f)(kg::tensor({1.f, 2.f})) << "\n";  // of x * x it would be [2, 4]
}
const example for_a_factor_without_history{"kg::detach", a_factor_without_history};

void a_straight_through_rounding() {
  const auto rounded = kg::custom_grad([](const kg::tensor& x) {
    return kg::with_gradient(kg::round(x), [](const kg::tensor& dy) { return std::vector{dy}; });
  });
  const auto [value, grad] = kg::value_and_grad(rounded)(kg::tensor({0.4f, 1.6f}));
  std::cout << value << "\n" << grad << "\n";
}
const example for_a_straight_through_rounding{"kg::custom_grad kg::with_gradient", a_straight_through_rounding};

void two_values_and_their_rule() {
  const auto both = kg::custom_grad([](const kg::tensor& a, const kg::tensor& b) {
    return kg::with_gradients(std::array{a + b, a - b},
                              [](std::span<const kg::tensor> dy) { return std::vector{dy[0] + dy[1], dy[0] - dy[1]}; });
  });
  const auto f = [&](const kg::tensor& a, const kg::tensor& b) { return both(a, b)[0] * both(a, b)[1]; };
  const auto [da, db] = kg::grads(f)(kg::tensor(3.f), kg::tensor(5.f));  // of a * a - b * b
  std::cout << da.item() << " " << db.item() << "\n";
}
const example for_two_values_and_their_rule{"kg::with_gradients", two_values_and_their_rule};

// ------------------------------------------------------------------------------------------ matrices of derivatives

void jacobians_of_a_product() {
  const auto f = [](const kg::tensor& a, const kg::tensor& b) { return a * b; };
  const auto [by_a, by_b] = kg::jacobians(f)(kg::tensor({1.f, 2.f}), kg::tensor(3.f));
  std::cout << by_a << "\n" << by_b << "\n";
}
const example for_jacobians_of_a_product{"kg::jacobians", jacobians_of_a_product};

void jacobians_of_a_list_of_operands() {
  const auto f = [](std::span<const kg::tensor> xs) { return xs[0] * kg::sum(xs[1]); };
  const std::vector<kg::tensor> xs{kg::tensor({1.f, 2.f}), kg::tensor({3.f, 4.f})};
  for (const kg::tensor& by : kg::jacobian_of(f, xs)) std::cout << by << "\n";
}
const example for_jacobians_of_a_list_of_operands{"kg::jacobian_of", jacobians_of_a_list_of_operands};

void second_derivatives_by_every_pair() {
  const auto f = [](const kg::tensor& a, const kg::tensor& b) { return a * b * b; };
  const auto second = kg::hessians(f)(kg::tensor(2.f), kg::tensor(3.f));
  std::cout << second[0][0].item() << " " << second[0][1].item() << "\n"
            << second[1][0].item() << " " << second[1][1].item() << "\n";
}
const example for_second_derivatives_by_every_pair{"kg::hessians", second_derivatives_by_every_pair};

void a_gradient_weighted_more_than_once() {
  const auto f = [](std::span<const kg::tensor> xs) { return xs[0] * xs[1]; };
  const std::vector<kg::tensor> xs{kg::tensor({1.f, 2.f}), kg::tensor({3.f, 4.f})};
  const auto [value, back] = kg::vjp_of(f, xs);  // f runs once
  std::cout << back(kg::tensor({1.f, 0.f}))[0] << "\n" << back(kg::tensor({0.f, 1.f}))[0] << "\n";
}
const example for_a_gradient_weighted_more_than_once{"kg::vjp_of", a_gradient_weighted_more_than_once};

void a_derivative_in_a_direction() {
  const auto f = [](std::span<const kg::tensor> xs) { return xs[0] * xs[1]; };
  const std::vector<kg::tensor> at{kg::tensor(2.f), kg::tensor(3.f)}, along{kg::tensor(1.f), kg::tensor(10.f)};
  const auto [value, tangent] = kg::jvp_of(f, at, along);
  std::cout << value.item() << " " << tangent.item() << "\n";  // 1 * 3 + 2 * 10
}
const example for_a_derivative_in_a_direction{"kg::jvp_of", a_derivative_in_a_direction};

void a_checkpoint_runs_again_for_the_gradient() {
  int runs = 0;
  const auto f = kg::checkpoint([&](const kg::tensor& x) {
    ++runs;
    return kg::sum(x * x * x);
  });
  std::cout << kg::grad(f)(kg::tensor({1.f, 2.f})) << "\n" << runs << " runs\n";
}
const example for_a_checkpoint_runs_again_for_the_gradient{"kg::checkpoint", a_checkpoint_runs_again_for_the_gradient};

// ------------------------------------------------------------------------------------------ rules

void another_rule_for_a_known_op() {
  const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));
  const auto f = [](const kg::tensor& x) { return kg::sum(kg::round(x)); };
  std::cout << kg::grad(f)(kg::tensor({0.4f, 1.6f})) << "\n";  // without the rule it is [0, 0]
}
const example for_another_rule_for_a_known_op{"kg::rule", another_rule_for_a_known_op};

void a_rule_that_reads_its_operand() {
  const kg::rule_scope leaky(kg::rule<"Relu">(
      kg::wrt(kg::keep::in0, [](const auto& c) { return kg::where(c.in(0) > 0, c.dy(), c.dy() * 0.25); })));
  const auto f = [](const kg::tensor& x) { return kg::sum(kg::relu(x)); };
  std::cout << kg::grad(f)(kg::tensor({-1.f, 2.f})) << "\n";
}
const example for_a_rule_that_reads_its_operand{"kg::wrt", a_rule_that_reads_its_operand};

void an_operand_without_gradient() {
  const kg::rule_scope scaled(kg::rule<"Multiply">(
      kg::wrt(kg::keep::in1, [](const auto& c) { return c.reduced(0, c.dy() * c.in(1)); }), kg::constant_operand()));
  const auto f = [](const kg::tensor& a, const kg::tensor& b) { return a * b; };
  const auto [da, db] = kg::grads(f)(kg::tensor(2.f), kg::tensor(3.f));
  std::cout << da.item() << " " << db.item() << "\n";
}
const example for_an_operand_without_gradient{"kg::constant_operand", an_operand_without_gradient};

void rules_of_several_ops() {
  constexpr auto rules = kg::family_rules(
      kg::rule_list{kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })),
                    kg::rule<"Floor">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); }))});
  const kg::rule_scope scope(rules.at<1>());
  const auto f = [](const kg::tensor& x) { return kg::floor(x) + kg::round(x); };
  std::cout << kg::grad(f)(kg::tensor(1.5f)).item() << "\n";  // that of Floor alone
}
const example for_rules_of_several_ops{"kg::family_rules", rules_of_several_ops};

void the_gradient_member_of_an_own_op() {
  constexpr auto gradient = kg::gradient_of(  // static constexpr in the op's type, a part for each operand
      kg::wrt(kg::keep::in1, [](const auto& c) { return c.dy() * c.in(1); }), kg::constant_operand());
  std::cout << gradient.operands << " operands, keeps the second: " << gradient.of.at<0>().keeps.operand(1) << "\n";
}
const example for_the_gradient_member_of_an_own_op{"kg::gradient_of", the_gradient_member_of_an_own_op};

// ------------------------------------------------------------------------------------------ learning rates

void a_stair() {
  const kg::schedule rate = kg::step_schedule(1, 10, 0.5);
  std::cout << rate(0) << " " << rate(9) << " " << rate(10) << " " << rate(20) << "\n";
}
const example for_a_stair{"kg::step_schedule", a_stair};

void a_curve_down_to_the_least() {
  const kg::schedule rate = kg::exponential_schedule(1, 10, 0.25, 0.1);
  std::cout << rate(0) << " " << rate(5) << " " << rate(10) << " " << rate(20) << "\n";
}
const example for_a_curve_down_to_the_least{"kg::exponential_schedule", a_curve_down_to_the_least};

void a_straight_line_and_what_follows_it() {
  const kg::schedule rate = kg::linear_schedule(1, 0.5, 4);
  std::cout << rate(0) << " " << rate(2) << " " << rate(4) << " " << rate(100) << "\n";
}
const example for_a_straight_line_and_what_follows_it{"kg::linear_schedule", a_straight_line_and_what_follows_it};

void schedules_one_after_the_other() {
  const kg::schedule rate = kg::chain_schedules({{0.5, 2}, {kg::linear_schedule(1, 0, 4), 4}});
  for (const std::int64_t step : {0, 1, 2, 3, 4}) std::cout << rate(step) << "\n";
}
const example for_schedules_one_after_the_other{"kg::chain_schedules", schedules_one_after_the_other};

// ------------------------------------------------------------------------------------------ trees

void tensors_of_a_map_by_their_keys() {
  const std::map<std::string, std::vector<kg::tensor>> parameters{{"output", {kg::tensor(3)}},
                                                                  {"hidden", {kg::tensor(1), kg::tensor(2)}}};
  for (const kg::tensor& leaf : kg::tree_leaves(parameters)) std::cout << leaf.item() << "\n";
}
const example for_tensors_of_a_map_by_their_keys{"kg::tree_leaves", tensors_of_a_map_by_their_keys};

void a_step_of_all_parameters() {
  const std::map<std::string, kg::tensor> parameters{{"bias", kg::tensor(1.f)}, {"weight", kg::tensor({2.f, 3.f})}};
  const std::map<std::string, kg::tensor> slopes{{"bias", kg::tensor(4.f)}, {"weight", kg::tensor({0.f, 2.f})}};
  const auto step = [](const kg::tensor& p, const kg::tensor& g) { return p - g * 0.5; };
  for (const auto& [name, value] : kg::tree_map(step, parameters, slopes)) std::cout << name << " " << value << "\n";
}
const example for_a_step_of_all_parameters{"kg::tree_map", a_step_of_all_parameters};

// ------------------------------------------------------------------------------------------ what is given back

void a_value_and_a_gradient_by_their_names() {
  const auto f = [](const kg::tensor& x) { return kg::sum(x * x); };
  const kg::value_and_gradient found = kg::value_and_grad(f)(kg::tensor({1.f, 3.f}));
  std::cout << found.value.item() << "\n" << found.grad << "\n";
}
const example for_a_value_and_a_gradient_by_their_names{"kg::value_and_gradient",
                                                        a_value_and_a_gradient_by_their_names};

void the_gradient_of_a_tree_is_one() {
  using parameters = std::map<std::string, kg::tensor>;
  const auto f = [](const parameters& p) { return p.at("weight") * 3 + p.at("bias"); };
  const kg::value_and_tree<parameters> found =
      kg::value_and_grad(f)(parameters{{"bias", kg::tensor(1.f)}, {"weight", kg::tensor(2.f)}});
  std::cout << found.value.item() << ": " << found.grad.at("bias").item() << " " << found.grad.at("weight").item()
            << "\n";
}
const example for_the_gradient_of_a_tree_is_one{"kg::value_and_tree", the_gradient_of_a_tree_is_one};

void what_turns_gradients_back() {
  const auto f = [](const kg::tensor& x) { return x * x; };
  const kg::value_and_pullback<1> found = kg::vjp(f)(kg::tensor({1.f, 3.f}));
  const kg::pullback<1> back = found.back;  // keeps what it needs, and f does not run again
  std::cout << back(kg::tensor({1.f, 0.f}))[0] << "\n" << back(kg::tensor({0.f, 1.f}))[0] << "\n";
}
const example for_what_turns_gradients_back{"kg::pullback kg::value_and_pullback", what_turns_gradients_back};

void a_part_that_is_not_recorded() {
  const auto f = [](const kg::tensor& x) {
    const auto largest = [&] {
      const kg::no_grad here;
      return kg::max(x);
    };
    return kg::sum(x / largest());  // as if it were a number
  };
  std::cout << kg::grad(f)(kg::tensor({1.f, 4.f})) << "\n";
}
const example for_a_part_that_is_not_recorded{"kg::no_grad", a_part_that_is_not_recorded};

void a_long_call_ends_early() {
  std::atomic<bool> cancel(false);  // another thread may set it
  const kg::stop_scope stop(cancel);
  const auto f = [](const kg::tensor& x) { return kg::sum(x * x); };
  std::cout << kg::grad(f)(kg::tensor({1.f, 2.f})) << "\n";
  cancel = true;
  try {
    kg::grad(f)(kg::tensor({1.f, 2.f}));
  } catch (const kg::stopped& e) {
    std::cout << e.what() << "\n";
  }
}
const example for_a_long_call_ends_early{"kg::stop_scope kg::stopped", a_long_call_ends_early};

void loops_that_can_be_stopped() {
  int turns = 0;
  const kg::stop_scope stop([&] { return turns == 3; });
  while (!kg::stop_requested()) ++turns;  // returns what it has
  std::cout << turns << " turns\n";
  try {
    kg::check_stop("my_solver");  // throws
  } catch (const kg::stopped& e) {
    std::cout << e.what() << "\n";
  }
}
const example for_loops_that_can_be_stopped{"kg::stop_requested kg::check_stop", loops_that_can_be_stopped};

void optimizers_beside_each_other() {
  const auto left = [](kg::optimizer&& by) {
    const kg::variable w(kg::tensor(1.f), "w");
    for (int i = 0; i < 20; ++i) by.minimize([&] { return kg::square(w.value()); });
    return w.value().item();
  };
  std::cout << std::fixed << std::setprecision(3) << left(kg::momentum(0.02, 0.9)) << " " << left(kg::adam_w(0.1))
            << " " << left(kg::adagrad(0.1)) << " " << left(kg::adadelta(1)) << " " << left(kg::adamax(0.1)) << " "
            << left(kg::rms_prop(0.1)) << "\n";
}
const example for_optimizers_beside_each_other{
    "kg::momentum kg::adam_w kg::adagrad kg::adadelta kg::adamax kg::rms_prop", optimizers_beside_each_other};

}  // namespace
