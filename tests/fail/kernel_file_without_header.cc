// SPDX-License-Identifier: Apache-2.0
// A file name that is not the one of a kernel file.
// error: the file of KERNGRAD_FILE did not include it: it has to be the .cc that is compiled
#ifdef TWIN
#define KERNGRAD_FILE "kernel_file_without_header.cc"
#else
#define KERNGRAD_FILE "kernels.h"
#endif
#include <kerngrad/kernel.h>
