// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/4-custom-op.md.
#include <cmath>
#include <cstddef>
#include <iostream>
#include <span>
#include <vector>

import kerngrad;

namespace {

kg::tensor tanh_exp(const kg::tensor& x) { return x * kg::tanh(kg::exp(x)); }

constexpr auto rounded =
    kg::custom_gradient<[](const kg::tensor& x) { return kg::round(x); }, [](const kg::tensor& dy) { return dy; }>;

constexpr kg::operand softshrink_operands[] = {{"x", kg::floating}};
constexpr kg::attr_spec softshrink_attributes[] = {{.name = "lambda",
                                                    .kind = kg::attr_kind::number,
                                                    .doc = "what is taken off",
                                                    .fallback = 0.5,
                                                    .least = 0,
                                                    .most = 1e6}};

struct Softshrink {
  static constexpr kg::op_row row{.name = "Softshrink",
                                  .doc = "What is beyond lambda, moved towards 0 by lambda; 0 between.",
                                  .group = kg::family::elementwise,
                                  .operands = softshrink_operands,
                                  .attrs = softshrink_attributes,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  template <class T>
  static T shrink(T x, T lambda) {
    return std::fabs(x) > lambda ? x - std::copysign(lambda, x) : T(0);
  }
  static constexpr auto kernels =
      kg::kernel_list(kg::per_element<float>([](float x, float lambda) { return shrink(x, lambda); }),
                      kg::per_element<double>([](double x, double lambda) { return shrink(x, lambda); }));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::out0, [](const auto& c) { return kg::where(c.out(0) != 0, c.dy(), kg::zeros_like(c.dy())); }));
};

kg::tensor softshrink(const kg::tensor& x, double lambda = 0.5) {
  return kg::call<Softshrink>(x, kg::attr<"lambda">(lambda));
}

kg::tensor_list reversed_sums(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  return {kg::tensor::build<float>(x.dims(), [&](std::span<float> y) {
    float sum = 0;
    const std::span<const float> from = x.data<float>();
    for (std::size_t i = from.size(); i-- > 0;) y[i] = sum += from[i];
  })};
}

}  // namespace

int main() {
  const kg::tensor x({-2.f, 0.f, 1.f});
  std::cout << tanh_exp(x) << "\n" << kg::grad(tanh_exp)(x) << "\n";

  const auto distance = [](const kg::tensor& t) { return kg::sum(kg::square(rounded(t * 4) / 4 - 1)); };
  std::cout << rounded(kg::tensor({0.4f, 1.6f})) << "\n" << kg::grad(distance)(kg::tensor({0.4f, 1.6f})) << "\n";

  const auto shrunk = [](const kg::tensor& t) { return softshrink(t, 1); };
  std::cout << shrunk(x) << "\n" << kg::grad(shrunk)(x) << "\n";

  kg::register_kernel({.name = "ReversedSums",
                       .run = reversed_sums,
                       .schema = kg::kernel_schema{.doc = "The sum of each element and those after it.",
                                                   .operands = {{"x", kg::only(kg::dtype::float32)}}}});
  std::cout << kg::run_kernel("ReversedSums", {{"x", x}}) << "\n";
  try {
    kg::run_kernel("ReversedSums", {{"x", kg::tensor({1, 2})}});
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
}
