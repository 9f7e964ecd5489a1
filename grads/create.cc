// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops that create elements after the shape of an operand: nothing flows back.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_create;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

inline constexpr auto nothing_flows = [](const auto& c) { return c.zeros(0); };

inline constexpr auto create_rules = family_rules(rule_list{
    rule<"ZerosLike">(wrt(keep::nothing, nothing_flows)),
    rule<"OnesLike">(wrt(keep::nothing, nothing_flows)),
});

}  // namespace kerngrad::rules
