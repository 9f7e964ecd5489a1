// SPDX-License-Identifier: Apache-2.0
// This header as other systems have it.
#include_next <sched.h>
#undef CPU_COUNT
#undef CPU_ZERO
#pragma GCC poison sched_getaffinity
