// SPDX-License-Identifier: Apache-2.0
// A map of two operands as a kernel of one.
// error: KERNGRAD_UNARY(Sum, ...) wants a KERNGRAD_MAP1
#define KERNGRAD_FILE "kernel_map_of_two_operands.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
KERNGRAD_MAP2(Sum, d, a, b) { return hn::Add(a, b); }
#ifdef TWIN
KERNGRAD_BINARY(Sum, float32)
#else
KERNGRAD_UNARY(Sum, float32)
#endif
KERNGRAD_END
