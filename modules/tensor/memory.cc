// SPDX-License-Identifier: Apache-2.0
// Sources and limits of the memory of tensors; docs/memory.md. memory(), next to the tensor, counts memory in use.
module;
#include "kernels/common/abi.h"
export module kerngrad:memory;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// No limit.
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The most bytes that the elements of all tensors may take together. A request that would pass it throws an `error`
/// that says what was asked for and what is left; tensors that exist stay. While there is a limit, blocks kept for
/// reuse count as well, and are returned to the system before anything is rejected, and an allocation takes a lock.
/// Throws for a negative number.
void set_memory_limit(std::int64_t bytes);
/// The limit active, `unlimited` at the start.
std::int64_t memory_limit();

/// A limit on one thread's own elements while it lives: what this thread takes may pass what it held before by `bytes`
/// at most. A request that would pass it throws as by set_memory_limit, which holds as well; the error ends with
/// `advice`. Budgets nest, and an inner one cannot allow more than an outer one. Memory that other threads take does
/// not count. While there is a budget, allocations of all threads take a lock. Throws for a negative number.
class memory_budget {
 public:
  explicit memory_budget(std::int64_t bytes, std::string_view advice = {});
  ~memory_budget();
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

 private:
  std::shared_ptr<void> here_;
};

/// Counts memory that a program takes elsewhere, such as a cache of its own, as if it were elements: under
/// set_memory_limit and the thread's memory_budget, and in memory(), as long as the object lives.
class counted_memory {
 public:
  counted_memory() = default;
  /// Throws an `error` where so many bytes would pass a limit, and for a negative number.
  explicit counted_memory(std::int64_t bytes) { resize(bytes); }
  ~counted_memory();
  counted_memory(counted_memory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  counted_memory& operator=(counted_memory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  std::int64_t bytes() const { return bytes_; }
  /// Counts another number of bytes from now on. If that throws, the number stays.
  void resize(std::int64_t bytes);

 private:
  std::int64_t bytes_ = 0;
};

/// The most bytes that freed blocks above 64 KiB may take while they wait for reuse; what is above is returned to the
/// system. Smaller ones are kept by each thread, at most 64 of a size. Throws for a negative number. The default is a
/// quarter of the machine's memory, at most 2 GiB.
void set_cache_limit(std::int64_t bytes);
/// The limit active.
std::int64_t cache_limit();

/// An allocator of the caller's: three plain values, so that any thread can use it without a lock.
struct allocator_hooks {
  /// A block of at least `bytes`, aligned to 64; null when there is none, which the caller of the op gets as an
  /// `error`.
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  /// Takes back a block that `allocate` gave, with the same number of bytes; any thread may call it.
  void (*release)(void* context, void* block, std::size_t bytes) = nullptr;
  void* context = nullptr;

  bool operator==(const allocator_hooks&) const = default;
};
/// Takes the blocks of tensors from the caller's allocator from now on, in all threads; `{}` returns to the library's
/// own. Each block goes back to where it came from, whatever has been set since, so the context has to live as long as
/// its last tensor. Blocks of the caller's are not kept for reuse. Throws when one of the functions is missing.
void set_allocator(const allocator_hooks& hooks);

/// Counts of the library's own allocator, over all threads.
struct allocator_info {
  std::int64_t system_bytes = 0;   ///< held from the system: in use, kept for reuse, and rounding
  std::int64_t huge_bytes = 0;     ///< the part of it in blocks that ask for huge pages
  std::int64_t system_blocks = 0;  ///< blocks held from the system
  std::int64_t system_calls = 0;   ///< blocks that were asked of the system since the start: what no cache had
  std::int64_t trimmed_bytes = 0;  ///< returned to the system by itself since the start, because it was not reused
  std::int64_t hooked_bytes = 0;   ///< held from allocators of the caller's
};
/// The counts as they are now, of all threads.
allocator_info allocations();

}  // namespace kerngrad
