// SPDX-License-Identifier: Apache-2.0
// A map that gives a mask where a vector is wanted.
// clang: no viable conversion from returned value of type
#define KERNGRAD_FILE "kernel_map_to_a_mask.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
#ifdef TWIN
KERNGRAD_MAP1(Positive, d, x) { return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1)); }
#else
KERNGRAD_MAP1(Positive, d, x) { return hn::Gt(x, hn::Zero(d)); }
#endif
KERNGRAD_UNARY(Positive, float32)
KERNGRAD_END
