// SPDX-License-Identifier: Apache-2.0
// Another gradient for a built-in op changes what a model learns: a linear regression whose weights are rounded to
// multiples of 1/8 in the forward pass. Round is flat, so its own gradient is 0 and nothing is learnt; the
// straight-through estimator (Bengio, Leonard and Courville 2013) hands dy on.
//   straight_through [--csv FILE]
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>
import kerngrad;

using kg::tensor;
using curve = std::vector<double>;

constexpr int steps = 40;

tensor quantised(const tensor& w) { return kg::round(w * 8) / 8; }

// The loss before every step.
curve train() {
  const tensor x = kg::random_normal({128, 8}, 0, 1, 3);
  const tensor wanted = kg::matmul(x, quantised(kg::random_normal({8, 1}, 0, 1, 5)));
  const kg::variable w(kg::zeros({8, 1}));
  kg::sgd optimizer(0.1);
  curve losses;
  for (int step = 0; step < steps; ++step)
    losses.push_back(
        optimizer.minimize([&] { return kg::mean(kg::square(kg::matmul(x, quantised(w)) - wanted)); }).item());
  return losses;
}

// At compile time: a rule for Round, for what this thread records while the scope lives.
curve train_with_rule_scope() {
  const kg::rule_scope straight(kg::rule<"Round">(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); })));
  return train();
}

// At run time: a gradient of the registry in place of Round's own, for all threads.
curve train_with_registered_gradient() {
  kg::register_gradient(
      {.name = "Round",
       .run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> { return {{"x", call.dy()}}; }},
      kg::existing::replace);
  curve losses = train();
  kg::unregister_gradient("Round");
  return losses;
}

// A line per fourth step; a bar is 50 columns at the first loss.
void plot(const char* title, const curve& losses) {
  std::cout << title << "\n";
  for (std::size_t step = 0; step < losses.size(); step += 4) {
    const auto columns = static_cast<std::size_t>(std::lround(50 * losses[step] / losses[0]));
    std::cout << "  " << std::setw(2) << step << " " << std::string(columns, '#') << " " << losses[step] << "\n";
  }
}

bool write_csv(const std::string& name, const curve& own, const curve& straight) {
  std::ofstream file(name);
  file << "step,own,straight_through\n" << std::setprecision(9);
  for (std::size_t step = 0; step < own.size(); ++step)
    file << step << "," << own[step] << "," << straight[step] << "\n";
  return static_cast<bool>(file.flush());
}

int main(int count, char** arguments) {
  if (count != 1 && (count != 3 || std::string_view(arguments[1]) != "--csv")) {
    std::cerr << "usage: straight_through [--csv FILE]\n";
    return 2;
  }
  const curve own = train(), straight = train_with_rule_scope(), registered = train_with_registered_gradient();
  plot("Round's own gradient", own);
  plot("the straight-through estimator", straight);
  if (count == 3 && !write_csv(arguments[2], own, straight)) {
    std::cerr << "cannot write " << arguments[2] << "\n";
    return 2;
  }

  const bool flat = own.back() == own.front(), falls = straight.back() < 0.01 * straight.front();
  const bool same = registered == straight, over = train() == own;
  std::cout << (flat ? "  " : "! ") << "with its own gradient the loss stays\n"
            << (falls ? "  " : "! ") << "with the estimator it falls below a hundredth\n"
            << (same ? "  " : "! ") << "by the scope and by the registry it is the same curve\n"
            << (over ? "  " : "! ") << "afterwards Round has its own gradient again\n";
  return flat && falls && same && over ? 0 : 1;
}
