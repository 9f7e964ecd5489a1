// SPDX-License-Identifier: Apache-2.0
// This header as other systems have it.
#include_next <sched.h>
#pragma GCC poison sched_getaffinity sched_setaffinity CPU_COUNT CPU_ZERO
