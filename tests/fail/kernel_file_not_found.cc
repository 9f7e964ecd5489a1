// SPDX-License-Identifier: Apache-2.0
// A file name that no include folder has.
// error: KERNGRAD_FILE is not found: add the folder of the .cc to the include folders
#ifdef TWIN
#define KERNGRAD_FILE "kernel_file_not_found.cc"
#else
#define KERNGRAD_FILE "elsewhere/kernel_file_not_found.cc"
#endif
#include <kerngrad/kernel.h>
