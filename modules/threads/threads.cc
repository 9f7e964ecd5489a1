// SPDX-License-Identifier: Apache-2.0
// How many threads one call may use, and whose they are; docs/threads.md.
module;
#include "kernels/common/abi.h"
export module kerngrad:threads;

import :std;
import :core;

export namespace kerngrad {

/// Lets the library use that many threads for one call, the calling one among them, from the next call on and in all
/// threads; 0 stands for as many as the process may run on. Throws for numbers below 0 or above 1024. Results are
/// bitwise identical for any number. The default is 1, or what the environment variable KERNGRAD_NUM_THREADS says.
void set_num_threads(int count);
/// The number that calls use now.
int num_threads();

/// Runs task(0), ..., task(count - 1), each once, on threads of its choice, in any order and at the same time, and
/// returns when all have returned. It may be called from several threads at once. Tasks throw nothing. Large work that
/// the function or a task runs itself is run in order by its thread.
using thread_pool = std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;
/// Uses a pool of the caller's in place of the library's own, while num_threads() is more than 1; an empty function
/// returns to the library's. Calls that run now finish on the pool that they began with, which is kept until then.
/// An exception of the pool reaches the caller of the op when the tasks that have begun have ended. Throws `error` from
/// the op if the pool skips a task, runs one twice, or requests an invalid index. A task that begins after its call has
/// ended does nothing.
void set_thread_pool(thread_pool run);

}  // namespace kerngrad
