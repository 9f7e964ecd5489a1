// SPDX-License-Identifier: Apache-2.0
// Blocks of memory as the cache of modules/tensor/allocator_impl.cc gets them: from the system or from an allocator of
// the caller's. Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:blocks;

import :std;
import :core;
import :memory;

namespace kerngrad::detail {

/// Not zero while an allocation has to look further than the caches: there is a limit or an allocator of the caller's.
inline std::atomic<int> allocation_specials{0};

/// A block of the system's, 64-byte aligned; from huge_least bytes on in pages of 2 MiB where the system has them. Null
/// when there is none. Under a sanitizer there are `exact` bytes only, so that the block ends where its elements do.
void* system_take(std::size_t bytes, std::size_t exact) noexcept;
/// Takes back a block of system_take of that size.
void system_give(void* block, std::size_t bytes) noexcept;
/// Blocks of that many bytes and more are mapped by themselves, to be backed by huge pages.
inline constexpr std::size_t huge_least = std::size_t{4} << 20;

/// A block of the caller's allocator; null when there is no such allocator now. Throws when it has none to give.
void* hooked_take(std::size_t bytes);
/// Takes back a block of hooked_take.
void hooked_give(void* block) noexcept;

/// Counts what was returned to the system unasked.
void count_trimmed(std::size_t bytes) noexcept;

/// The limit on elements in use, and the one on blocks kept for reuse.
std::int64_t live_limit() noexcept;
std::int64_t kept_limit() noexcept;
/// Returns blocks kept for reuse until they fit the limit: called when that was lowered.
void shrink_cache() noexcept;

}  // namespace kerngrad::detail
