// SPDX-License-Identifier: Apache-2.0
// Largest errors of the special functions, in units in the last place of the result, and where they hold.
// tests/special/accuracy.cc holds samples to them, against MPFR on every target.
#pragma once

namespace kerngrad::kernels {

/// A bound for the operands from `least` to `most`. Outside of a float64 domain the error is one of the larger term:
/// lgamma and digamma cancel near their negative zeros, Bessel functions near their zeros after the second one.
struct special_bound {
  const char* op;
  double ulp_float32;
  double ulp_float64;
  double least_float32, most_float32;
  double least_float64, most_float64;
};

inline constexpr special_bound special_accuracy[] = {
    {"Lgamma", 1, 5, -100, 1e30, 0, 1e300},   {"Digamma", 1, 4, -100, 1e6, 0, 1e6},
    {"Erfinv", 1, 3, -1, 1, -1, 1},           {"Expi", 1, 6, -90, 90, -700, 710},
    {"BesselI0", 1, 5, -91, 91, -713, 713},   {"BesselI1", 1, 5, -91, 91, -713, 713},
    {"BesselJ0", 1, 8, -1e6, 1e6, -6.4, 6.4}, {"BesselJ1", 1, 8, -1e6, 1e6, -7.3, 7.3},
};

}  // namespace kerngrad::kernels
