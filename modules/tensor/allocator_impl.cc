// SPDX-License-Identifier: Apache-2.0
// Blocks for tensors: header and elements together, 64-byte aligned, from caches of freed blocks. A fresh 4 KiB page
// costs more than most kernels that fill it, so freed blocks are kept, first by their thread, then by all.
module;
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include "kernels/common/abi.h"
#include "kernels/common/per_thread.h"
#include "kernels/common/tls_model.h"
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
import :live;
import :locks;
import :mirrors;
import :watch;

namespace kerngrad::detail {
namespace {

constexpr int last_small_class = class_of(1 << 16);           // larger blocks go to the shared cache at once
constexpr std::size_t kept_count = 16, kept_bytes = 1 << 18;  // of a class a thread keeps what is in either bound
static_assert(no_class <= 0xff);
// How many blocks of a class a thread keeps.
constexpr std::int64_t most_kept(int index) {
  if (KG_NO_CACHE || index > last_small_class) return 0;
  return static_cast<std::int64_t>(std::max(kept_count, kept_bytes / class_bytes(index)));
}

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

// Counts of this thread's caches before they were destroyed, and counts without a cache.
KG_INITIAL_EXEC constinit thread_local net_counts counted_before;

// Under the lock.
void retire(const net_counts& counts) noexcept {
  shared.retired.add(counts);
  counted_before.add(counts);
}

// Throws std::bad_alloc.
[[gnu::noinline, gnu::cold]] thread_cache& first_cache() {
  std::unique_ptr<thread_cache> made = std::make_unique<thread_cache>();
  kernels::at_thread_end([](void*) { delete std::exchange(cache_of_thread, nullptr); });
  return *(cache_of_thread = made.release());
}
inline thread_cache& cache_here() { return cache_of_thread ? *cache_of_thread : first_cache(); }

// For a thread that has only freed so far; null when there is no memory for a cache.
[[gnu::noinline, gnu::cold]] thread_cache* first_of_thread() noexcept {
  try {
    return &first_cache();
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
  buffer* block = cache.pop(index);
  return block ? block : take_elsewhere(index, exact);
}

// Adds to the bytes in use, or rejects. Under one lock for all requests: together they cannot pass the limit.
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

// Adds to the bytes in use what neither the limit nor this thread's budgets reject.
void reserve_specially(thread_cache& cache, std::int64_t bytes) {
  spend_budgets(counted_before.bytes + cache.bytes.load(std::memory_order_relaxed), bytes);
  reserve(cache, bytes);
}

// A block while there is a limit, a budget or an allocator of the caller's. Adds to the bytes in use.
[[gnu::noinline, gnu::cold]] void* take_specially(thread_cache& cache, int& index, std::int64_t bytes,
                                                  std::size_t exact) {
  reserve_specially(cache, bytes);
  try {
    if (void* block = hooked_take(exact)) {
      index = no_class;
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
  if (index == no_class) return hooked_give(block);
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

std::byte* own_elements(void* block) { return static_cast<std::byte*>(block) + header_bytes; }

inline buffer* new_buffer(void* block, int index) {
  buffer* b = new (block) buffer;
  b->size_class = static_cast<std::uint8_t>(index);
  b->data = own_elements(block);
  return b;
}

// A view may promise more bytes than there are classes for.
void describe_anew(buffer* b, dtype type, const shape& dims) {
  const std::int64_t bytes = dims.size() * static_cast<std::int64_t>(size_of(type));
  const int wanted = std::min(class_of(header_bytes + static_cast<std::size_t>(bytes)), no_class);
  describe(b, type, dims, form_of(type, dims, wanted), bytes);
}

inline void give(thread_cache* cache, buffer* b, int index) noexcept {
  b->references.store(1, std::memory_order_relaxed);
  b->base = nullptr;
  b->mirrors.store(nullptr, std::memory_order_relaxed);
  b->data = own_elements(b);
  if (!cache || !cache->push(b, index)) give_elsewhere(cache, b, index);
}

[[gnu::noinline]] buffer* allocate_slowly(dtype type, const shape& dims) {
  const std::size_t bytes = static_cast<std::size_t>(dims.size()) * size_of(type);
  if (bytes > (std::size_t{1} << 46))
    fail("allocate", "a tensor of shape " + to_string(dims), "at most 2^46 bytes", "split the tensor");
  const std::size_t exact = header_bytes + bytes;
  const std::int64_t elements = static_cast<std::int64_t>(bytes);
  int index = class_of(exact);
  thread_cache& cache = cache_here();
  const bool special = allocation_specials.load(std::memory_order_relaxed) != 0;
  void* block = special ? take_specially(cache, index, elements, exact) : take(cache, index, exact);
  buffer* b = new_buffer(block, index);
  describe_anew(b, type, dims);
  count_taken(cache, elements, special ? 0 : elements);
  return b;
}

// A header without room for elements, not counted yet.
buffer* bare_header(thread_cache& cache, dtype type, const shape& dims) {
  const int index = class_of(header_bytes);
  buffer* b = new_buffer(take(cache, index, header_bytes), index);
  describe_anew(b, type, dims);
  return b;
}

// A buffer that has something besides its elements, or whose block the thread does not keep.
[[gnu::noinline]] void release_slowly(buffer* last) noexcept {
  buffer* base = last->base;
  const std::int64_t bytes = last->bytes;
  mirror* const copies = last->mirrors.load(std::memory_order_acquire);
  const bool view = base || is_lent(copies);  // borrowed elements count as a view does
  if (!last->data) note_home();
  drop_mirrors(copies);
  thread_cache* cache = cache_of_thread ? cache_of_thread : first_of_thread();
  if (!view && cache) {
    thread_cache::add(cache->buffers, -1);
    thread_cache::add(cache->bytes, -bytes);
  } else if (cache) {
    thread_cache::add(cache->views, -1);
  } else {
    const library_lock lock(lock_of::blocks);
    retire(view ? net_counts{0, -1, 0} : net_counts{-1, 0, -bytes});
  }
  give(cache, last, last->size_class);
  if (!view && allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(-bytes);
  // A view's base has no base itself, so this recursion is one deep.
  if (base && let_go(base)) release(base);
}

// One that has something besides its elements: nearly always it is a view.
[[gnu::noinline]] void release_view(thread_cache& cache, buffer* last) noexcept {
  buffer* base = last->base;
  if (!base || last->mirrors.load(std::memory_order_relaxed)) return release_slowly(last);
  if (!cache.push(last, last->size_class)) return release_slowly(last);
  last->references.store(1, std::memory_order_relaxed);
  last->base = nullptr;
  last->data = own_elements(last);
  thread_cache::add(cache.views, -1);
  if (let_go(base)) release(base);
}

}  // namespace

KG_INITIAL_EXEC constinit thread_local thread_cache* cache_of_thread = nullptr;

thread_cache::thread_cache() noexcept {
  for (int index = 0; index <= no_class; ++index) kept[index].room.store(most_kept(index), std::memory_order_relaxed);
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

void thread_cache::flush() noexcept {
  for (int index = 0; index <= last_small_class; ++index)
    while (buffer* b = pop(index)) system_give(b, class_bytes(index));
}

std::int64_t thread_cache::cached() const noexcept {
  std::int64_t sum = 0;
  for (int index = 0; index <= last_small_class; ++index)
    sum += (most_kept(index) - kept[index].room.load(std::memory_order_relaxed)) *
           static_cast<std::int64_t>(class_bytes(index));
  return sum;
}

buffer* allocate(dtype type, const shape& dims) {
  const std::int64_t bytes = dims.size() * static_cast<std::int64_t>(size_of(type));
  thread_cache* cache = cache_of_thread;
  if (bytes > static_cast<std::int64_t>(class_bytes(last_small_class)) || direct_table() < 0 || !cache)
    return allocate_slowly(type, dims);
  const int index = class_of(header_bytes + static_cast<std::size_t>(bytes));
  buffer* b = cache->take(index, bytes);
  if (!b) return allocate_slowly(type, dims);
  describe(b, type, dims, form_of(type, dims, index), bytes);
  return b;
}

void release(buffer* last) noexcept {
  thread_cache* cache = cache_of_thread;
  if (!cache) [[unlikely]]
    return release_slowly(last);
  if (direct_table() < 0) [[unlikely]]
    return release_slowly(last);
  const auto more = reinterpret_cast<std::uintptr_t>(last->mirrors.load(std::memory_order_relaxed));
  if (reinterpret_cast<std::uintptr_t>(last->base) | more) [[unlikely]]
    return release_view(*cache, last);
  last->references.store(1, std::memory_order_relaxed);
  const std::int64_t bytes = last->bytes;
  if (!cache->push(last, last->size_class)) [[unlikely]]
    return release_slowly(last);
  thread_cache::add(cache->buffers, -1);
  thread_cache::add(cache->bytes, -bytes);
}

void count_bytes(std::int64_t bytes) {
  thread_cache& cache = cache_here();
  const bool special = allocation_specials.load(std::memory_order_relaxed) != 0;
  if (special) reserve_specially(cache, bytes);
  if (thread_cache::add(cache.bytes, special ? 0 : bytes) > cache.limit.load(std::memory_order_relaxed)) pass_limit();
  if (allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(bytes);
}

void uncount_bytes(std::int64_t bytes) noexcept {
  if (thread_cache* cache = cache_of_thread ? cache_of_thread : first_of_thread()) {
    thread_cache::add(cache->bytes, -bytes);
  } else {
    const library_lock lock(lock_of::blocks);
    retire({0, 0, -bytes});
  }
  if (allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(-bytes);
}

void cut_to(tensor& y, const shape& dims) {
  buffer* b = const_cast<buffer*>(tensor_access::buffer(y));
  if (b->dims == dims) return;
  const std::int64_t bytes = dims.size() * static_cast<std::int64_t>(size_of(b->type)), fewer = bytes - b->bytes;
  if (header_bytes + static_cast<std::size_t>(bytes) < -static_cast<std::size_t>(fewer)) {
    tensor smaller = tensor_access::adopt(allocate(b->type, dims));
    std::memcpy(tensor_access::buffer(smaller)->data, b->data, static_cast<std::size_t>(bytes));
    y = std::move(smaller);
    return;
  }
  describe_anew(b, b->type, dims);
  thread_cache::add(cache_here().bytes, fewer);
  if (allocation_watchers.load(std::memory_order_relaxed)) watch_allocation(fewer);
}

buffer* allocate_header(dtype type, const shape& dims) {
  buffer* b = bare_header(cache_here(), type, dims);
  b->data = nullptr;
  note_away();
  count_taken(cache_here(), b->bytes, b->bytes);
  return b;
}

buffer* allocate_lent(dtype type, const shape& dims) {
  buffer* b = bare_header(cache_here(), type, dims);
  thread_cache::add(cache_here().views, 1);
  return b;
}

buffer* share(buffer* source, const shape& dims) {
  buffer* root = source->base ? source->base : source;
  const int index = class_of(header_bytes);
  thread_cache& cache = cache_here();
  buffer* b = cache.pop(index);
  if (!b) b = new_buffer(take_elsewhere(index, header_bytes), index);
  if (dims.size() == source->dims.size())
    describe(b, source->type, dims, form_of(source->type, dims, class_in(source->form)), source->bytes);
  else describe_anew(b, source->type, dims);
  b->data = __atomic_load_n(&source->data, __ATOMIC_ACQUIRE);
  if (!b->data) [[unlikely]]
    note_away();
  b->base = root;
  hold(root);
  thread_cache::add(cache.views, 1);
  return b;
}

}  // namespace kerngrad::detail

namespace kerngrad {

namespace detail {

memory_growth held_by_thread() {
  net_counts sum = counted_before;
  if (const thread_cache* cache = cache_of_thread) sum.add(cache->counts());
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
  if (thread_cache* cache = cache_of_thread) cache->flush();
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
