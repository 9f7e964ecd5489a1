// SPDX-License-Identifier: Apache-2.0
// Scalar forms: elementwise ops on single numbers, as code that the compiler inlines, with the C library's functions.
// They round as the C library does, so their last bits may differ from a kernel's.
module;
#include "kernels/common/abi.h"
export module kerngrad:scalar;

import :std;
import :core;
import :op;

namespace kerngrad::detail {

/// Runs a lambda that has as many parameters as the op has operands, given the three numbers of a step.
template <class F>
struct scalar_code {
  template <class T>
  static constexpr T run(T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {
    if constexpr (std::is_invocable_v<F, T>) return static_cast<T>(F{}(a));
    else if constexpr (std::is_invocable_v<F, T, T>) return static_cast<T>(F{}(a, b));
    else return static_cast<T>(F{}(a, b, c));
  }
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The scalar form of an elementwise op, for the entry of a custom op: `.scalar = kg::scalar_of([](auto x) { return x *
/// x * x; })`. The lambda has no captures and takes one number per operand, all float or all double. Booleans are
/// numbers; every number but 0 is true.
template <class F>
consteval scalar_form scalar_of(F) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "a scalar form must be a lambda without captures");
  return {detail::scalar_code<F>::template run<float>, detail::scalar_code<F>::template run<double>};
}

}  // namespace kerngrad

// The C library's functions by their built-in names: <cmath> in an interface clashes, with clang 19, with the same
// header included after the import.
namespace kerngrad::libm {

#define KG_LIBM(name)                                           \
  inline float name(float x) { return __builtin_##name##f(x); } \
  inline double name(double x) { return __builtin_##name(x); }
KG_LIBM(fabs)
KG_LIBM(sqrt)
KG_LIBM(exp)
KG_LIBM(log)
KG_LIBM(sin)
KG_LIBM(cos)
KG_LIBM(tan)
KG_LIBM(tanh)
KG_LIBM(erf)
#undef KG_LIBM
inline float pow(float a, float b) { return __builtin_powf(a, b); }
inline double pow(double a, double b) { return __builtin_pow(a, b); }
inline float atan2(float a, float b) { return __builtin_atan2f(a, b); }
inline double atan2(double a, double b) { return __builtin_atan2(a, b); }

}  // namespace kerngrad::libm
