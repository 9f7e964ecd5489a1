// SPDX-License-Identifier: Apache-2.0
// The ops of my.ops in use: typed, by name, and in a training loop.
#include <cmath>
#include <iostream>
#include <vector>
import my.ops;

using kg::tensor;

bool all_right = true;

void check(const char* what, bool right) {
  std::cout << (right ? "  " : "! ") << what << "\n";
  all_right = all_right && right;
}

bool near(const tensor& got, const std::vector<double>& wanted, double tolerance) {
  const std::vector<double> values = got.to_doubles();
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(std::fabs(values[i] - wanted[i]) <= tolerance)) return false;
  return values.size() == wanted.size();
}

// Values and slopes against the definition, by the C library.
void compare() {
  std::vector<double> x, y, slope;
  for (int i = 0; i < 200; ++i) {
    x.push_back(0.05 * i - 5);
    y.push_back(x.back() + std::pow(std::sin(3 * x.back()), 2) / 3);
    slope.push_back(1 + 2 * std::sin(3 * x.back()) * std::cos(3 * x.back()));
  }
  const auto f = [](const tensor& t) { return my::snake(t, 3); };
  check("the values of Snake", near(f(tensor(x)), y, 1e-12));
  check("its gradient", near(kg::grad(f)(tensor(x)), slope, 1e-12));
  const tensor a({1.0, -4.0, 2.0}), b({-3.0});
  check("the values of MaxMagnitude, broadcast", near(kg::call<my::MaxMagnitude>(a, b), {3, 4, 3}, 0));
  const auto larger =
      kg::grads([](const tensor& p, const tensor& q) { return kg::call<my::MaxMagnitude>(p, q); })(a, b);
  check("its gradients", near(larger[0], {0, -1, 0}, 0) && near(larger[1], {-2}, 0));
}

// The same row serves calls by name: their operands, attributes and texts of errors come from it.
void call_by_name() {
  kg::register_op<my::Snake>();
  const tensor x({0.5f, -2.f});
  const tensor by_name = kg::run_kernel("Snake", {{"x", x}}, {{"frequency", 3}});
  check("by name it is the same op", near(by_name, my::snake(x, 3).to_doubles(), 0));
  try {
    kg::run_kernel("Snake", {{"x", x}}, {{"frequency", 0}});
    check("a frequency of 0 is refused", false);
  } catch (const kg::error& refused) {
    std::cout << "  " << refused.what() << "\n";
  }
}

// Two layers with Snake between them learn a wave.
double train() {
  const tensor x = kg::reshape(kg::linspace(-3, 3, 64), {64, 1});
  const tensor wanted = kg::sin(x * 2);
  const kg::variable w1(kg::random_normal({1, 16}, 0, 1, 7)), b1(kg::zeros({16}));
  const kg::variable w2(kg::random_normal({16, 1}, 0, 0.1, 8)), b2(kg::zeros({1}));
  kg::adam optimizer(0.02);
  double loss = 0;
  for (int step = 0; step <= 300; ++step) {
    loss = optimizer
               .minimize([&] {
                 const tensor hidden = my::snake(kg::matmul(x, w1) + b1);
                 return kg::mean(kg::square(kg::matmul(hidden, w2) + b2 - wanted));
               })
               .item();
    if (step % 100 == 0) std::cout << "  step " << step << ": loss " << loss << "\n";
  }
  return loss;
}

int main() {
  compare();
  call_by_name();
  check("it trains", train() < 0.05);
  return all_right ? 0 : 1;
}
