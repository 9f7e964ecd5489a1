// SPDX-License-Identifier: Apache-2.0
// A block of kernels that is not closed.
// error: KERNGRAD_BEGIN without KERNGRAD_END
#define KERNGRAD_FILE "kernel_without_end.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
KERNGRAD_MAP1(Negative, d, x) { return hn::Neg(x); }
KERNGRAD_UNARY(Negative, float32)
#ifdef TWIN
KERNGRAD_END
#endif
