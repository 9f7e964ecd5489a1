// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the special functions: the derivatives are special functions again.
module;
#include "kernels/common/abi.h"
export module kerngrad:grads_special;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

inline constexpr double half_root_pi = 0.88622692545275801365;

/// Derivative of the beta function for its first operand, over the function.
inline constexpr auto beta_slope = [](const auto& of, const auto& other) { return digamma(of) - digamma(of + other); };
/// f1(x) / x of a Bessel function of order 1, and its limit 1/2 at 0.
inline constexpr auto over_x = [](const auto& f1, const auto& x) {
  const auto is_zero = x == 0;
  const auto half = ones_like(x) * 0.5;
  return where(is_zero, half, f1 / where(is_zero, ones_like(x), x));
};

inline constexpr auto special_rules = family_rules(std::tuple{
    rule<"Lgamma">(wrt(keep::in0, [](const auto& c) { return c.dy() * digamma(c.in(0)); })),
    rule<"Digamma">(wrt(keep::in0, [](const auto& c) { return c.dy() * polygamma(1, c.in(0)); })),
    rule<"Erfinv">(wrt(keep::out0, [](const auto& c) { return c.dy() * (exp(square(c.out())) * half_root_pi); })),
    rule<"Expi">(wrt(keep::in0, [](const auto& c) { return c.dy() * (exp(c.in(0)) / c.in(0)); })),
    rule<"BesselI0">(wrt(keep::in0, [](const auto& c) { return c.dy() * i1(c.in(0)); })),
    rule<"BesselI1">(
        wrt(keep::in0 | keep::out0, [](const auto& c) { return c.dy() * (i0(c.in(0)) - over_x(c.out(), c.in(0))); })),
    rule<"BesselJ0">(wrt(keep::in0, [](const auto& c) { return -c.dy() * j1(c.in(0)); })),
    rule<"BesselJ1">(
        wrt(keep::in0 | keep::out0, [](const auto& c) { return c.dy() * (j0(c.in(0)) - over_x(c.out(), c.in(0))); })),
    // The kernel has derivatives up to number 100, and no rule differentiates the last one.
    rule<"Polygamma">(wrt(
        keep::in0, [](const auto& c) { return c.dy() * polygamma(c.template attr<"n">().as_integer() + 1, c.in(0)); })),
    rule<"Beta">(wrt(keep::in0 | keep::in1 | keep::out0,
                     [](const auto& c) { return c.reduced(0, c.dy() * (c.out() * beta_slope(c.in(0), c.in(1)))); }),
                 wrt(keep::in0 | keep::in1 | keep::out0,
                     [](const auto& c) { return c.reduced(1, c.dy() * (c.out() * beta_slope(c.in(1), c.in(0)))); })),
});

}  // namespace kerngrad::rules
