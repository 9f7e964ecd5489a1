// SPDX-License-Identifier: Apache-2.0
// Bounds of the errors of complex functions, measured by tests/elementwise/complex.cc. The error of a result is its
// distance from the exact one, in units in the last place of the exact modulus. `per_exponent` is added for each unit
// of |b log a|: the rounding of the exponent turns and scales a power.
#pragma once

namespace kerngrad::kernels {

struct complex_bound {
  const char* op;
  double ulp_complex64, ulp_complex128;
  double per_exponent = 0;
};

inline constexpr complex_bound complex_accuracy[] = {
    {"Reciprocal", 3, 3}, {"Sqrt", 2.5, 2.5}, {"Exp", 2.5, 2.5}, {"Log", 3.5, 3.5},  {"Sin", 3, 3},
    {"Cos", 3, 3},        {"Tan", 5, 5},      {"Sinh", 3, 3},    {"Cosh", 3, 3},     {"Tanh", 5, 5},
    {"Square", 1.5, 1.5}, {"Multiply", 2, 2}, {"RealDiv", 1, 4}, {"Pow", 1, 3, 2.5},
};

}  // namespace kerngrad::kernels
