// SPDX-License-Identifier: Apache-2.0
// The kernel header a second time, as from a header next to the .cc.
// error: kerngrad/kernel.h is included twice: include it once, in the .cc that KERNGRAD_FILE names and in no header
#define KERNGRAD_FILE "kernel_header_twice.cc"
#include <kerngrad/kernel.h>
#ifndef TWIN
#include <kerngrad/kernel.h>
#endif
