// SPDX-License-Identifier: Apache-2.0
// The backends that are initialized, and the two words that say whether anything but the active one matters to calls.
// Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:live;

import :std;
import :core;
import :op;
import :launch;
import :table;
import :storage;
import :entry;
import :backend;

namespace kerngrad::detail {

/// A backend that is initialized.
struct live_backend {
  std::string name;
  int priority = 0;
  int table = -1;  // of the built-in kernels; -1: another backend
  std::shared_ptr<storage> memory;
  std::shared_ptr<const kernel_table> own_table;  // of a backend that was registered with one

  /// The kernel of an op in the backend's table, if it has one; null where there is none.
  const kernel_slot* slot(const op_entry& op, dtype type) const {
    const kernel_slot* found =
        table >= 0 ? &op.kernel(table, type)
        : own_table && op.id >= 0
            ? &(*own_table)[static_cast<std::size_t>(op.id * dtype_count + static_cast<int>(type))]
            : nullptr;
    return found && found->exists() ? found : nullptr;
  }
};

/// The built-in table that calls run on when nothing but that matters: no thread has a scope of its own, no
/// hook is installed, every buffer has an address on the host. Below 0 otherwise: the slow path checks for each.
extern std::atomic<int> fast_path_table;
inline int fast_table() { return fast_path_table.load(); }
/// The same for the direct path of small calls, which takes a block from the thread's cache itself: below 0 also while
/// there is a memory limit or an allocator of the caller's.
extern std::atomic<int> direct_path_table [[gnu::visibility("hidden")]];
/// Reading it acquires the addresses of buffers that other threads have fetched: note_home() released them.
inline int direct_table() { return direct_path_table.load(); }
/// True if the fast path leads to the SIMD kernels.
inline bool on_simd() { return fast_table() == 0; }

/// The backend that this thread's calls run on.
std::shared_ptr<const live_backend> backend_here();
/// The live backends that kernels fall back to, the highest priority first; others are made for it.
std::vector<std::shared_ptr<const live_backend>> fallback_chain(const live_backend& from);

bool is_alive(std::string_view name);
/// The table that a backend was registered with, whether it is initialized or not; null for others.
std::shared_ptr<const kernel_table> own_table_of(std::string_view name);
/// One thread at a time changes backends and registry. Held while hooks and factories run, which may change more, from
/// the same thread; never while a call runs, which asks the snapshot. States of the registry that were replaced
/// meanwhile are freed after the outermost has gone: what they hold may be a library, and the dynamic linker that
/// unmaps it has a lock of its own.
struct changes_lock {
  changes_lock();
  ~changes_lock();
  changes_lock(const changes_lock&) = delete;
  changes_lock& operator=(const changes_lock&) = delete;
};

/// While anything else than the active backend matters to calls: a scope, a hook, elements that are away. Each leaving
/// is ended by one return.
void leave_fast_path() noexcept;
void return_to_fast_path() noexcept;
/// Counts buffers whose elements are in a storage only: while there are any, calls leave the fast path. A backend
/// with a storage is no reason by itself. Note a buffer as away before another thread can see it.
void note_away() noexcept;
/// Each note_away() is ended by one call: when the elements have been fetched, or the buffer is released.
void note_home() noexcept;
/// While allocations have to look further than the caches.
void leave_direct_path() noexcept;
void return_to_direct_path() noexcept;

}  // namespace kerngrad::detail
