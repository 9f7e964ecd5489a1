// SPDX-License-Identifier: Apache-2.0
// Sources and limits of the memory of tensors; docs/memory.md. memory(), next to the tensor, counts memory in use.
module;
#include "kernels/common/abi.h"
export module kerngrad:memory;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Stands for no limit in `set_memory_limit`.
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Sets the limit for the bytes of all tensors together; `unlimited` removes it. A request beyond it throws an `error`
/// with the requested and the remaining bytes. Existing tensors stay. While there is a limit, blocks that are kept for
/// reuse count as well, and each allocation takes a lock. Kept blocks never cause a rejection: the library returns them
/// to the system first. Throws for a negative number.
void set_memory_limit(std::int64_t bytes);
/// The current limit of `set_memory_limit` in bytes; `unlimited` at the start.
std::int64_t memory_limit();

/// Limits the memory of the thread that made it, as long as the object exists: the thread may hold at most `bytes` more
/// than before. A request beyond that throws an `error` that ends with `advice`. The limit of `set_memory_limit` also
/// applies. Budgets nest, and an inner one cannot allow more than an outer one. Memory of other threads does not count.
/// While there is a budget, allocations of all threads take a lock. Throws for a negative number.
class memory_budget {
 public:
  explicit memory_budget(std::int64_t bytes, std::string_view advice = {});
  ~memory_budget();
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

 private:
  std::shared_ptr<void> here_;
};

/// Counts memory that your program takes elsewhere, such as a cache, as if it were elements of tensors. It counts as
/// long as the object lives: under `set_memory_limit`, under the thread's `memory_budget`, and in `memory()`.
class counted_memory {
 public:
  counted_memory() = default;
  /// Counts that many bytes. Throws if they would exceed a limit, and for a negative number.
  explicit counted_memory(std::int64_t bytes) { resize(bytes); }
  ~counted_memory();
  counted_memory(counted_memory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  counted_memory& operator=(counted_memory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  std::int64_t bytes() const { return bytes_; }
  /// Changes the number of bytes. If that throws, the old number stays.
  void resize(std::int64_t bytes);

 private:
  std::int64_t bytes_ = 0;
};

/// Sets the limit for freed blocks above 64 KiB that wait for reuse, in bytes. Blocks beyond it are returned to the
/// system. Smaller blocks are kept by each thread, at most 64 of a size. Throws for a negative number. The default is a
/// quarter of the machine's memory, at most 2 GiB.
void set_cache_limit(std::int64_t bytes);
/// The current limit of `set_cache_limit`, in bytes.
std::int64_t cache_limit();

/// Your own allocator: two functions and a context. Any thread can use it without a lock.
struct allocator_hooks {
  /// Returns a block of at least `bytes`, aligned to 64. Null means that there is none; the caller of the op then gets
  /// an `error`.
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  /// Takes back a block that `allocate` gave, with the same number of bytes; any thread may call it.
  void (*release)(void* context, void* block, std::size_t bytes) = nullptr;
  void* context = nullptr;

  bool operator==(const allocator_hooks&) const = default;
};
/// Takes the blocks of tensors from your allocator from now on, in all threads; `{}` returns to the library's own. Each
/// block is released by the allocator that it came from. So the context must live until the last tensor with such a
/// block is gone. Blocks of your allocator are not kept for reuse. Throws if one of the functions is missing.
void set_allocator(const allocator_hooks& hooks);

/// Counts of the library's own allocator, over all threads, as `allocations()` returns them.
struct allocator_info {
  std::int64_t system_bytes = 0;   ///< held from the system: in use, kept for reuse, and rounding
  std::int64_t huge_bytes = 0;     ///< the part of it in blocks that ask for huge pages
  std::int64_t system_blocks = 0;  ///< blocks held from the system
  std::int64_t system_calls = 0;   ///< blocks that were asked of the system since the start, because no cache had one
  std::int64_t trimmed_bytes = 0;  ///< returned to the system since the start, because it was not reused
  std::int64_t hooked_bytes = 0;   ///< held from the allocators of set_allocator
};
/// The current counts of the library's allocator, over all threads.
allocator_info allocations();

}  // namespace kerngrad
