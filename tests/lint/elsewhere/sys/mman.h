// SPDX-License-Identifier: Apache-2.0
// This header as other systems have it.
#include_next <sys/mman.h>
#undef MADV_HUGEPAGE
#pragma GCC poison madvise
