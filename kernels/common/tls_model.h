// SPDX-License-Identifier: Apache-2.0
// How words of a thread's own (kernels/common/per_thread.h) are reached: `KG_INITIAL_EXEC constinit thread_local bool
// busy = false;` takes one load. If object files are not ELF, the macro is nothing: each access may be a call, and
// all else stays as it is. Modules do not export macros: who uses it includes this.
#pragma once

#if defined(__ELF__)
#define KG_INITIAL_EXEC [[gnu::tls_model("initial-exec")]]
#else
#define KG_INITIAL_EXEC
#endif
