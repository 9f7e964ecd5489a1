// SPDX-License-Identifier: Apache-2.0
// A header of Highway before the kernel header, which has to choose the targets.
// error: kerngrad/kernel.h: include it before the headers of Highway
#ifndef TWIN
#include "hwy/highway.h"
#endif
#define KERNGRAD_FILE "kernel_after_highway.cc"
#include <kerngrad/kernel.h>
