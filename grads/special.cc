// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the special functions: the derivatives are special functions again.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_special;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

inline constexpr double half_root_pi = 0.88622692545275801365;

/// Derivative of the beta function for operand `i`, times dy. The difference of digammas cancels where the other
/// operand is much smaller, so it is taken in float64.
inline constexpr auto beta_slope = [](const auto& c, int i) {
  const auto of = cast(c.in(i), dtype::float64), other = cast(c.in(1 - i), dtype::float64);
  const auto slope = cast(digamma(of) - digamma(of + other), c.dy().type());
  return c.reduced(i, c.dy() * (c.out() * slope));
};
/// e^x / x, finite where e^x is not. x / 2 is exact.
inline constexpr auto exp_over = [](const auto& x) {
  const auto root = exp(x * 0.5);
  return root / x * root;
};
/// f1(x) / x of a Bessel function of order 1. Near 0, where f1 may have few digits, it is 1/2 + bend x^2.
inline constexpr auto over_x = [](const auto& f1, const auto& x, double bend) {
  const auto near = abs(x) < 0x1p-27;
  return where(near, square(x) * bend + 0.5, f1 / where(near, ones_like(x), x));
};

inline constexpr auto special_rules = family_rules(rule_list{
    rule<"Lgamma">(wrt(keep::in0, [](const auto& c) { return c.dy() * digamma(c.in(0)); })),
    rule<"Digamma">(wrt(keep::in0, [](const auto& c) { return c.dy() * polygamma(1, c.in(0)); })),
    rule<"Erfinv">(wrt(keep::out0, [](const auto& c) { return c.dy() * (exp(square(c.out())) * half_root_pi); })),
    rule<"Expi">(wrt(keep::in0, [](const auto& c) { return c.dy() * exp_over(c.in(0)); })),
    rule<"BesselI0">(wrt(keep::in0, [](const auto& c) { return c.dy() * i1(c.in(0)); })),
    rule<"BesselI1">(wrt(keep::in0 | keep::out0,
                         [](const auto& c) {
                           // Infinite functions have infinite derivatives.
                           const auto f0 = i0(c.in(0));
                           return c.dy() * where(is_inf(c.out()), f0, f0 - over_x(c.out(), c.in(0), 1.0 / 16));
                         })),
    rule<"BesselJ0">(wrt(keep::in0, [](const auto& c) { return -c.dy() * j1(c.in(0)); })),
    rule<"BesselJ1">(wrt(keep::in0 | keep::out0,
                         [](const auto& c) { return c.dy() * (j0(c.in(0)) - over_x(c.out(), c.in(0), -1.0 / 16)); })),
    // The kernel has derivatives up to number 100, and no rule differentiates the last one.
    rule<"Polygamma">(wrt(
        keep::in0, [](const auto& c) { return c.dy() * polygamma(c.template attr<"n">().as_integer() + 1, c.in(0)); })),
    rule<"Beta">(wrt(keep::in0 | keep::in1 | keep::out0, [](const auto& c) { return beta_slope(c, 0); }),
                 wrt(keep::in0 | keep::in1 | keep::out0, [](const auto& c) { return beta_slope(c, 1); })),
});

}  // namespace kerngrad::rules
