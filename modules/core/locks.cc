// SPDX-License-Identifier: Apache-2.0
// The locks of the library, known inside it only. They are in one file so that a fork can take them all: a forked
// process has the thread that forked and no other, so what another thread had locked would stay locked in it.
module;
#include "kernels/common/abi.h"
module kerngrad:locks;

import :std;

namespace kerngrad::detail {

/// Objects of locks, in the order in which a thread may take several.
enum class lock_of : std::uint8_t {
  changes,   ///< backends, registry and packs while they change; held while hooks and factories run
  moving,    ///< copies of elements in storages; held while a storage reads and writes
  watchers,  ///< the list of hooks
  limits,    ///< settings of the allocator
  callers,   ///< the pool of the caller's
  blocks,    ///< blocks and counters that threads share
  count
};

/// Waits for a lock and takes it. The thread that has it may take it again, and has it until it gave it back as often.
void take(lock_of which);
void give(lock_of which) noexcept;
/// How often this thread has taken it.
std::uint32_t times_taken(lock_of which) noexcept;

/// Has a lock as long as it lives.
class library_lock {
 public:
  explicit library_lock(lock_of which) : which_(which) { take(which); }
  ~library_lock() { give(which_); }
  library_lock(const library_lock&) = delete;
  library_lock& operator=(const library_lock&) = delete;

 private:
  lock_of which_;
};

}  // namespace kerngrad::detail
