// SPDX-License-Identifier: Apache-2.0
// How many threads one call may use, and whose they are; docs/threads.md.
module;
#include "kernels/common/abi.h"
export module kerngrad:threads;

import :std;
import :core;

export namespace kerngrad {

/// Sets the number of threads for one call, the calling one included, for all threads from the next call on. 0 stands
/// for as many as the process may run on. Throws for numbers below 0 or above 1024. Results are bitwise identical for
/// any number. The default is 1, unless the environment variable KERNGRAD_NUM_THREADS sets another one.
void set_num_threads(int count);
/// The current number of threads for one call.
int num_threads();

/// A thread pool of your own, for `set_thread_pool`: a function that runs task(0), ..., task(count - 1), each once, in
/// any order and in parallel. It returns when all tasks have returned. Several threads may call it at once. Tasks do
/// not throw. Ops that the function or a task calls do not use the pool again: each of them runs on one thread.
using thread_pool = std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;
/// Uses your thread pool in place of the library's own, while num_threads() is above 1; an empty function returns to
/// the library's. Running calls finish on the pool that they began with, which is kept until then. If the pool throws,
/// the exception reaches the caller of the op after all begun tasks have ended. The op throws `error` if the pool skips
/// a task, runs one twice, or requests an invalid index. A task that begins after its call has ended does nothing.
void set_thread_pool(thread_pool run);

}  // namespace kerngrad
