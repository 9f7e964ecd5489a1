// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the elementwise ops. `c` is described in modules/autograd/rule.cc; c.reduced(i, g) adds up what
// operand i was broadcast over. Complex operands: for a holomorphic f the gradient is dy * conj(f'(x)), so that
// stepping against it lowers a real loss. conj of a real tensor is the tensor.
module;
#include "kernels/common/abi.h"
export module kerngrad:grads_elementwise;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

// A function that is flat or steps has a gradient of zero, rather than none.
inline constexpr auto flat = [](const auto& c) { return zeros_like(c.dy()); };

inline constexpr double ln_2 = 0.69314718055994530942;
inline constexpr double one_over_ln_2 = 1.4426950408889634074;
inline constexpr double one_over_ln_10 = 0.43429448190325182765;
inline constexpr double two_over_sqrt_pi = 1.1283791670955125739;
inline constexpr double one_over_sqrt_two = 0.70710678118654752440;
inline constexpr double one_over_sqrt_two_pi = 0.39894228040143267794;
inline constexpr double selu_scale = 1.0507009873554804934;
inline constexpr double selu_scale_alpha = 1.7580993408473768599;  // scale * alpha
/// 1 - x^2 without the cancellation near 1. The difference of squares is taken there alone: its derivative would cancel
/// near 0.
inline constexpr auto one_less_square = [](const auto& x) {
  return where(abs(x) < 0.5, 1 - square(x), (1 - x) * (1 + x));
};
/// The gradient of a remainder for the divisor: the quotient that it was made with. The rounded quotient of the
/// operands may be the next whole number.
inline constexpr auto by_whole_quotient = [](const auto& c) {
  return c.reduced(1, -c.dy() * round(c.in(0) / c.in(1) - c.out() / c.in(1)));
};
/// x with 1 in place of zeros.
inline constexpr auto not_zero = [](const auto& x) { return where(x == 0, ones_like(x), x); };
/// True if the first operand is complex. Fused functions have none.
inline constexpr auto of_complex = [](const auto& c) {
  if constexpr (std::same_as<std::decay_t<decltype(c.dy())>, tensor>) return kind_of(c.type(0)) == dtype_kind::complex;
  else return false;
};
/// b * a^(b - 1), and 0 for b = 0, at a = 0 too.
inline constexpr auto complex_slope_of_power = [](const auto& a, const auto& b) {
  const auto slope = b * pow(where(b == 0, ones_like(a), a), b - 1);
  return where(b == 0, zeros_like(slope), slope);
};
inline constexpr auto flat_a = [](const auto& c) { return c.zeros(0); };
inline constexpr auto flat_b = [](const auto& c) { return c.zeros(1); };

inline constexpr auto elementwise_rules = family_rules(rule_list{
    rule<"Abs">(wrt(keep::in0, [](const auto& c) { return c.dy() * sign(c.in(0)); })),
    rule<"Neg">(wrt(keep::nothing, [](const auto& c) { return -c.dy(); })),
    rule<"Sign">(wrt(keep::nothing, flat)),
    rule<"Square">(wrt(keep::in0, [](const auto& c) { return c.dy() * (conj(c.in(0)) * 2); })),
    rule<"Sqrt">(wrt(keep::out0, [](const auto& c) { return c.dy() * 0.5 / conj(c.out()); })),
    // Half of the cube is finite where the gradient is.
    rule<"Rsqrt">(wrt(keep::out0, [](const auto& c) { return c.dy() * (square(c.out()) * (c.out() * -0.5)); })),
    rule<"Reciprocal">(wrt(keep::out0, [](const auto& c) { return -c.dy() * conj(square(c.out())); })),
    rule<"Exp">(wrt(keep::out0, [](const auto& c) { return c.dy() * conj(c.out()); })),
    // The root of the power is finite where the gradient is, and half of x is exact.
    rule<"Exp2">(wrt(keep::in0,
                     [](const auto& c) {
                       const auto root = exp2(c.in(0) * 0.5);
                       return c.dy() * (root * ln_2 * root);
                     })),
    // The result plus 1 has lost the digits of a small power.
    rule<"Expm1">(wrt(keep::in0, [](const auto& c) { return c.dy() * exp(c.in(0)); })),
    rule<"Log">(wrt(keep::in0, [](const auto& c) { return c.dy() / conj(c.in(0)); })),
    rule<"Log2">(wrt(keep::in0, [](const auto& c) { return c.dy() * one_over_ln_2 / c.in(0); })),
    rule<"Log10">(wrt(keep::in0, [](const auto& c) { return c.dy() * one_over_ln_10 / c.in(0); })),
    rule<"Log1p">(wrt(keep::in0, [](const auto& c) { return c.dy() / (c.in(0) + 1); })),
    rule<"Cbrt">(wrt(keep::out0, [](const auto& c) { return c.dy() / (square(c.out()) * 3); })),
    rule<"Sin">(wrt(keep::in0, [](const auto& c) { return c.dy() * conj(cos(c.in(0))); })),
    rule<"Cos">(wrt(keep::in0, [](const auto& c) { return -c.dy() * conj(sin(c.in(0))); })),
    rule<"Tan">(wrt(keep::out0, [](const auto& c) { return c.dy() * conj(square(c.out()) + 1); })),
    rule<"Asin">(wrt(keep::in0, [](const auto& c) { return c.dy() * rsqrt(one_less_square(c.in(0))); })),
    rule<"Acos">(wrt(keep::in0, [](const auto& c) { return -c.dy() * rsqrt(one_less_square(c.in(0))); })),
    rule<"Atan">(wrt(keep::in0, [](const auto& c) { return c.dy() / (square(c.in(0)) + 1); })),
    rule<"Sinh">(wrt(keep::in0, [](const auto& c) { return c.dy() * conj(cosh(c.in(0))); })),
    rule<"Cosh">(wrt(keep::in0, [](const auto& c) { return c.dy() * conj(sinh(c.in(0))); })),
    // The results have no digits of the derivatives where they are near 1.
    rule<"Tanh">(wrt(keep::in0,
                     [](const auto& c) {
                       if (of_complex(c)) return c.dy() * conj(square(reciprocal(cosh(c.in(0)))));
                       return tanh_grad(c.dy(), c.in(0));
                     })),
    rule<"Asinh">(wrt(keep::in0, [](const auto& c) { return c.dy() / hypot(c.in(0), 1); })),
    // Two roots: the product under one would overflow, and the square less 1 cancel near 1.
    rule<"Acosh">(wrt(keep::in0, [](const auto& c) { return c.dy() * (rsqrt(c.in(0) - 1) * rsqrt(c.in(0) + 1)); })),
    rule<"Atanh">(wrt(keep::in0, [](const auto& c) { return c.dy() / one_less_square(c.in(0)); })),
    rule<"Erf">(wrt(keep::in0, [](const auto& c) { return c.dy() * (exp(-square(c.in(0))) * two_over_sqrt_pi); })),
    rule<"Erfc">(wrt(keep::in0, [](const auto& c) { return c.dy() * (exp(-square(c.in(0))) * -two_over_sqrt_pi); })),
    rule<"Ceil">(wrt(keep::nothing, flat)),
    rule<"Floor">(wrt(keep::nothing, flat)),
    rule<"Round">(wrt(keep::nothing, flat)),
    rule<"Trunc">(wrt(keep::nothing, flat)),
    rule<"Relu">(wrt(keep::out0, [](const auto& c) { return relu_grad(c.dy(), c.out()); })),
    rule<"Relu6">(
        wrt(keep::in0,
            [](const auto& c) { return where(logical_and(c.in(0) > 0, c.in(0) <= 6), c.dy(), zeros_like(c.dy())); })),
    rule<"LeakyRelu">(
        wrt(keep::in0,
            [](const auto& c) { return where(c.in(0) > 0, c.dy(), c.dy() * c.template attr<"alpha">().as_number()); })),
    rule<"Elu">(wrt(keep::in0, [](const auto& c) { return c.dy() * exp(minimum(0, c.in(0))); })),
    rule<"Selu">(wrt(keep::in0,
                     [](const auto& c) {
                       const auto below = exp(minimum(0, c.in(0))) * selu_scale_alpha;
                       return c.dy() * where(c.in(0) > 0, ones_like(below) * selu_scale, below);
                     })),
    rule<"Gelu">(wrt(keep::in0 | keep::out0,
                     [](const auto& c) {
                       const auto x = c.in(0);
                       // The normal distribution function. Far below 0, where 1 + erf cancels, the result has its
                       // digits.
                       const auto by_erf = (erf(x * one_over_sqrt_two) + 1) * 0.5;
                       const auto below = where(x < -1, c.out() / minimum(x, -1), by_erf);
                       return c.dy() * (below + x * (exp(square(x) * -0.5) * one_over_sqrt_two_pi));
                     })),
    rule<"Silu">(wrt(keep::in0,
                     [](const auto& c) {
                       const auto s = sigmoid(c.in(0));
                       return c.dy() * s + sigmoid_grad(c.dy() * c.in(0), c.in(0));
                     })),
    rule<"Sigmoid">(wrt(keep::in0, [](const auto& c) { return sigmoid_grad(c.dy(), c.in(0)); })),
    rule<"Softplus">(wrt(keep::in0, [](const auto& c) { return c.dy() * sigmoid(c.in(0)); })),
    rule<"Step">(wrt(keep::nothing, flat)),
    // Inside the bounds and on them the result is the operand itself; NaN gets none.
    rule<"ClipByValue">(wrt(keep::in0 | keep::out0,
                            [](const auto& c) { return where(c.in(0) == c.out(), c.dy(), zeros_like(c.dy())); })),
    rule<"Add">(wrt(keep::nothing, [](const auto& c) { return c.reduced(0, c.dy()); }),
                wrt(keep::nothing, [](const auto& c) { return c.reduced(1, c.dy()); })),
    rule<"Sub">(wrt(keep::nothing, [](const auto& c) { return c.reduced(0, c.dy()); }),
                wrt(keep::nothing, [](const auto& c) { return c.reduced(1, -c.dy()); })),
    rule<"Multiply">(wrt(keep::in1, [](const auto& c) { return c.reduced(0, c.dy() * conj(c.in(1))); }),
                     wrt(keep::in0, [](const auto& c) { return c.reduced(1, c.dy() * conj(c.in(0))); })),
    rule<"RealDiv">(
        wrt(keep::in1, [](const auto& c) { return c.reduced(0, c.dy() / conj(c.in(1))); }),
        wrt(keep::in1 | keep::out0, [](const auto& c) { return c.reduced(1, -c.dy() * conj(c.out() / c.in(1))); })),
    rule<"FloorDiv">(wrt(keep::nothing, flat_a), wrt(keep::nothing, flat_b)),
    rule<"Mod">(wrt(keep::nothing, [](const auto& c) { return c.reduced(0, c.dy()); }),
                wrt(keep::in0 | keep::in1 | keep::out0, by_whole_quotient)),
    rule<"Fmod">(wrt(keep::nothing, [](const auto& c) { return c.reduced(0, c.dy()); }),
                 wrt(keep::in0 | keep::in1 | keep::out0, by_whole_quotient)),
    rule<"Copysign">(wrt(keep::in0 | keep::in1,
                         [](const auto& c) {
                           const auto side = copysign(ones_like(c.in(1)), c.in(1));
                           return c.reduced(0, c.dy() * (sign(c.in(0)) * side));
                         }),
                     wrt(keep::nothing, flat_b)),
    rule<"Maximum">(
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(0, where(c.in(0) >= c.in(1), c.dy(), zeros_like(c.dy()))); }),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(1, where(c.in(0) < c.in(1), c.dy(), zeros_like(c.dy()))); })),
    rule<"Minimum">(
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(0, where(c.in(0) <= c.in(1), c.dy(), zeros_like(c.dy()))); }),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(1, where(c.in(0) > c.in(1), c.dy(), zeros_like(c.dy()))); })),
    rule<"SquaredDifference">(
        wrt(keep::in0 | keep::in1, [](const auto& c) { return c.reduced(0, c.dy() * ((c.in(0) - c.in(1)) * 2)); }),
        wrt(keep::in0 | keep::in1, [](const auto& c) { return c.reduced(1, c.dy() * ((c.in(1) - c.in(0)) * 2)); })),
    // b * a^(b-1), and 0 for 0^0 and its like, where 0 would meet an infinite 1 / a. Wherever 1 / a is finite the
    // product stays: its derivative for b is not 0 at b = 0.
    rule<"Pow">(wrt(keep::in0 | keep::in1,
                    [](const auto& c) {
                      if (of_complex(c)) return c.reduced(0, c.dy() * conj(complex_slope_of_power(c.in(0), c.in(1))));
                      const auto outside = logical_and(c.in(1) == 0, logical_not(is_finite(1 / c.in(0))));
                      const auto base = where(outside, ones_like(c.in(0)), c.in(0));
                      const auto slope = c.in(1) * pow(base, c.in(1) - 1);
                      return c.reduced(0, c.dy() * where(outside, zeros_like(slope), slope));
                    }),
                // log(1) = 0 stands in where a <= 0, so that neither value nor second order sees log of 0.
                wrt(keep::in0 | keep::out0,
                    [](const auto& c) {
                      if (of_complex(c)) return c.reduced(1, c.dy() * conj(c.out() * log(not_zero(c.in(0)))));
                      const auto positive = where(c.in(0) > 0, c.in(0), ones_like(c.in(0)));
                      const auto slope = c.out() * log(positive);
                      return c.reduced(1, c.dy() * where(c.in(0) > 0, slope, zeros_like(slope)));
                    })),
    // Divided twice by the length: its square leaves the range.
    rule<"Atan2">(wrt(keep::in0 | keep::in1,
                      [](const auto& c) {
                        const auto length = hypot(c.in(0), c.in(1));
                        return c.reduced(0, c.dy() * (c.in(1) / length / length));
                      }),
                  wrt(keep::in0 | keep::in1,
                      [](const auto& c) {
                        const auto length = hypot(c.in(0), c.in(1));
                        return c.reduced(1, -c.dy() * (c.in(0) / length / length));
                      })),
    // Both operands are 0 if the result is: dividing by 1 gives 0.
    rule<"Hypot">(
        wrt(keep::in0 | keep::out0, [](const auto& c) { return c.reduced(0, c.dy() * (c.in(0) / not_zero(c.out()))); }),
        wrt(keep::in1 | keep::out0,
            [](const auto& c) { return c.reduced(1, c.dy() * (c.in(1) / not_zero(c.out()))); })),
    // log(1) = 0 stands in where a is 0 and b has no logarithm.
    rule<"Xlogy">(wrt(keep::in0 | keep::in1,
                      [](const auto& c) {
                        const auto outside = logical_and(c.in(0) == 0, c.in(1) <= 0);
                        return c.reduced(0, c.dy() * log(where(outside, ones_like(c.in(1)), c.in(1))));
                      }),
                  wrt(keep::in0 | keep::in1, [](const auto& c) { return c.reduced(1, c.dy() * (c.in(0) / c.in(1))); })),
    rule<"Prelu">(
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(0, where(c.in(0) > 0, c.dy(), c.dy() * c.in(1))); }),
        wrt(keep::in0,
            [](const auto& c) { return c.reduced(1, where(c.in(0) > 0, zeros_like(c.dy()), c.dy() * c.in(0))); })),
    rule<"ReluGrad">(wrt(keep::in1, [](const auto& c) { return c.reduced(0, relu_grad(c.dy(), c.in(1))); }),
                     wrt(keep::nothing, flat_b)),
    rule<"EluGrad">(
        wrt(keep::in1, [](const auto& c) { return c.reduced(0, elu_grad(c.dy(), c.in(1))); }),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(1, where(c.in(1) >= 0, zeros_like(c.dy()), c.dy() * c.in(0))); })),
    // The logarithmic derivative of s (1 - s) is 1 - 2 s = -tanh(x / 2), that of 1 - tanh(x)^2 is -2 tanh(x).
    rule<"SigmoidGrad">(wrt(keep::in1, [](const auto& c) { return c.reduced(0, sigmoid_grad(c.dy(), c.in(1))); }),
                        wrt(keep::in0 | keep::in1,
                            [](const auto& c) {
                              return c.reduced(1, -sigmoid_grad(c.dy() * c.in(0), c.in(1)) * tanh(c.in(1) * 0.5));
                            })),
    rule<"TanhGrad">(
        wrt(keep::in1, [](const auto& c) { return c.reduced(0, tanh_grad(c.dy(), c.in(1))); }),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return c.reduced(1, tanh_grad(c.dy() * c.in(0), c.in(1)) * (tanh(c.in(1)) * -2)); })),
    rule<"AddN">(wrt(keep::nothing, [](const auto& c) { return c.dy(); })),
    rule<"Select">(
        constant_operand(),
        wrt(keep::in0, [](const auto& c) { return c.reduced(1, where(c.in(0), c.dy(), zeros_like(c.dy()))); }),
        wrt(keep::in0, [](const auto& c) { return c.reduced(2, where(c.in(0), zeros_like(c.dy()), c.dy())); })),
});

}  // namespace kerngrad::rules
