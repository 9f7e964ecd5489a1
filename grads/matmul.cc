// SPDX-License-Identifier: Apache-2.0
// The gradient rule of the matrix product.
module;
#include "kernels/common/abi.h"
export module kerngrad:grads_matmul;

import :std;
import :core;
import :rule;
import :ops;

namespace kerngrad::rules {

// With C = A B: dA = dC B^T and dB = A^T dC, each with the transpositions of the call undone.
inline constexpr auto matmul_rules = family_rules(std::tuple{
    rule<"BatchMatMul">(
        wrt(keep::in1,
            [](const auto& c) {
              const bool ta = c.template attr<"transposeA">().as_bool(), tb = c.template attr<"transposeB">().as_bool();
              return c.reduced(0, ta ? matmul(c.in(1), c.dy(), tb, true) : matmul(c.dy(), c.in(1), false, !tb));
            }),
        wrt(keep::in0,
            [](const auto& c) {
              const bool ta = c.template attr<"transposeA">().as_bool(), tb = c.template attr<"transposeB">().as_bool();
              return c.reduced(1, tb ? matmul(c.dy(), c.in(0), true, ta) : matmul(c.in(0), c.dy(), !ta, false));
            })),
});

}  // namespace kerngrad::rules
