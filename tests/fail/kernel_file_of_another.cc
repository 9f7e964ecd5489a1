// SPDX-License-Identifier: Apache-2.0
// The file name of the kernel that this one was copied from.
// error: KERNGRAD_FILE names another file than the one that it is defined in
#ifdef TWIN
#define KERNGRAD_FILE "kernel_file_of_another.cc"
#else
#define KERNGRAD_FILE "softshrink.cc"
#endif
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
KERNGRAD_MAP1(Negative, d, x) { return hn::Neg(x); }
KERNGRAD_UNARY(Negative, float32)
KERNGRAD_END
