// SPDX-License-Identifier: Apache-2.0
// Blocks for tensors: header and elements together, 64-byte aligned, from caches of freed blocks. A fresh 4 KiB page
// costs more than most kernels that fill it, so freed blocks are kept, first by their thread, then by all.
module;
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>
#include "kernels/abi.h"
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KG_NO_CACHE 1  // a reused block would hide an overflow or a use after free from the sanitizer
#endif
#endif
#ifndef KG_NO_CACHE
#define KG_NO_CACHE 0
#endif
module kerngrad;

import :blocks;
import :dispatch;

namespace kerngrad::detail {
namespace {

constexpr std::size_t header_bytes = 192;  // a multiple of 64 that holds a buffer
static_assert(sizeof(buffer) <= header_bytes);

// Size classes: four to each power of two from 256 bytes, so that at most a fifth of a block is wasted.
constexpr int class_count = 4 * 50;
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

constexpr int last_small_class = class_of(1 << 16);           // larger blocks go to the shared cache at once
constexpr std::size_t kept_count = 16, kept_bytes = 1 << 18;  // of a class a thread keeps what is in either bound
constexpr int hooked_class = 255;                             // no class: the block is of an allocator of the caller's
static_assert(class_count < hooked_class);

// Written by one thread at a time, read by others at any time.
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

// Freed blocks of one class, chained through their own first bytes.
struct free_list {
  void* head = nullptr;
  counter count;

  void push(void* block) noexcept {
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
  void release_all(std::size_t bytes) noexcept {
    while (void* block = pop()) system_give(block, bytes);
  }
};

// Those of all classes: what is to be returned to the system once no lock is held, because that takes a while.
struct free_lists {
  free_list of[class_count];
  void release_all() noexcept {
    for (int index = 0; index < class_count; ++index) of[index].release_all(class_bytes(index));
  }
};

struct thread_cache;

// Everything that threads share. Never destroyed: tensors with static storage may outlive it.
struct shared_state {
  std::mutex mutex;
  free_list blocks[class_count];
  std::size_t lowest[class_count] = {};  // the fewest blocks of a class since the last look: nobody needed those
  std::chrono::steady_clock::time_point looked = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  std::vector<thread_cache*> threads;
  std::int64_t retired_buffers = 0, retired_views = 0, retired_bytes = 0;  // net counts of threads that ended
  std::int64_t peak = 0;                                                   // of the bytes of all

  void* pop(int index) noexcept {
    void* block = blocks[index].pop();
    if (block) bytes -= class_bytes(index);
    lowest[index] = std::min<std::size_t>(lowest[index], blocks[index].count);
    return block;
  }
  void push(void* block, int index) noexcept {
    blocks[index].push(block);
    bytes += class_bytes(index);
  }
  bool look_is_due() const noexcept { return std::chrono::steady_clock::now() - looked >= std::chrono::seconds(1); }
};
shared_state& shared() {
  static shared_state* state = new shared_state;
  return *state;
}

// Counters are written by their own thread only, so that an allocation needs no atomic addition.
struct thread_cache {
  free_list blocks[class_count];
  std::atomic<std::int64_t> buffers{0}, views{0}, bytes{0};
  std::atomic<std::int64_t> limit{0};  // of `bytes`: while no thread passes its own, the peak stays what it is

  thread_cache();
  ~thread_cache();
  static inline std::int64_t add(std::atomic<std::int64_t>& counter, std::int64_t by) noexcept {
    const std::int64_t sum = counter.load(std::memory_order_relaxed) + by;
    counter.store(sum, std::memory_order_relaxed);
    return sum;
  }
  void flush() noexcept {
    for (int index = 0; index < class_count; ++index) blocks[index].release_all(class_bytes(index));
  }
  inline bool keeps(int index) const noexcept {
    const std::size_t kept = blocks[index].count;
    return kept < kept_count || (kept + 1) * class_bytes(index) <= kept_bytes;
  }
  std::int64_t cached() const noexcept {
    std::size_t sum = 0;
    for (int index = 0; index <= last_small_class; ++index) sum += blocks[index].count * class_bytes(index);
    return static_cast<std::int64_t>(sum);
  }
};

// The thread's cache: null before its first allocation and again while the thread ends, when blocks go straight to
// the system. Initial-exec: one load instead of a call, on the path of every allocation.
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_cache* current = nullptr;

// Set once the thread's cache is gone, while its last tensors may still die.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool ended = false;

thread_cache::thread_cache() {
  shared_state& all = shared();
  std::lock_guard lock(all.mutex);
  all.threads.push_back(this);
  current = this;
}

thread_cache::~thread_cache() {
  current = nullptr;
  ended = true;
  flush();
  shared_state& all = shared();
  std::lock_guard lock(all.mutex);
  all.retired_buffers += buffers;
  all.retired_views += views;
  all.retired_bytes += bytes;
  std::erase(all.threads, this);
}

[[gnu::noinline]] thread_cache& first_use() {
  thread_local thread_cache mine;
  return mine;
}
inline thread_cache& mine() { return current ? *current : first_use(); }

// Raises the peak to the present sum if that is more, and deals what is left below the peak out to the threads: while
// each stays under its own limit, their sum stays under the peak.
void deal_limits(shared_state& all) {
  std::int64_t sum = all.retired_bytes;
  for (const thread_cache* cache : all.threads) sum += cache->bytes.load(std::memory_order_relaxed);
  all.peak = std::max(all.peak, sum);
  const std::int64_t share = (all.peak - sum) / static_cast<std::int64_t>(std::max<std::size_t>(all.threads.size(), 1));
  for (thread_cache* cache : all.threads)
    cache->limit.store(cache->bytes.load(std::memory_order_relaxed) + share, std::memory_order_relaxed);
}
[[gnu::noinline, gnu::cold]] void pass_limit() {
  shared_state& all = shared();
  std::lock_guard lock(all.mutex);
  deal_limits(all);
}

// Once a second, in passing: returns blocks that have lain there all the time since the last look.
[[gnu::noinline, gnu::cold]] void return_idle() noexcept {
  free_lists idle;
  {
    shared_state& all = shared();
    std::lock_guard lock(all.mutex);
    all.looked = std::chrono::steady_clock::now();
    for (int index = 0; index < class_count; ++index) {
      for (std::size_t left = all.lowest[index]; left > 0; --left) {
        idle.of[index].push(all.pop(index));
        count_trimmed(class_bytes(index));
      }
      all.lowest[index] = all.blocks[index].count;
    }
  }
  idle.release_all();
}

// `uncounted` is the part of the bytes that is not in the thread's sum yet.
inline void count_taken(thread_cache& cache, std::int64_t bytes, std::int64_t uncounted) {
  thread_cache::add(cache.buffers, 1);
  if (thread_cache::add(cache.bytes, uncounted) > cache.limit.load(std::memory_order_relaxed)) pass_limit();
  if (allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(bytes);
}

// A block that no cache has. When the system has none either, the caches may have what it lacks.
[[gnu::noinline]] void* fresh(int index, std::size_t exact) {
  const std::size_t bytes = class_bytes(index);
  if (void* block = system_take(bytes, exact)) return block;
  release_cached_memory();
  if (void* block = system_take(bytes, exact)) return block;
  fail("allocate", std::to_string(exact) + " bytes", "less than the system has left", "split the tensor");
}

// A block that this thread does not have.
[[gnu::noinline]] void* take_elsewhere(int index, std::size_t exact) {
  if (!KG_NO_CACHE && index > last_small_class) {
    shared_state& all = shared();
    std::lock_guard lock(all.mutex);
    if (void* block = all.pop(index)) return block;
  }
  return fresh(index, exact);
}

inline void* take(thread_cache& cache, int index, std::size_t exact) {
  void* block = cache.blocks[index].pop();
  return block ? block : take_elsewhere(index, exact);
}

// Adds to the bytes in use, or refuses. Under one lock with all others who ask: together they cannot pass the limit.
void reserve(thread_cache& cache, std::int64_t bytes) {
  shared_state& all = shared();
  const std::int64_t limit = live_limit();
  bool trim;
  {
    std::lock_guard lock(all.mutex);
    std::int64_t live = all.retired_bytes, kept = static_cast<std::int64_t>(all.bytes);
    for (const thread_cache* other : all.threads) {
      live += other->bytes.load(std::memory_order_relaxed);
      kept += other->cached();
    }
    if (bytes > limit - live)
      fail("allocate", std::to_string(bytes) + " bytes",
           "at most " + std::to_string(std::max(std::int64_t{0}, limit - live)) + " bytes, what the limit of " +
               std::to_string(limit) + " bytes leaves",
           "let go of tensors, or set_memory_limit");
    trim = bytes > limit - live - kept;
    thread_cache::add(cache.bytes, bytes);
  }
  if (trim) release_cached_memory();
}

// A block while there is a limit or an allocator of the caller's. Adds to the bytes in use.
[[gnu::noinline, gnu::cold]] void* take_specially(thread_cache& cache, int& index, std::int64_t bytes,
                                                  std::size_t exact) {
  reserve(cache, bytes);
  try {
    if (void* block = hooked_take(exact)) {
      index = hooked_class;
      return block;
    }
    return take(cache, index, exact);
  } catch (...) {
    thread_cache::add(cache.bytes, -bytes);
    throw;
  }
}

// A block that this thread does not keep.
[[gnu::noinline]] void give_elsewhere(const thread_cache* cache, void* block, int index) noexcept {
  if (index == hooked_class) return hooked_give(block);
  const std::size_t bytes = class_bytes(index);
  if (KG_NO_CACHE || !cache || index <= last_small_class) return system_give(block, bytes);
  shared_state& all = shared();
  bool look;
  {
    std::lock_guard lock(all.mutex);
    if (all.bytes + bytes <= static_cast<std::size_t>(kept_limit())) {
      all.push(block, index);
      block = nullptr;
    }
    look = all.look_is_due();
  }
  if (block) system_give(block, bytes);
  if (look) return_idle();
}

inline void give(thread_cache* cache, void* block, int index) noexcept {
  if (KG_NO_CACHE || !cache || index > last_small_class || !cache->keeps(index))
    return give_elsewhere(cache, block, index);
  cache->blocks[index].push(block);
}

}  // namespace

buffer* allocate(dtype type, const shape& dims) {
  const std::size_t bytes = static_cast<std::size_t>(dims.size()) * size_of(type);
  if (bytes > (std::size_t{1} << 46))
    fail("allocate", "a tensor of shape " + to_string(dims), "at most 2^46 bytes", "split the tensor");
  const std::size_t exact = header_bytes + bytes;
  const std::int64_t elements = static_cast<std::int64_t>(bytes);
  int index = class_of(exact);
  thread_cache& cache = mine();
  const bool special = allocation_specials.load(std::memory_order_relaxed) != 0;
  void* block = special ? take_specially(cache, index, elements, exact) : take(cache, index, exact);
  buffer* b = new (block) buffer(type, index, dims, static_cast<std::byte*>(block) + header_bytes);
  count_taken(cache, elements, special ? 0 : elements);
  return b;
}

buffer* allocate_header(dtype type, const shape& dims) {
  const int index = class_of(header_bytes);
  thread_cache& cache = mine();
  buffer* b = new (take(cache, index, header_bytes)) buffer(type, index, dims, nullptr);
  const std::int64_t elements = dims.size() * static_cast<std::int64_t>(size_of(type));
  count_taken(cache, elements, elements);
  return b;
}

buffer* share(buffer* source, const shape& dims) {
  buffer* root = source->base ? source->base : source;
  const int index = class_of(header_bytes);
  thread_cache& cache = mine();
  buffer* b = new (take(cache, index, header_bytes))
      buffer(source->type, index, dims, __atomic_load_n(&source->data, __ATOMIC_ACQUIRE));
  b->base = root;
  hold(root);
  thread_cache::add(cache.views, 1);
  return b;
}

void release(buffer* last) noexcept {
  buffer* base = last->base;
  const std::int64_t bytes = last->dims.size() * static_cast<std::int64_t>(size_of(last->type));
  const int index = last->size_class;
  if (mirror* copies = last->mirrors.load(std::memory_order_acquire)) drop_mirrors(copies);
  last->~buffer();
  // A thread that has only freed so far gets its cache here; one that is ending counts for those that have ended.
  thread_cache* cache = current || ended ? current : &first_use();
  if (!base && cache) {
    thread_cache::add(cache->buffers, -1);
    thread_cache::add(cache->bytes, -bytes);
  } else if (cache) {
    thread_cache::add(cache->views, -1);
  } else {
    shared_state& all = shared();
    std::lock_guard lock(all.mutex);
    (base ? all.retired_views : all.retired_buffers) -= 1;
    if (!base) all.retired_bytes -= bytes;
  }
  give(cache, last, index);
  if (!base && allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(-bytes);
  // A view's base has no base itself, so this recursion is one deep.
  if (base && let_go(base)) release(base);
}

}  // namespace kerngrad::detail

namespace kerngrad {

namespace detail {

memory_growth held_by_thread() {
  const thread_cache& cache = mine();
  const std::int64_t buffers = cache.buffers.load(std::memory_order_relaxed);
  return {buffers + cache.views.load(std::memory_order_relaxed), buffers, cache.bytes.load(std::memory_order_relaxed)};
}

}  // namespace detail

memory_info memory() {
  using namespace detail;
  mine();
  shared_state& all = shared();
  std::lock_guard lock(all.mutex);
  memory_info info{all.retired_buffers, all.retired_bytes, static_cast<std::int64_t>(all.bytes), all.retired_views,
                   all.peak};
  for (const thread_cache* cache : all.threads) {
    info.live_buffers += cache->buffers.load(std::memory_order_relaxed);
    info.live_tensors += cache->views.load(std::memory_order_relaxed);
    info.live_bytes += cache->bytes.load(std::memory_order_relaxed);
    info.cached_bytes += cache->cached();
  }
  info.live_tensors += info.live_buffers;
  return info;
}

void reset_peak_memory() {
  using namespace detail;
  mine();
  shared_state& all = shared();
  std::lock_guard lock(all.mutex);
  all.peak = 0;
  deal_limits(all);
}

void release_cached_memory() {
  using namespace detail;
  mine().flush();
  free_lists idle;
  {
    shared_state& all = shared();
    std::lock_guard lock(all.mutex);
    std::swap_ranges(std::begin(idle.of), std::end(idle.of), std::begin(all.blocks));
    std::fill(std::begin(all.lowest), std::end(all.lowest), 0);
    all.bytes = 0;
  }
  idle.release_all();
}

// The biggest go first.
void detail::shrink_cache() noexcept {
  free_lists idle;
  {
    shared_state& all = shared();
    std::lock_guard lock(all.mutex);
    for (int index = class_count - 1; index >= 0; --index) {
      while (all.bytes > static_cast<std::size_t>(kept_limit())) {
        void* block = all.pop(index);
        if (!block) break;
        idle.of[index].push(block);
      }
    }
  }
  idle.release_all();
}

}  // namespace kerngrad
