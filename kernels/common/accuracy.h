// SPDX-License-Identifier: Apache-2.0
// The largest error of every math function on any target, in units in the last place of the result: measured against
// MPFR by ./dev accuracy and rounded up to the next half. tests/elementwise/math.cc holds a sample of it to them. Where
// each errs most, and by how much, is in accuracy_worst.h.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

struct accuracy_bound {
  const char* op;
  double ulp_float32;
  double ulp_float64;
};

inline constexpr accuracy_bound accuracy[] = {
    {"Exp", 1.0, 1.0},      {"Expm1", 1.5, 1.5}, {"Log", 1.0, 1.0},   {"Log1p", 1.0, 1.0}, {"Sin", 1.5, 1.0},
    {"Cos", 1.5, 1.0},      {"Tan", 1.0, 2.5},   {"Asin", 1.0, 2.5},  {"Acos", 1.0, 1.5},  {"Atan", 1.5, 2.0},
    {"Atan2", 1.5, 2.5},    {"Sinh", 2.0, 2.0},  {"Cosh", 1.5, 1.5},  {"Tanh", 1.5, 1.5},  {"Asinh", 1.0, 2.0},
    {"Acosh", 1.0, 2.0},    {"Atanh", 1.0, 2.0}, {"Erf", 1.5, 1.5},   {"Erfc", 1.0, 4.0},  {"Sigmoid", 2.5, 2.5},
    {"Softplus", 2.5, 1.5}, {"Gelu", 3.0, 3.5},  {"Silu", 2.5, 2.5},  {"Elu", 1.0, 1.5},   {"Selu", 2.0, 3.0},
    {"Rsqrt", 1.0, 1.5},    {"Pow", 1.0, 1.5},   {"Round", 0.0, 0.0}, {"Exp2", 1.5, 1.5},  {"Log2", 1.0, 1.0},
    {"Log10", 1.0, 1.0},    {"Cbrt", 1.0, 1.0},  {"Hypot", 1.0, 1.5}, {"Xlogy", 2.0, 2.0}, {"SigmoidGrad", 4.5, 4.5},
    {"TanhGrad", 4.5, 4.5},
};

/// The worst that ./dev accuracy found of a kernel on one target.
struct accuracy_worst {
  const char* op;
  dtype type;
  double ulp;          ///< 0: no error above half a unit
  double a, b;         ///< the operands; b is 0 when there is one
  const char* target;  ///< where it was measured
  bool all;            ///< over all 2^32 floats; false: over samples
};

}  // namespace kerngrad::kernels
