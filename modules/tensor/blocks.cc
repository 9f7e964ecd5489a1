// SPDX-License-Identifier: Apache-2.0
// Blocks of memory as the cache of modules/tensor/allocator_impl.cc gets them, from the system or from an allocator of
// the caller's; and what each thread keeps of them, which calls on small tensors take without a call. Known inside the
// library only.
module;
#include "kernels/common/abi.h"
#include "kernels/common/tls_model.h"
module kerngrad:blocks;

import :std;
import :core;
import :tensor;
import :memory;

namespace kerngrad::detail {

/// Not zero while an allocation has to look further than the caches: there is a limit, a budget or an
/// allocator of the caller's.
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

/// Adds to the bytes in use what is no tensor's, or throws where the limit does not allow it; and takes that back.
void count_bytes(std::int64_t bytes);
void uncount_bytes(std::int64_t bytes) noexcept;

/// Counts what was returned to the system unasked.
void count_trimmed(std::size_t bytes) noexcept;

/// Budgets of threads: rejects bytes that pass one of this thread's, which holds so many. Entered and left by
/// memory_budget.
void spend_budgets(std::int64_t held, std::int64_t bytes);
std::shared_ptr<void> enter_budget(std::int64_t held, std::int64_t bytes, std::string_view advice);
void leave_budget(const std::shared_ptr<void>& scope) noexcept;

/// The limit on elements in use, and the one on blocks kept for reuse.
std::int64_t live_limit() noexcept;
std::int64_t kept_limit() noexcept;
/// Returns blocks kept for reuse until they fit the limit: called when that was lowered.
void shrink_cache() noexcept;

// ------------------------------------------------------------------------------------------ what a thread keeps

inline constexpr std::size_t header_bytes = 192;  // a multiple of 64 that holds a buffer
static_assert(sizeof(buffer) <= header_bytes);

/// Size classes: four to each power of two from 256 bytes, so that at most a fifth of a block is wasted.
inline constexpr int class_count = 4 * 50;
constexpr std::size_t class_bytes(int index) {
  return (std::size_t{4} + static_cast<std::size_t>(index) % 4) << (6 + index / 4);
}
constexpr int class_of(std::size_t bytes) {
  if (bytes <= 256) return 0;
  const int top = 63 - __builtin_clzll(bytes - 1);
  const int quarter = static_cast<int>((bytes - 1) >> (top - 2)) & 3;
  return (top - 8) * 4 + quarter + 1;
}
static_assert(class_of(256) == 0 && class_of(257) == 1 && class_bytes(1) == 320 && class_of(320) == 1 &&
              class_of(321) == 2);
/// No class: the block is of an allocator of the caller's, or larger than any. Nothing is ever kept of it.
inline constexpr int no_class = class_count;

/// Part of a buffer's description in one word: two of one form and as many bytes have one size, too.
constexpr std::uint32_t form_of(dtype type, const shape& dims, int size_class) {
  return static_cast<std::uint32_t>(type) | static_cast<std::uint32_t>(dims.rank()) << 8 |
         static_cast<std::uint32_t>(size_class) << 16;
}
constexpr dtype type_in(std::uint32_t form) { return static_cast<dtype>(form & 0xff); }
constexpr int class_in(std::uint32_t form) { return static_cast<int>(form >> 16); }
/// True if two buffers have one dtype and one shape. Up to rank 1 the size says it; sizes beyond the rank are 0.
inline bool of_one_form(const buffer* a, const buffer* b) {
  constexpr std::uint32_t more_axes = 0xfe00;
  if (a->form != b->form || a->bytes != b->bytes) return false;
  if (!(a->form & more_axes)) return true;
  std::int64_t differ = 0;
  for (int i = 0; i < max_rank; ++i) differ |= a->dims.begin()[i] ^ b->dims.begin()[i];
  return differ == 0;
}
inline void describe(buffer* b, dtype type, const shape& dims, std::uint32_t form, std::int64_t bytes) {
  b->type = type;
  b->form = form;
  b->bytes = bytes;
  b->dims = dims;
}

/// Written by one thread at a time, read by others at any time.
class counter {
 public:
  counter() = default;
  counter(const counter& other) noexcept : value_(static_cast<std::size_t>(other)) {}
  counter& operator=(const counter& other) noexcept {
    value_.store(other, std::memory_order_relaxed);
    return *this;
  }
  inline operator std::size_t() const noexcept { return value_.load(std::memory_order_relaxed); }
  inline void operator++() noexcept { value_.store(*this + 1, std::memory_order_relaxed); }
  inline void operator--() noexcept { value_.store(*this - 1, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> value_{0};
};

/// Freed blocks of one class, chained through their own first bytes.
struct free_list {
  void* head = nullptr;
  counter count;

  inline void push(void* block) noexcept {
    std::memcpy(block, &head, sizeof head);
    head = block;
    ++count;
  }
  inline void* pop() noexcept {
    void* block = head;
    if (block) {
      std::memcpy(&head, block, sizeof head);
      --count;
    }
    return block;
  }
  inline void release_all(std::size_t bytes) noexcept {
    while (void* block = pop()) system_give(block, bytes);
  }
};

/// Those of all classes: what is to be returned to the system once no lock is held, because that takes a while.
struct free_lists {
  free_list of[class_count];
  inline void release_all() noexcept {
    for (int index = 0; index < class_count; ++index) of[index].release_all(class_bytes(index));
  }
};

/// Blocks of one class that a thread keeps. The header of each is that of a buffer of its own elements that is held
/// once: who takes one writes only what describes the elements.
struct kept_list {
  buffer* first = nullptr;
  std::atomic<std::int64_t> room{0};  // for how many more
};

/// Net counts of tensors and bytes, which may be negative in a thread that releases others' tensors.
struct net_counts {
  std::int64_t buffers = 0, views = 0, bytes = 0;
  void add(const net_counts& other) noexcept {
    buffers += other.buffers;
    views += other.views;
    bytes += other.bytes;
  }
};

/// Counters are written by their own thread only, so that an allocation needs no atomic addition.
struct thread_cache {
  kept_list kept[class_count + 1];
  std::atomic<std::int64_t> buffers{0}, views{0}, bytes{0};
  std::atomic<std::int64_t> limit{0};  // of `bytes`: while no thread passes its own, the peak stays what it is
  thread_cache* next = nullptr;

  thread_cache() noexcept;
  ~thread_cache();
  static inline std::int64_t add(std::atomic<std::int64_t>& counter, std::int64_t by) noexcept {
    const std::int64_t sum = counter.load(std::memory_order_relaxed) + by;
    counter.store(sum, std::memory_order_relaxed);
    return sum;
  }
  net_counts counts() const noexcept {
    return {buffers.load(std::memory_order_relaxed), views.load(std::memory_order_relaxed),
            bytes.load(std::memory_order_relaxed)};
  }
  inline buffer* pop(int index) noexcept {
    kept_list& list = kept[index];
    buffer* b = list.first;
    if (!b) return nullptr;
    list.first = b->next;
    add(list.room, 1);
    return b;
  }
  /// Keeps a block whose header is as kept_list says, or not.
  inline bool push(buffer* b, int index) noexcept {
    kept_list& list = kept[index];
    if (list.room.load(std::memory_order_relaxed) == 0) return false;
    add(list.room, -1);
    b->next = list.first;
    list.first = b;
    return true;
  }
  /// A counted buffer for so many bytes, its elements not described; null where the thread keeps none, or passes its
  /// limit.
  inline buffer* take(int index, std::int64_t elements) noexcept {
    const std::int64_t sum = bytes.load(std::memory_order_relaxed) + elements;
    if (sum > limit.load(std::memory_order_relaxed)) return nullptr;
    buffer* b = pop(index);
    if (!b) return nullptr;
    add(buffers, 1);
    bytes.store(sum, std::memory_order_relaxed);
    return b;
  }
  std::int64_t cached() const noexcept;
  void flush() noexcept;
};

/// The thread's cache, null while it has none. It goes when the thread ends, and comes again for a thread_local object
/// that outlives it.
KG_INITIAL_EXEC extern constinit thread_local thread_cache* cache_of_thread;

/// A buffer of the form of another, its elements not initialised, on the direct path: null where that is to be left.
inline buffer* buffer_like(const buffer* b) noexcept {
  thread_cache* cache = cache_of_thread;
  const std::uint32_t form = b->form;  // before anything is written: the compiler cannot know that b stays as it is
  buffer* y = cache ? cache->take(class_in(form), b->bytes) : nullptr;
  if (y) describe(y, type_in(form), b->dims, form, b->bytes);
  return y;
}

}  // namespace kerngrad::detail
