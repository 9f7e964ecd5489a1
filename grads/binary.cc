// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the elementwise ops of two and three operands and of the conversions. c.reduced(i, g) adds up
// what operand i was broadcast over. Complex operands: for a holomorphic f the gradient is dy * conj(f'(x)), so that
// stepping against it lowers a real loss.
module;
#include "kernels/abi.h"
export module kerngrad:grads_binary;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

inline constexpr auto flat_a = [](const auto& c) { return c.zeros(0); };
inline constexpr auto flat_b = [](const auto& c) { return c.zeros(1); };

inline constexpr auto binary =
    family_rules(std::tuple{
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
                    wrt(keep::in0 | keep::in1,
                        [](const auto& c) { return c.reduced(1, -c.dy() * floor_div(c.in(0), c.in(1))); })),
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
        // b * a^(b-1), and 0 where b is 0, which keeps 0^0 from making a NaN.
        rule<"Pow">(wrt(keep::in0 | keep::in1,
                        [](const auto& c) {
                          const auto slope = c.in(1) * pow(c.in(0), c.in(1) - 1);
                          return c.reduced(0, c.dy() * where(c.in(1) == 0, zeros_like(slope), slope));
                        }),
                    // log(1) = 0 stands in where a <= 0, so that neither value nor second order sees log of 0.
                    wrt(keep::in0 | keep::out0,
                        [](const auto& c) {
                          const auto positive = where(c.in(0) > 0, c.in(0), ones_like(c.in(0)));
                          const auto slope = c.out() * log(positive);
                          return c.reduced(1, c.dy() * where(c.in(0) > 0, slope, zeros_like(slope)));
                        })),
        rule<"Atan2">(
            wrt(keep::in0 | keep::in1,
                [](const auto& c) { return c.reduced(0, c.dy() * (c.in(1) / (square(c.in(0)) + square(c.in(1))))); }),
            wrt(keep::in0 | keep::in1,
                [](const auto& c) { return c.reduced(1, -c.dy() * (c.in(0) / (square(c.in(0)) + square(c.in(1))))); })),
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
        rule<"AddN">(wrt(keep::nothing, [](const auto& c) { return c.dy(); })),
    });

inline constexpr auto convert = family_rules(std::tuple{
    rule<"Select">(
        constant_operand(),
        wrt(keep::in0, [](const auto& c) { return c.reduced(1, where(c.in(0), c.dy(), zeros_like(c.dy()))); }),
        wrt(keep::in0, [](const auto& c) { return c.reduced(2, where(c.in(0), zeros_like(c.dy()), c.dy())); })),
    rule<"Cast">(wrt(keep::nothing, [](const auto& c) { return cast(c.dy(), c.type(0)); })),
    rule<"Complex">(wrt(keep::nothing, [](const auto& c) { return real(c.dy()); }),
                    wrt(keep::nothing, [](const auto& c) { return imag(c.dy()); })),
    rule<"Real">(wrt(keep::nothing, [](const auto& c) { return complex(c.dy(), zeros_like(c.dy())); })),
    rule<"Imag">(wrt(keep::nothing, [](const auto& c) { return complex(zeros_like(c.dy()), c.dy()); })),
    rule<"ComplexAbs">(wrt(keep::in0 | keep::out0,
                           [](const auto& c) {
                             const auto ratio = where(c.out() == 0, zeros_like(c.dy()),
                                                      c.dy() / where(c.out() == 0, ones_like(c.out()), c.out()));
                             return complex(real(c.in(0)) * ratio, imag(c.in(0)) * ratio);
                           })),
});

}  // namespace kerngrad::rules
