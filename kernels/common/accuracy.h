// SPDX-License-Identifier: Apache-2.0
// The largest error of every math function on any target, in units in the last place of the result: measured against
// MPFR by ./dev accuracy and rounded up to the next half. tests/elementwise/math.cc holds a sample of it to them.
// accuracy_worst.h has the largest error of each and its operands.
#pragma once
#include <limits>

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

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The finite operands for which the bound of a gradient holds, among those for which the op is defined.
struct gradient_domain {
  double zero = 0, distance = 0;  ///< the gradient is 0 at `zero`, and the operand is at least `distance` from that
  bool squares = false;           ///< the square of the operand is finite
  double above = -unbounded, below = unbounded;  ///< the operand is between them
  int order = 0;                                 ///< of Polygamma
  int powers[2] = {};                            ///< each of two operands has a magnitude from 2^-powers to 2^powers
};

/// The largest error of the gradient of an elementwise or special op for one operand where dy is 1, as above.
/// tests/elementwise/gradients.cc holds samples to the bounds.
struct gradient_bound {
  const char* op;
  int operand;
  double ulp_float32;
  double ulp_float64;
  gradient_domain domain{};
};

inline constexpr gradient_bound gradient_accuracy[] = {
    {"Abs", 0, 0.5, 0.5},
    {"Neg", 0, 0.5, 0.5},
    {"Sign", 0, 0.5, 0.5},
    {"Square", 0, 0.5, 0.5},
    {"Sqrt", 0, 2.0, 2.0},
    {"Rsqrt", 0, 4.0, 3.5},
    {"Reciprocal", 0, 2.0, 2.0},
    {"Exp", 0, 1.0, 1.0},
    {"Exp2", 0, 3.5, 3.5},
    {"Expm1", 0, 1.0, 1.0},
    {"Log", 0, 1.0, 1.0},
    {"Log2", 0, 1.0, 1.0},
    {"Log10", 0, 1.0, 1.0},
    {"Log1p", 0, 2.0, 2.0},
    {"Cbrt", 0, 4.0, 4.0},
    {"Sin", 0, 1.5, 1.0},
    {"Cos", 0, 1.5, 1.0},
    {"Tan", 0, 2.5, 4.0},
    {"Asin", 0, 1.5, 1.5},
    {"Acos", 0, 1.5, 1.5},
    {"Atan", 0, 3.0, 2.5, {.squares = true}},
    {"Sinh", 0, 1.5, 1.5},
    {"Cosh", 0, 2.0, 2.0},
    {"Tanh", 0, 3.5, 3.0},
    {"Asinh", 0, 2.0, 2.5},
    {"Acosh", 0, 2.5, 3.5},
    {"Atanh", 0, 2.5, 2.5},
    {"Erf", 0, 68.0, 531.0},
    {"Erfc", 0, 68.0, 531.0},
    {"Ceil", 0, 0.5, 0.5},
    {"Floor", 0, 0.5, 0.5},
    {"Round", 0, 0.5, 0.5},
    {"Trunc", 0, 0.5, 0.5},
    {"Relu", 0, 0.5, 0.5},
    {"Relu6", 0, 0.5, 0.5},
    {"LeakyRelu", 0, 0.5, 0.5},
    {"Elu", 0, 1.0, 1.0},
    {"Selu", 0, 2.5, 2.0},
    {"Gelu", 0, 73.0, 511.0, {.zero = -0.7517916, .distance = 0.125}},
    {"Silu", 0, 54.0, 386.0, {.zero = -1.2784645, .distance = 0.125}},
    {"Sigmoid", 0, 3.5, 4.0},
    {"Softplus", 0, 2.5, 2.5},
    {"Step", 0, 0.5, 0.5},
    {"Add", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Add", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"Sub", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Sub", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"Multiply", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Multiply", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"RealDiv", 0, 1.0, 1.0, {.powers = {20, 20}}},
    {"RealDiv", 1, 1.5, 1.5, {.powers = {20, 20}}},
    {"FloorDiv", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"FloorDiv", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"Mod", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Mod", 1, 1.0, 0.5, {.powers = {20, 20}}},
    {"Fmod", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Fmod", 1, 1.0, 0.5, {.powers = {20, 20}}},
    {"Copysign", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Copysign", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"Maximum", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Maximum", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"Minimum", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Minimum", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"SquaredDifference", 0, 1.0, 1.0, {.powers = {20, 20}}},
    {"SquaredDifference", 1, 1.0, 1.0, {.powers = {20, 20}}},
    {"Pow", 0, 54.0, 54.0, {.powers = {10, 3}}},
    {"Pow", 1, 2.0, 2.5, {.powers = {10, 3}}},
    {"Atan2", 0, 3.5, 4.5, {.powers = {20, 20}}},
    {"Atan2", 1, 3.5, 4.5, {.powers = {20, 20}}},
    {"Hypot", 0, 1.5, 2.5, {.powers = {20, 20}}},
    {"Hypot", 1, 1.5, 2.5, {.powers = {20, 20}}},
    {"Xlogy", 0, 1.0, 1.0, {.powers = {20, 20}}},
    {"Xlogy", 1, 1.0, 1.0, {.powers = {20, 20}}},
    {"Prelu", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"Prelu", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"ReluGrad", 0, 0.5, 0.5, {.powers = {20, 20}}},
    {"ReluGrad", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"EluGrad", 0, 1.0, 1.0, {.powers = {20, 20}}},
    {"EluGrad", 1, 0.5, 0.5, {.powers = {20, 20}}},
    {"SigmoidGrad", 0, 3.0, 3.0, {.powers = {8, 6}}},
    {"SigmoidGrad", 1, 4.0, 4.5, {.powers = {8, 6}}},
    {"TanhGrad", 0, 3.0, 3.5, {.powers = {8, 5}}},
    {"TanhGrad", 1, 4.5, 4.5, {.powers = {8, 5}}},
    {"Lgamma", 0, 1.0, 4.0, {.above = 0}},
    {"Digamma", 0, 1.0, 6.0, {.above = 0}},
    {"Erfinv", 0, 16.0, 100.0},
    {"Expi", 0, 4.0, 4.0},
    {"BesselI0", 0, 1.0, 5.0},
    {"BesselI1", 0, 2.5, 8.0, {.above = -91, .below = 91}},
    {"BesselJ0", 0, 1.0, 8.0, {.above = -7.3, .below = 7.3}},
    {"BesselJ1", 0, 5.0, 12.0, {.above = -1.5, .below = 1.5}},
    {"Polygamma", 0, 1.0, 8.0, {.above = 0, .order = 1}},
    {"Beta", 0, 3.0, 300.0, {.powers = {3, 3}}},
    {"Beta", 1, 3.0, 300.0, {.powers = {3, 3}}},
};

/// The worst that ./dev accuracy found of a kernel on one target.
struct accuracy_worst {
  const char* op;
  dtype type;
  double ulp;          ///< 0: no error above half a unit
  double a, b;         ///< the operands; b is 0 when there is one
  const char* target;  ///< where it was measured
  bool all;            ///< over all 2^32 floats; false: over samples
  int operand = -1;    ///< of a gradient: the operand that it is for
};

}  // namespace kerngrad::kernels
