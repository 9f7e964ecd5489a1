// SPDX-License-Identifier: Apache-2.0
// An entry behind the end of the block that holds its map.
// error: KERNGRAD_UNARY stands between KERNGRAD_BEGIN and KERNGRAD_END
#define KERNGRAD_FILE "kernel_outside_of_block.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
KERNGRAD_MAP1(Negative, d, x) { return hn::Neg(x); }
#ifdef TWIN
KERNGRAD_UNARY(Negative, float32)
#endif
KERNGRAD_END
#ifndef TWIN
KERNGRAD_UNARY(Negative, float32)
#endif
