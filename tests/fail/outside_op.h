// SPDX-License-Identifier: Apache-2.0
// The parts of a user-defined op that is complete: the cases take one away or change one. To be included
// after the import.
#pragma once

inline constexpr kg::operand x_float[] = {{"x", kg::only(kg::dtype::float32)}};
inline constexpr kg::op_row halve_row{.name = "Halve",
                                      .doc = "x / 2.",
                                      .group = kg::family::elementwise,
                                      .operands = x_float,
                                      .infer = kg::shapes::same,
                                      .convention = kg::convention::unary};
inline constexpr auto halved = kg::per_element<float>([](float x) { return x / 2; });
inline constexpr auto pass = [](const auto& c) { return c.dy() / 2; };

/// The same row with one field changed by `change`.
template <class F>
consteval kg::op_row row_with(F change) {
  kg::op_row row = halve_row;
  change(row);
  return row;
}

/// The op itself.
struct Halve {
  static constexpr kg::op_row row = halve_row;
  static constexpr auto kernels = kg::kernel_list(halved);
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
