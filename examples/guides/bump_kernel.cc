// SPDX-License-Identifier: Apache-2.0
#define KERNGRAD_FILE "bump_kernel.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
// exp(-x * x)
KERNGRAD_LONG_MAP1(Bump, d, x) { return math::Exp(d, hn::Neg(hn::Mul(x, x))); }
KERNGRAD_UNARY(Bump, float32)
KERNGRAD_END
