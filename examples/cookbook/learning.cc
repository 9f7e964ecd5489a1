// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook: gradients, optimisation, training.
#include <cmath>
#include <iostream>
#include <vector>

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------------ gradients

void value_and_gradient_of_a_function_of_several_tensors() {
  const auto area = [](const kg::tensor& width, const kg::tensor& height) { return kg::sum(width * height); };
  const auto [value, slopes] = kg::value_and_grads(area)(kg::tensor(3.0), kg::tensor(4.0));
  std::cout << value.item() << ", " << slopes[0].item() << ", " << slopes[1].item() << "\n";
}

void a_derivative_of_each_result_the_jacobian() {
  const auto polar = [](const kg::tensor& p) { return kg::stack({p(0) * kg::cos(p(1)), p(0) * kg::sin(p(1))}); };
  std::cout << kg::jacobian(polar)(kg::tensor({2.0, 0.0})) << "\n";
}

void a_gradient_for_each_example() {
  const kg::tensor x{{1.0, 2.0}, {3.0, 4.0}}, y({1.0, 0.0});
  const auto losses = [&](const kg::tensor& w) { return kg::square(kg::matmul(x, w) - y); };
  std::cout << kg::jacobian(losses)(kg::tensor({0.5, 0.0})) << "\n";
}

void through_the_solution_of_an_equation() {
  const auto root = kg::implicit([](const kg::tensor& y, const kg::tensor& x) { return y * y - x; },
                                 [](const kg::tensor& x) {
                                   kg::tensor y = kg::ones_like(x);
                                   for (int i = 0; i < 20; ++i) y = (y + x / y) / 2;
                                   return y;
                                 });
  const auto of = [&](const kg::tensor& x) { return root(x); };
  std::cout << root(kg::tensor(4.0)).item() << ", " << kg::grad(of)(kg::tensor(4.0)).item() << "\n";
}

// ------------------------------------------------------------------------------------------------ optimisation

void minimising_by_gradient_descent() {
  const auto bowl = [](const kg::tensor& x) { return kg::sum(kg::square(x - kg::tensor({1.0, -2.0}))); };
  kg::tensor x = kg::zeros({2}, kg::dtype::float64);
  for (int i = 0; i < 50; ++i) x -= kg::grad(bowl)(x) * 0.25;
  std::cout << kg::round(x * 1000) / 1000 << "\n";
}

void newton_s_method() {
  const auto f = [](const kg::tensor& x) { return kg::sum(kg::exp(x) - x * kg::tensor({2.0, 4.0})); };
  kg::tensor x = kg::zeros({2}, kg::dtype::float64);
  for (int i = 0; i < 8; ++i) {
    const kg::tensor h = kg::hessian(f)(x), g = kg::grad(f)(x);
    const kg::tensor inverse = kg::stack({kg::stack({h(1, 1), -h(0, 1)}), kg::stack({-h(1, 0), h(0, 0)})}) /
                               (h(0, 0) * h(1, 1) - h(0, 1) * h(1, 0));
    x -= kg::matmul(inverse, g);
  }
  std::cout << kg::exp(x) << "\n";
}

void a_step_that_stays_in_bounds() {
  const auto f = [](const kg::tensor& x) { return kg::sum(kg::square(x - 3)); };
  kg::tensor x = kg::zeros({2});
  for (int i = 0; i < 20; ++i) x = kg::clip(x - kg::grad(f)(x) * 0.25, 0, 1);
  std::cout << x << "\n";
}

// ------------------------------------------------------------------------------------------------ training

void shuffled_batches() {
  kg::generator rng(1);
  const kg::tensor x = kg::arange(5), y = x * 10;
  int together = 0, examples = 0;
  for (const auto& [some_x, some_y] : kg::batches({.size = 2, .shuffle = &rng}, x, y)) {
    together += static_cast<int>(kg::all(some_x * 10 == some_y).item());
    examples += static_cast<int>(some_x.size());
  }
  std::cout << together << " batches of " << examples << " examples\n";
}

void a_rate_that_warms_up_and_falls() {
  const kg::schedule rate = kg::warm_up(10, kg::cosine_schedule(0.1, 90));
  std::cout << rate(0) << " " << rate(5) << " " << rate(10) << " " << rate(55) << " " << rate(100) << "\n";
}

void clipped_gradients_and_steps_that_are_left_out() {
  const kg::variable w(kg::tensor({3.f, 4.f}), "w");
  kg::sgd optimizer(1);
  auto [loss, grads] = kg::variable_grads([&] { return kg::sum(kg::square(w.value())) / 2; });
  const double norm = kg::clip_by_global_norm(grads, 1);
  if (std::isfinite(norm)) optimizer.apply(grads);
  std::cout << norm << "\n" << w.value() << "\n";
}

void going_on_later_with_the_same_bits() {
  const std::vector<kg::variable> all{kg::variable(kg::tensor({1.f, 2.f}), "w")};
  const auto loss = [&] { return kg::sum(kg::square(all[0].value())); };
  kg::adam first(0.1), resumed(0.1);
  first.minimize(loss);
  const kg::named_tensors state = first.state();
  const kg::tensor value = all[0].value();
  first.minimize(loss);
  const kg::tensor straight = all[0].value();
  all[0].assign(value);
  resumed.set_state(state, all);
  resumed.minimize(loss);
  std::cout << kg::all(all[0].value() == straight).item() << "\n";
}

}  // namespace

int main() {
  value_and_gradient_of_a_function_of_several_tensors();
  a_derivative_of_each_result_the_jacobian();
  a_gradient_for_each_example();
  through_the_solution_of_an_equation();
  minimising_by_gradient_descent();
  newton_s_method();
  a_step_that_stays_in_bounds();
  shuffled_batches();
  a_rate_that_warms_up_and_falls();
  clipped_gradients_and_steps_that_are_left_out();
  going_on_later_with_the_same_bits();
}
