// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the softmax family.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_softmax;

import :std;
import :core;
import :rule;
import :ops;
import :grads_reduce;

namespace kerngrad::rules {

inline constexpr auto softmax_rules = family_rules(rule_list{
    rule<"Softmax">(wrt(keep::out0,
                        [](const auto& c) {
                          const int axis = static_cast<int>(c.template attr<"dim">().as_integer());
                          if (c.dims(0).rank() == 0) return zeros_like(c.dy());
                          return c.out() * (c.dy() - sum(c.dy() * c.out(), axis, true));
                        })),
    rule<"LogSoftmax">(wrt(keep::out0,
                           [](const auto& c) {
                             const int axis = static_cast<int>(c.template attr<"axis">().as_integer());
                             if (c.dims(0).rank() == 0) return zeros_like(c.dy());
                             return c.dy() - exp(c.out()) * sum(c.dy(), axis, true);
                           })),
    // The softmax. exp(x - out) is not: the result may be off by a unit in its last place, which can be more than 1.
    rule<"LogSumExp">(wrt(keep::in0,
                          [](const auto& c) {
                            const attr_value& axis = c.template attr<"axis">();
                            const auto weights = call<"Softmax">(c.in(0), attr<"dim">(axis));
                            return weights * reshape(c.dy(), kept_dims(c.dims(0), axis));
                          })),
    // Labels need not add up to one: the softmax is weighted by their sum.
    rule<"SoftmaxCrossEntropy">(
        wrt(keep::in0 | keep::in1,
            [](const auto& c) {
              const auto pull = softmax(c.in(0)) * sum(c.in(1), -1, true) - c.in(1);
              return expand_dims(c.dy(), -1) * pull;
            }),
        wrt(keep::in0, [](const auto& c) { return -expand_dims(c.dy(), -1) * log_softmax(c.in(0)); })),
});

}  // namespace kerngrad::rules
