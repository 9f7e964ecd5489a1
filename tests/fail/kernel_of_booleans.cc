// SPDX-License-Identifier: Apache-2.0
// A dtype that such kernels do not compute in.
// error: KERNGRAD_UNARY: kernels compute in float32, float64, int32, int64 or uint8, not in boolean
#define KERNGRAD_FILE "kernel_of_booleans.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
KERNGRAD_MAP1(Same, d, x) { return x; }
#ifdef TWIN
KERNGRAD_UNARY(Same, uint8)
#else
KERNGRAD_UNARY(Same, boolean)
#endif
KERNGRAD_END
