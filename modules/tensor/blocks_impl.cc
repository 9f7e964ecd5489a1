// SPDX-License-Identifier: Apache-2.0
// Sources of blocks: the C library for small ones, mappings in huge pages for big ones, or an allocator of the
// caller's. Touching a fresh block costs a fault for each page: 64 MB in pages of 4 KiB take 23 ms, of 2 MiB 3 ms.
module;
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include "kernels/common/per_thread.h"
#include "kernels/common/tls_model.h"
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KG_NO_MAPPING 1  // the sanitizer watches the ends of blocks of the C library only
#endif
#endif
#ifndef KG_NO_MAPPING
#define KG_NO_MAPPING 0
#endif
module kerngrad;

import :blocks;
import :live;
import :locks;
import :scopes;

namespace kerngrad::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

// Asked of the system at most a few thousand times a second, so that plain atomic additions do no harm.
struct counters {
  std::atomic<std::int64_t> system_bytes{0}, huge_bytes{0}, system_blocks{0}, system_calls{0}, trimmed_bytes{0},
      hooked_bytes{0};
};
constinit counters counted;

std::size_t whole_pages(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

// A mapping that begins on a huge page: one page more is asked for, and what sticks out is given back.
void* map_huge(std::size_t bytes) noexcept {
  const std::size_t size = whole_pages(bytes);
  void* all = mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  std::byte* begin = static_cast<std::byte*>(all);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(all) % huge_page) % huge_page;
  if (before) munmap(begin, before);
  munmap(begin + before + size, huge_page - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, size, MADV_HUGEPAGE);  // rejected where there are none: then they are small ones
#endif
  return begin + before;
}

// An allocator of the caller's. Those that have been are kept: a block says with a pointer whose it is.
struct hook {
  allocator_hooks calls;
  const hook* before;
};
const hook* hooks_ever = nullptr;  // under the lock `limits`
std::atomic<const hook*> hook_now{nullptr};

// Before each block of a hook, so that it is given back with what it was asked with.
struct hooked_header {
  const hook* from;
  std::size_t bytes;
};
constexpr std::size_t hooked_header_bytes = 64;  // blocks stay aligned

std::atomic<std::int64_t> live_most{unlimited};
std::atomic<std::int64_t> kept_most{-1};  // nothing said yet

// Under the lock `limits`.
void set_special(int bit, bool on) {
  const int before = on ? allocation_specials.fetch_or(bit) : allocation_specials.fetch_and(~bit);
  const bool was = (before & bit) != 0;
  if (on && !was) leave_direct_path();
  if (!on && was) return_to_direct_path();
}
constexpr int special_limit = 1, special_hook = 2, special_budget = 4;

// Bytes that a thread may hold while the budget lives.
struct budget {
  std::int64_t most_held, bytes;
  std::string advice;
};
// Null while the thread has had no budget, and once it ends: a budget may outlive its thread.
KG_INITIAL_EXEC constinit thread_local scope_list<budget>* budgets = nullptr;
int budgets_now = 0;  // of all threads, under the lock `limits`

scope_list<budget>& first_budgets() {
  auto made = std::make_unique<scope_list<budget>>();
  kernels::at_thread_end([](void*) { delete std::exchange(budgets, nullptr); });
  return *(budgets = made.release());
}

void count_budgets(int more) {
  const library_lock lock(lock_of::limits);
  budgets_now += more;
  set_special(special_budget, budgets_now > 0);
}

}  // namespace

void* system_take(std::size_t bytes, std::size_t exact) noexcept {
  const bool huge = !KG_NO_MAPPING && bytes >= huge_least;
  void* block = huge ? map_huge(bytes) : std::aligned_alloc(64, ((KG_NO_MAPPING ? exact : bytes) + 63) / 64 * 64);
  counted.system_calls.fetch_add(1, std::memory_order_relaxed);
  if (!block) return nullptr;
  counted.system_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  counted.system_blocks.fetch_add(1, std::memory_order_relaxed);
  if (huge) counted.huge_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  return block;
}

void system_give(void* block, std::size_t bytes) noexcept {
  const bool huge = !KG_NO_MAPPING && bytes >= huge_least;
  if (huge) munmap(block, whole_pages(bytes));
  else std::free(block);
  counted.system_bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  counted.system_blocks.fetch_sub(1, std::memory_order_relaxed);
  if (huge) counted.huge_bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

void* hooked_take(std::size_t bytes) {
  const hook* from = hook_now.load(std::memory_order_acquire);
  if (!from) return nullptr;
  const std::size_t all = bytes + hooked_header_bytes;
  void* block = from->calls.allocate(from->calls.context, all);
  if (!block)
    fail("allocate", std::to_string(all) + " bytes", "less than the allocator given to set_allocator has left",
         "free tensors, or set_allocator({})");
  if (reinterpret_cast<std::uintptr_t>(block) % 64 != 0) {
    from->calls.release(from->calls.context, block, all);
    fail("allocate", "a block of the allocator given to set_allocator that is not aligned", "blocks aligned to 64");
  }
  const hooked_header header{from, all};
  std::memcpy(block, &header, sizeof header);
  counted.hooked_bytes.fetch_add(static_cast<std::int64_t>(all), std::memory_order_relaxed);
  return static_cast<std::byte*>(block) + hooked_header_bytes;
}

void hooked_give(void* block) noexcept {
  void* begin = static_cast<std::byte*>(block) - hooked_header_bytes;
  hooked_header header;
  std::memcpy(&header, begin, sizeof header);
  header.from->calls.release(header.from->calls.context, begin, header.bytes);
  counted.hooked_bytes.fetch_sub(static_cast<std::int64_t>(header.bytes), std::memory_order_relaxed);
}

void count_trimmed(std::size_t bytes) noexcept {
  counted.trimmed_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

void spend_budgets(std::int64_t held, std::int64_t bytes) {
  for (const scope_link<budget>* scope = budgets ? budgets->get() : nullptr; scope; scope = scope->outer.get()) {
    const std::int64_t left = std::max<std::int64_t>(scope->what.most_held - held, 0);
    if (bytes > left && !scope->ended)
      fail("allocate", std::to_string(bytes) + " bytes",
           "at most " + std::to_string(left) + " bytes, what a budget of " + std::to_string(scope->what.bytes) +
               " bytes leaves",
           scope->what.advice);
  }
}
std::shared_ptr<void> enter_budget(std::int64_t held, std::int64_t bytes, std::string_view advice) {
  const std::int64_t most_held = held > 0 && bytes > unlimited - held ? unlimited : held + bytes;
  const std::string_view text = advice.empty() ? "let go of tensors, or allow the memory_budget more" : advice;
  std::shared_ptr<void> scope =
      enter_scope(budgets ? *budgets : first_budgets(), {most_held, bytes, std::string(text)});
  count_budgets(1);
  return scope;
}
void leave_budget(const std::shared_ptr<void>& scope) noexcept {
  scope_list<budget> none;
  end_scope(budgets ? *budgets : none, scope);
  count_budgets(-1);
}

std::int64_t live_limit() noexcept { return live_most.load(std::memory_order_relaxed); }

std::int64_t kept_limit() noexcept {
  std::int64_t set = kept_most.load(std::memory_order_relaxed);
  if (set >= 0) return set;
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), most = std::int64_t{2} << 30;
  const std::int64_t usual = pages > 0 && page > 0 ? std::min(pages / 4 * page, most) : most;
  return kept_most.compare_exchange_strong(set, usual) ? usual : set;
}

}  // namespace kerngrad::detail

namespace kerngrad {

using namespace detail;

void set_memory_limit(std::int64_t bytes) {
  if (bytes < 0) fail("set_memory_limit", std::to_string(bytes) + " bytes", "0 or more, or kg::unlimited");
  const library_lock lock(lock_of::limits);
  live_most = bytes;
  set_special(special_limit, bytes != unlimited);
}
std::int64_t memory_limit() { return live_limit(); }

void set_cache_limit(std::int64_t bytes) {
  if (bytes < 0) fail("set_cache_limit", std::to_string(bytes) + " bytes", "0 or more");
  {
    const library_lock lock(lock_of::limits);
    kept_most = bytes;
  }
  shrink_cache();
}
std::int64_t cache_limit() { return kept_limit(); }

void set_allocator(const allocator_hooks& hooks) {
  const bool none = !hooks.allocate && !hooks.release;
  if (!none && (!hooks.allocate || !hooks.release))
    fail("set_allocator", "one function", "allocate and release, or neither, for the library's own allocator");
  const library_lock lock(lock_of::limits);
  const hook* next = nullptr;
  if (!none) {
    for (const hook* known = hooks_ever; known; known = known->before)
      if (known->calls == hooks) next = known;
    if (!next) next = hooks_ever = new hook{hooks, hooks_ever};
  }
  hook_now.store(next, std::memory_order_release);
  set_special(special_hook, next != nullptr);
}

memory_budget::memory_budget(std::int64_t bytes, std::string_view advice) {
  if (bytes < 0) fail("memory_budget", std::to_string(bytes) + " bytes", "0 or more");
  here_ = detail::enter_budget(detail::held_by_thread().bytes, bytes, advice);
}
memory_budget::~memory_budget() { detail::leave_budget(here_); }

void counted_memory::resize(std::int64_t bytes) {
  if (bytes < 0) fail("counted_memory", std::to_string(bytes) + " bytes", "0 or more");
  if (bytes > bytes_) detail::count_bytes(bytes - bytes_);
  else if (bytes < bytes_) detail::uncount_bytes(bytes_ - bytes);
  bytes_ = bytes;
}
counted_memory::~counted_memory() {
  if (bytes_ > 0) detail::uncount_bytes(bytes_);
}

allocator_info allocations() {
  const auto read = [](const std::atomic<std::int64_t>& value) { return value.load(std::memory_order_relaxed); };
  return {read(counted.system_bytes), read(counted.huge_bytes),    read(counted.system_blocks),
          read(counted.system_calls), read(counted.trimmed_bytes), read(counted.hooked_bytes)};
}

}  // namespace kerngrad
