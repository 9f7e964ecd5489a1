// SPDX-License-Identifier: Apache-2.0
// A user's module that adds ops to kerngrad: complete at compile time, and without a change to the library.
module;
#include <algorithm>
#include <cmath>

#include "snake.h"
export module my.ops;

export import kerngrad;

namespace my {

inline constexpr kg::operand snake_operands[] = {{"x", kg::real_or_bool}};
inline constexpr kg::attr_spec snake_attrs[] = {{.name = "frequency",
                                                 .kind = kg::attr_kind::number,
                                                 .doc = "of the periodic part",
                                                 .fallback = 1,
                                                 .least = 1e-3,
                                                 .most = 1e3}};

/// The op: a row, kernels for every dtype that the row accepts, a gradient rule. A part that is missing or does not
/// fit is a compile error.
export struct Snake {
  static constexpr kg::op_row row{
      .name = "Snake",
      .doc = "x + sin(frequency * x)^2 / frequency, an activation for periodic functions (Ziyin et al. 2020).",
      .group = kg::family::elementwise,
      .operands = snake_operands,
      .attrs = snake_attrs,
      .types = {.before = kg::lift::floats},
      .infer = kg::shapes::same,
      .convention = kg::convention::unary};
  static constexpr auto kernels =
      kg::kernel_list(kg::simd_kernel(KERNGRAD_ENTRY_UNARY_WITH_PARAMS(my, Snake, float32)),
                      kg::simd_kernel(KERNGRAD_ENTRY_UNARY_WITH_PARAMS(my, Snake, float64)));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) {
    const double frequency = c.template attr<"frequency">().as_number();
    return c.dy() * (kg::sin(c.in(0) * (2 * frequency)) + 1);
  }));
};

/// The function that programs call.
export kg::tensor snake(const kg::tensor& x, double frequency = 1) {
  return kg::call<Snake>(x, kg::attr<"frequency">(frequency));
}

inline constexpr kg::operand two_numbers[] = {{"a", kg::floating}, {"b", kg::floating}};

/// A function of two elements does for a kernel as well: broadcasting comes with it, speed does not.
export struct MaxMagnitude {
  static constexpr kg::op_row row{.name = "MaxMagnitude",
                                  .doc = "max(|a|, |b|). Gradient: equal magnitudes give dy to a.",
                                  .group = kg::family::elementwise,
                                  .operands = two_numbers,
                                  .infer = kg::shapes::broadcasted,
                                  .convention = kg::convention::binary};
  static constexpr auto kernels =
      kg::kernel_list(kg::per_pair<float>([](float a, float b) { return std::max(std::fabs(a), std::fabs(b)); }),
                      kg::per_pair<double>([](double a, double b) { return std::max(std::fabs(a), std::fabs(b)); }));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::in0 | kg::keep::in1,
              [](const auto& c) {
                const auto mine = kg::where(kg::abs(c.in(0)) >= kg::abs(c.in(1)), c.dy(), kg::zeros_like(c.dy()));
                return c.reduced(0, mine * kg::sign(c.in(0)));
              }),
      kg::wrt(kg::keep::in0 | kg::keep::in1, [](const auto& c) {
        const auto mine = kg::where(kg::abs(c.in(0)) < kg::abs(c.in(1)), c.dy(), kg::zeros_like(c.dy()));
        return c.reduced(1, mine * kg::sign(c.in(1)));
      }));
};

}  // namespace my
