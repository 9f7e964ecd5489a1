// SPDX-License-Identifier: Apache-2.0
// A parameter beyond the two that a kernel is given.
// error: a_kernel_has_the_parameters_0_and_1_only
#define KERNGRAD_FILE "kernel_third_parameter.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
#ifdef TWIN
KERNGRAD_MAP1_WITH_PARAMS(Shift, d, x, params) { return hn::Add(x, hn::Set(d, params[1])); }
#else
KERNGRAD_MAP1_WITH_PARAMS(Shift, d, x, params) { return hn::Add(x, hn::Set(d, params[2])); }
#endif
KERNGRAD_UNARY_WITH_PARAMS(Shift, float32)
KERNGRAD_END
