// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the conversions between dtypes, and between complex numbers and their parts.
module;
#include "kernels/common/abi.h"
export module kerngrad:grads_convert;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

inline constexpr auto convert_rules = family_rules(rule_list{
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
