// SPDX-License-Identifier: Apache-2.0
// The op of docs/build-a-library.md: solutions by a factor that is computed once, for equations of one unknown.
#include <iostream>
#include <span>

import kerngrad;

namespace my {

using kg::tensor;

tensor factored_solution(const tensor& a, const tensor& factor, const tensor& b);

template <class Op>
constexpr auto kernels_for_floats =
    kg::on_calls<kg::wide_floats>([]<class T>(const kg::launch_call& c) { Op::template run<T>(c); });

constexpr kg::operand equations[] = {{"a", kg::wide_floats}, {"factor", kg::wide_floats}, {"b", kg::wide_floats}};

struct FactoredSolve {
  static constexpr kg::op_row row{.name = "MyFactoredSolve",
                                  .doc = "The x with a x = b by the factor of a.",
                                  .group = kg::family::elementwise,
                                  .operands = equations,
                                  .infer = kg::shapes::all_equal};
  template <class T>
  static void run(const kg::launch_call& c) {
    const std::span<const T> factor = kg::elements_in<T>(c, 1), b = kg::elements_in<T>(c, 2);
    const std::span<T> x = kg::elements_out<T>(c);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = factor[i] * b[i];  // never reads a
  }
  static constexpr auto kernels = kernels_for_floats<FactoredSolve>;

  // Both operands need the solution of the transposed equation. It is computed once.
  template <class C>
  static tensor of_b(const C& c) {
    return c.template once<0>([&] { return factored_solution(c.in(0), c.in(1), c.dy()); });
  }
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::in0 | kg::keep::in1 | kg::keep::out0, [](const auto& c) { return -of_b(c) * c.out(); }),
      kg::constant_operand(),  // the factor stands for a, whose gradient is the first part
      kg::wrt(kg::keep::in0 | kg::keep::in1, [](const auto& c) { return of_b(c); }));
};

tensor factored_solution(const tensor& a, const tensor& factor, const tensor& b) {
  return kg::call<FactoredSolve>(a, factor, b);
}

// The function that programs call.
tensor solve(const tensor& a, const tensor& b) {
  const tensor factor = 1.0 / kg::stop_gradient(a);
  return factored_solution(a, factor, b);
}

}  // namespace my

int main() {
  const kg::tensor a({2.0, 4.0}), b({1.0, 1.0});
  const auto f = [&](const kg::tensor& x) { return kg::sum(my::solve(x, b)); };
  const auto slope = [&](const kg::tensor& x) { return kg::sum(kg::grad(f)(x)); };
  std::cout << kg::grad(f)(a) << "\n" << kg::grad(slope)(a) << "\n";
}
