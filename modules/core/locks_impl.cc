// SPDX-License-Identifier: Apache-2.0
module;
#include <pthread.h>
#include <mutex>
#include "kernels/common/abi.h"
#include "kernels/common/tls_model.h"
module kerngrad;

import :locks;

namespace kerngrad::detail {
namespace {

constexpr std::size_t lock_count = static_cast<std::size_t>(lock_of::count);

// Each on a cache line of its own. Plain mutexes with a count next to them: a recursive one knows its owner by a number
// that is another one in a forked process, and could not be given back there.
struct alignas(64) one_lock {
  std::mutex mutex;
};
constinit one_lock locks[lock_count];
KG_INITIAL_EXEC constinit thread_local std::uint32_t taken[lock_count] = {};

// Before a fork the forking thread waits for its turn with each lock: whatever they protect is whole in both processes.
void take_all() {
  for (std::size_t i = 0; i < lock_count; ++i) take(static_cast<lock_of>(i));
}
void give_all() {
  for (std::size_t i = lock_count; i-- > 0;) give(static_cast<lock_of>(i));
}
[[maybe_unused]] const int told_system = pthread_atfork(take_all, give_all, give_all);

}  // namespace

void take(lock_of which) {
  const std::size_t i = static_cast<std::size_t>(which);
  if (taken[i] == 0) locks[i].mutex.lock();
  ++taken[i];
}

void give(lock_of which) noexcept {
  const std::size_t i = static_cast<std::size_t>(which);
  if (--taken[i] == 0) locks[i].mutex.unlock();
}

std::uint32_t times_taken(lock_of which) noexcept { return taken[static_cast<std::size_t>(which)]; }

}  // namespace kerngrad::detail
