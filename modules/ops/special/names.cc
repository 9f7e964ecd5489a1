// SPDX-License-Identifier: Apache-2.0
// Typed names of the special functions that have a gradient rule. Their dtypes: integers are computed in float32.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_special;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :symbol;
import :function;

export namespace kerngrad {

#define KG_SPECIAL_NAME(name, Op)                                    \
  inline tensor name(const tensor& x) { return function_of<Op>(x); } \
  template <symbolic X> constexpr symbol name(X x) { return function_of<Op>(x); }

// The names in the order of the rows; docs/ops.md says what each computes.
/// The logarithm of |gamma(x)|, infinite at 0 and at negative integers. Integers give float32. Near its zeros below 0,
/// float64 has a larger relative error, because the terms of the reflection formula cancel. Gradient: digamma(x).
KG_SPECIAL_NAME(lgamma, "Lgamma")
KG_SPECIAL_NAME(digamma, "Digamma")
KG_SPECIAL_NAME(erfinv, "Erfinv")
KG_SPECIAL_NAME(expi, "Expi")
KG_SPECIAL_NAME(i0, "BesselI0")
KG_SPECIAL_NAME(i1, "BesselI1")
KG_SPECIAL_NAME(j0, "BesselJ0")
KG_SPECIAL_NAME(j1, "BesselJ1")

/// Derivative number n of digamma, for n from 0 to 100; other n throw. It is infinite at 0. At negative integers it is
/// infinite for odd n, and NaN for even n. Integers give float32. For n up to 4 and x > 0, float64 has an error of at
/// most 8 ulp (units in the last place). Gradient: polygamma(n + 1, x); n = 100 has none.
inline tensor polygamma(std::int64_t n, const tensor& x) { return call<"Polygamma">(x, attr<"n">(n)); }
/// The beta function gamma(a) gamma(b) / gamma(a + b) for a, b >= 0. Operands broadcast. Integers give float32.
/// Differentiable in both, by differences of digamma.
inline tensor beta(const tensor& a, const tensor& b) { return call<"Beta">(a, b); }

}  // namespace kerngrad
