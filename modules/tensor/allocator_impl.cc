// SPDX-License-Identifier: Apache-2.0
// Blocks for tensors: header and elements together, 64-byte aligned, from caches of freed blocks. A fresh 4 KiB page
// costs more than most kernels that fill it, so freed blocks are kept, first by their thread, then by all.
module;
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include "kernels/common/abi.h"
#include "kernels/common/per_thread.h"
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
import :locks;

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

// What tensors are and take: net counts, which may be negative in a thread that lets go of others' tensors.
struct net_counts {
  std::int64_t buffers = 0, views = 0, bytes = 0;
  void add(const net_counts& other) noexcept {
    buffers += other.buffers;
    views += other.views;
    bytes += other.bytes;
  }
};

// Everything that threads share, under the lock `blocks`. Ready before any code runs and never destroyed: objects with
// static storage may make tensors.
struct shared_state {
  free_list blocks[class_count];
  std::size_t lowest[class_count] = {};  // the fewest blocks of a class since the last look: those were not needed
  std::chrono::steady_clock::time_point looked{};
  std::size_t bytes = 0;
  thread_cache* threads = nullptr;  // those that live, a chain
  net_counts retired;               // of caches that are gone
  std::int64_t peak = 0;            // of the bytes of all

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
constinit shared_state shared;

// Counters are written by their own thread only, so that an allocation needs no atomic addition.
struct thread_cache {
  free_list blocks[class_count];
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

// The thread's cache. It goes when the thread ends, and comes again for a thread_local object that outlives it.
using mine = kernels::thread_object<thread_cache>;

// What this thread's caches had counted when they went, and what was counted without one.
[[gnu::tls_model("initial-exec")]] constinit thread_local net_counts counted_before;

// Under the lock.
void retire(const net_counts& counts) noexcept {
  shared.retired.add(counts);
  counted_before.add(counts);
}

thread_cache::thread_cache() noexcept {
  const library_lock lock(lock_of::blocks);
  next = std::exchange(shared.threads, this);
}

thread_cache::~thread_cache() {
  flush();
  const library_lock lock(lock_of::blocks);
  retire(counts());
  thread_cache** at = &shared.threads;
  while (*at != this) at = &(*at)->next;
  *at = next;
}

// For a thread that has only freed so far; null when there is no memory for a cache.
[[gnu::noinline, gnu::cold]] thread_cache* first_of_thread() noexcept {
  try {
    return &mine::get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Raises the peak to the present sum if that is more, and deals what is left below the peak out to the threads: while
// each stays under its own limit, their sum stays under the peak.
void deal_limits() {
  std::int64_t sum = shared.retired.bytes, threads = 0;
  for (const thread_cache* cache = shared.threads; cache; cache = cache->next, ++threads)
    sum += cache->bytes.load(std::memory_order_relaxed);
  shared.peak = std::max(shared.peak, sum);
  const std::int64_t share = (shared.peak - sum) / std::max<std::int64_t>(threads, 1);
  for (thread_cache* cache = shared.threads; cache; cache = cache->next)
    cache->limit.store(cache->bytes.load(std::memory_order_relaxed) + share, std::memory_order_relaxed);
}
[[gnu::noinline, gnu::cold]] void pass_limit() {
  const library_lock lock(lock_of::blocks);
  deal_limits();
}

// Once a second, in passing: returns blocks that have lain there all the time since the last look.
[[gnu::noinline, gnu::cold]] void return_idle() noexcept {
  free_lists idle;
  {
    const library_lock lock(lock_of::blocks);
    shared.looked = std::chrono::steady_clock::now();
    for (int index = 0; index < class_count; ++index) {
      for (std::size_t left = shared.lowest[index]; left > 0; --left) {
        idle.of[index].push(shared.pop(index));
        count_trimmed(class_bytes(index));
      }
      shared.lowest[index] = shared.blocks[index].count;
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
    const library_lock lock(lock_of::blocks);
    if (void* block = shared.pop(index)) return block;
  }
  return fresh(index, exact);
}

inline void* take(thread_cache& cache, int index, std::size_t exact) {
  void* block = cache.blocks[index].pop();
  return block ? block : take_elsewhere(index, exact);
}

// Adds to the bytes in use, or refuses. Under one lock for all requests: together they cannot pass the limit.
void reserve(thread_cache& cache, std::int64_t bytes) {
  const std::int64_t limit = live_limit();
  bool trim;
  {
    const library_lock lock(lock_of::blocks);
    std::int64_t live = shared.retired.bytes, kept = static_cast<std::int64_t>(shared.bytes);
    for (const thread_cache* other = shared.threads; other; other = other->next) {
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
  bool look;
  {
    const library_lock lock(lock_of::blocks);
    if (shared.bytes + bytes <= static_cast<std::size_t>(kept_limit())) {
      shared.push(block, index);
      block = nullptr;
    }
    look = shared.look_is_due();
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
  thread_cache& cache = mine::get();
  const bool special = allocation_specials.load(std::memory_order_relaxed) != 0;
  void* block = special ? take_specially(cache, index, elements, exact) : take(cache, index, exact);
  buffer* b = new (block) buffer(type, index, dims, static_cast<std::byte*>(block) + header_bytes);
  count_taken(cache, elements, special ? 0 : elements);
  return b;
}

void cut_to(tensor& y, const shape& dims) {
  buffer* b = const_cast<buffer*>(tensor_access::buffer(y));
  if (b->dims == dims) return;
  const std::int64_t element = static_cast<std::int64_t>(size_of(b->type));
  const std::int64_t fewer = (dims.size() - b->dims.size()) * element;
  if (header_bytes + static_cast<std::size_t>(dims.size() * element) < -static_cast<std::size_t>(fewer)) {
    tensor smaller = tensor_access::adopt(allocate(b->type, dims));
    std::memcpy(tensor_access::buffer(smaller)->data, b->data, static_cast<std::size_t>(dims.size() * element));
    y = std::move(smaller);
    return;
  }
  b->dims = dims;
  thread_cache::add(mine::get().bytes, fewer);
  if (allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(fewer);
}

buffer* allocate_header(dtype type, const shape& dims) {
  const int index = class_of(header_bytes);
  thread_cache& cache = mine::get();
  buffer* b = new (take(cache, index, header_bytes)) buffer(type, index, dims, nullptr);
  const std::int64_t elements = dims.size() * static_cast<std::int64_t>(size_of(type));
  count_taken(cache, elements, elements);
  return b;
}

buffer* share(buffer* source, const shape& dims) {
  buffer* root = source->base ? source->base : source;
  const int index = class_of(header_bytes);
  thread_cache& cache = mine::get();
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
  thread_cache* cache = mine::peek() ? mine::peek() : first_of_thread();
  if (!base && cache) {
    thread_cache::add(cache->buffers, -1);
    thread_cache::add(cache->bytes, -bytes);
  } else if (cache) {
    thread_cache::add(cache->views, -1);
  } else {
    const library_lock lock(lock_of::blocks);
    retire(base ? net_counts{0, -1, 0} : net_counts{-1, 0, -bytes});
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
  net_counts sum = counted_before;
  if (const thread_cache* cache = mine::peek()) sum.add(cache->counts());
  return {sum.buffers + sum.views, sum.buffers, sum.bytes};
}

}  // namespace detail

memory_info memory() {
  using namespace detail;
  const library_lock lock(lock_of::blocks);
  net_counts live = shared.retired;
  std::int64_t cached = static_cast<std::int64_t>(shared.bytes);
  for (const thread_cache* cache = shared.threads; cache; cache = cache->next) {
    live.add(cache->counts());
    cached += cache->cached();
  }
  return {live.buffers, live.bytes, cached, live.buffers + live.views, shared.peak};
}

void reset_peak_memory() {
  using namespace detail;
  const library_lock lock(lock_of::blocks);
  shared.peak = 0;
  deal_limits();
}

void release_cached_memory() {
  using namespace detail;
  if (thread_cache* cache = mine::peek()) cache->flush();
  free_lists idle;
  {
    const library_lock lock(lock_of::blocks);
    std::swap_ranges(std::begin(idle.of), std::end(idle.of), std::begin(shared.blocks));
    std::fill(std::begin(shared.lowest), std::end(shared.lowest), 0);
    shared.bytes = 0;
  }
  idle.release_all();
}

// The biggest go first.
void detail::shrink_cache() noexcept {
  free_lists idle;
  {
    const library_lock lock(lock_of::blocks);
    for (int index = class_count - 1; index >= 0; --index) {
      while (shared.bytes > static_cast<std::size_t>(kept_limit())) {
        void* block = shared.pop(index);
        if (!block) break;
        idle.of[index].push(block);
      }
    }
  }
  idle.release_all();
}

}  // namespace kerngrad
