// SPDX-License-Identifier: Apache-2.0
// The four ways to a user-defined op at run time, in the order in which one should try them: a function of ops that
// exist, a kernel with its gradient, another gradient for a built-in op, a function with a gradient of its own.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <string>
#include <vector>
import kerngrad;

using kg::tensor;

// ---------------------------------------------------------------------------- 1. a function of ops that exist

tensor root_mean_square(const tensor& x) { return kg::sqrt(kg::mean(kg::square(x))); }

// ---------------------------------------------------------------------------- 2. a kernel and its gradient

// The loss of quantile regression (Koenker and Bassett 1978): max(q * e, (q - 1) * e) of the error e.
kg::tensor_list pinball(const kg::kernel_call& call) {
  const tensor &target = call.input("target"), &prediction = call.input("prediction");
  if (target.dims() != prediction.dims())
    kg::fail("Pinball", "a prediction of shape " + kg::to_string(prediction.dims()), kg::to_string(target.dims()));
  const float q = static_cast<float>(call.attr("quantile").as_number());
  return {tensor::build<float>(target.dims(), [&](std::span<float> loss) {
    const auto t = target.data<float>(), p = prediction.data<float>();
    for (std::size_t i = 0; i < loss.size(); ++i) loss[i] = std::max(q * (t[i] - p[i]), (q - 1) * (t[i] - p[i]));
  })};
}

// Its gradient is written in ops, so it is differentiable itself and runs on every backend.
std::vector<kg::named_operand> pinball_gradient(const kg::gradient_call& call) {
  const double q = call.attr("quantile").as_number();
  const tensor under = kg::cast(call.input("target") > call.input("prediction"), kg::dtype::float32);
  const tensor slope = call.dy() * (under + (q - 1));
  return {{"target", slope}, {"prediction", -slope}};
}

// With a schema, calls are checked before the kernel runs, and it finds defaults where nothing was given.
void register_pinball() {
  const kg::kernel_schema schema{
      .doc = "The loss of quantile regression.",
      .operands = {{"target", kg::only(kg::dtype::float32)}, {"prediction", kg::only(kg::dtype::float32)}},
      .attrs = {{.name = "quantile",
                 .kind = kg::attr_kind::number,
                 .doc = "which quantile",
                 .fallback = 0.5,
                 .least = 0,
                 .most = 1}}};
  kg::register_kernel({.name = "Pinball", .run = pinball, .schema = schema});
  kg::register_gradient({.name = "Pinball", .saves_inputs = {"target", "prediction"}, .run = pinball_gradient});
}

// The functions that programs call. An op is one of them, whatever computes it.
tensor pinball_loss(const tensor& target, const tensor& prediction, double quantile) {
  return kg::run_kernel("Pinball", {{"target", target}, {"prediction", prediction}}, {{"quantile", quantile}});
}

// ---------------------------------------------------------------------------- 3. another gradient for a built-in op

// Guided backpropagation (Springenberg et al. 2015): Relu lets through positive gradients only.
kg::gradient_config guided_relu() {
  return {.name = "Relu", .saves_inputs = {"x"}, .run = [](const kg::gradient_call& call) {
            const tensor open = kg::cast(call.input("x") > 0, call.dy().type());
            return std::vector<kg::named_operand>{{"x", kg::relu(call.dy()) * open}};
          }};
}

// ---------------------------------------------------------------------------- 4. a function with its own gradient

// log(1 + exp(x)): where exp(x) overflows, the gradient by the chain rule is 0 * infinity.
tensor log1pexp(const tensor& x) { return kg::log(1 + kg::exp(x)); }

// The same values; the gradient is what it is on paper.
const auto stable_at_run_time = kg::custom_grad([](const tensor& x) {
  return kg::with_gradient(log1pexp(x), [x](const tensor& dy) { return std::vector{dy * kg::sigmoid(x)}; });
});
// The same again for the compiler, which checks that the two parts fit.
constexpr auto stable = kg::custom_gradient<[](const tensor& x) { return kg::saved(log1pexp(x), x); },
                                            [](const tensor& dy, const tensor& x) { return dy * kg::sigmoid(x); }>;

// ---------------------------------------------------------------------------- what they give

bool all_right = true;

void show(const std::string& what, const tensor& got, const std::vector<double>& wanted) {
  const std::vector<double> values = got.to_doubles();
  bool right = values.size() == wanted.size();
  for (std::size_t i = 0; right && i < wanted.size(); ++i)
    right = std::isnan(wanted[i]) ? std::isnan(values[i]) : std::fabs(values[i] - wanted[i]) <= 1e-6;
  const std::string text = kg::to_string(got);  // a line of dtype and shape, then the elements
  std::cout << (right ? "  " : "! ") << what << ": " << text.substr(text.find('\n') + 1) << "\n";
  all_right = all_right && right;
}

int main() {
  std::cout << "1. a function of ops has a gradient by itself, to any order\n";
  const tensor x({3.f, 4.f});
  show("root_mean_square", root_mean_square(x), {std::sqrt(12.5)});
  show("its gradient", kg::grad(root_mean_square)(x), {3 / (2 * std::sqrt(12.5)), 4 / (2 * std::sqrt(12.5))});

  std::cout << "2. a kernel and its gradient, by name\n";
  register_pinball();
  const tensor target({1.f, 2.f, 3.f}), prediction({0.f, 2.5f, 5.f});
  show("Pinball", pinball_loss(target, prediction, 0.75), {0.75, 0.125, 0.5});
  const auto loss = [&](const tensor& p) { return kg::sum(pinball_loss(target, p, 0.75)); };
  show("its gradient", kg::grad(loss)(prediction), {-0.75, 0.25, 0.25});
  try {
    pinball_loss(target, prediction, 1.5);
    all_right = false;
  } catch (const kg::error& refused) {
    std::cout << "  by its schema: " << refused.what() << "\n";
  }

  std::cout << "3. another gradient for Relu, for as long as `guided` lives\n";
  const tensor at({-1.f, 2.f, 3.f}), dy({1.f, -1.f, 1.f});
  const auto relu = [](const tensor& t) { return kg::relu(t); };
  show("its own", kg::grad(relu)(at, dy), {0, -1, 1});
  {
    const kg::registration guided = kg::scoped_gradient(guided_relu(), kg::existing::replace);
    show("guided", kg::grad(relu)(at, dy), {0, 0, 1});
  }
  show("its own again", kg::grad(relu)(at, dy), {0, -1, 1});

  std::cout << "4. a function with a gradient of its own\n";
  const tensor large({0.f, 100.f});
  show("by the chain rule", kg::grad(log1pexp)(large), {0.5, std::nan("")});
  show("custom_grad", kg::grad(stable_at_run_time)(large), {0.5, 1});
  show("custom_gradient", kg::grad(stable)(large), {0.5, 1});
  return all_right ? 0 : 1;
}
