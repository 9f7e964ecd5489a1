// SPDX-License-Identifier: Apache-2.0
// A kernel file that does not say its own name.
// error: define KERNGRAD_FILE, the name of this .cc as an #include finds it, before the #include
#ifdef TWIN
#define KERNGRAD_FILE "kernel_without_file_name.cc"
#endif
#include <kerngrad/kernel.h>
