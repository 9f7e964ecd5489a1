// SPDX-License-Identifier: Apache-2.0
// Sources of tensors' memory: limits, trimming, huge pages, an allocator of the caller's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"
#include "tests/support/under_asan.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;

constexpr std::int64_t mega = 1 << 20;

// Elements are not written: what counts is that they are there.
tensor of_bytes(std::int64_t bytes) {
  return tensor::build<std::uint8_t>({bytes}, [](std::span<std::uint8_t>) {});
}

struct limits_restored {
  std::int64_t cache = kg::cache_limit();
  ~limits_restored() {
    kg::set_memory_limit(kg::unlimited);
    kg::set_cache_limit(cache);
    kg::set_allocator({});
  }
};

TEST(a_memory_limit, refuses_what_would_pass_it_and_says_what_is_left) {
  const limits_restored restored;
  const std::int64_t live = kg::memory().live_bytes;
  kg::set_memory_limit(live + 10 * mega);
  EXPECT_EQ(kg::memory_limit(), live + 10 * mega);
  const tensor x = of_bytes(6 * mega);
  const std::string text = refusal([] { return of_bytes(4 * mega + 1); });
  EXPECT_NE(text.find(std::to_string(4 * mega + 1)), std::string::npos) << text;
  EXPECT_NE(text.find("at most " + std::to_string(4 * mega) + " bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("set_memory_limit"), std::string::npos) << text;
  EXPECT_EQ(kg::memory().live_bytes, live + 6 * mega) << "a refused tensor counts for nothing";
  EXPECT_EQ(refusal([] { return of_bytes(4 * mega); }), accepted);
}

TEST(a_memory_limit, below_what_is_live_keeps_that_and_refuses_more) {
  const limits_restored restored;
  const tensor x({1.f, 2.f});
  kg::set_memory_limit(0);
  EXPECT_NE(refusal([&] { return x + x; }).find("at most 0 bytes"), std::string::npos);
  EXPECT_EQ(x.data<float>()[1], 2);
  kg::set_memory_limit(kg::unlimited);
  EXPECT_EQ(kg::sum(x + x).item(), 6);
}

TEST(a_memory_limit, makes_room_from_what_is_kept_for_reuse) {
  if (KG_UNDER_ASAN) GTEST_SKIP() << "nothing is kept for reuse";
  const limits_restored restored;
  kg::release_cached_memory();
  of_bytes(32 * mega);
  EXPECT_GE(kg::memory().cached_bytes, 32 * mega);
  kg::set_memory_limit(kg::memory().live_bytes + 48 * mega);
  const tensor x = of_bytes(20 * mega);
  EXPECT_LT(kg::memory().cached_bytes, 32 * mega);
}

TEST(a_memory_limit, is_not_passed_by_threads_together) {
  const limits_restored restored;
  const std::int64_t live = kg::memory().live_bytes;
  kg::set_memory_limit(live + 100 * 1000);
  std::atomic<std::int64_t> most{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::vector<tensor> mine;
      for (int k = 0; k < 2000; ++k) {
        const std::string text = refusal([&] { return mine.push_back(of_bytes(1000)), 0; });
        if (text != accepted) ++refused, mine.clear();
        std::int64_t now = kg::memory().live_bytes - live, seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_LE(most, 100 * 1000);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(kg::memory().live_bytes, live);
}

// Kept blocks keep their headers.
TEST(a_kept_block, is_a_tensor_like_any_other_whatever_it_was_before) {
  const tensor x({1.f, 2.f, 3.f, 4.f}), wide({1., 2., 3., 4.});
  const std::int64_t live = kg::memory().live_bytes, tensors = kg::memory().live_tensors;
  for (int i = 0; i < 40; ++i) {
    kg::reshape(kg::reshape(x, {2, 2}), {4, 1});
    const tensor y = x + x, z = wide * wide, same = x == x, cut = kg::slice(x, {1}, {2});
    EXPECT_FALSE(y.shares_with(x));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(y.address()) % 64, 0u);
    EXPECT_EQ(y.to_doubles(), (std::vector<double>{2, 4, 6, 8}));
    EXPECT_EQ(z.to_doubles(), (std::vector<double>{1, 4, 9, 16}));
    EXPECT_EQ(same.type(), kg::dtype::boolean);
    EXPECT_EQ(same.dims(), kg::shape({4}));
    EXPECT_EQ(cut.to_doubles(), (std::vector<double>{2, 3}));
    EXPECT_EQ(kg::memory().live_bytes, live + 16 + 32 + 4 + 8);
  }
  EXPECT_EQ(kg::memory().live_bytes, live);
  EXPECT_EQ(kg::memory().live_tensors, tensors);
}

TEST(a_kept_block, may_have_been_given_back_by_another_thread) {
  const std::int64_t live = kg::memory().live_bytes;
  std::vector<tensor> made;
  std::thread([&] {
    const tensor x({1.f, 2.f});
    for (int i = 0; i < 40; ++i) made.push_back(x + x), made.push_back(kg::reshape(made.back(), {2, 1}));
  }).join();
  EXPECT_EQ(kg::memory().live_bytes, live + 40 * 8);
  made.clear();
  EXPECT_EQ(kg::memory().live_bytes, live);
  const tensor x({3.f, 4.f});
  EXPECT_EQ((x + x).to_doubles(), (std::vector<double>{6, 8}));
}

TEST(a_memory_limit, ends_and_begins_for_small_tensors_at_once) {
  const limits_restored restored;
  const tensor x({1.f, 2.f});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((x + x).to_doubles(), (std::vector<double>{2, 4}));
    kg::set_memory_limit(kg::memory().live_bytes + 7);
    EXPECT_NE(refusal([&] { return x + x; }), accepted);
    EXPECT_NE(refusal([&] { return kg::exp(x); }), accepted);
    EXPECT_NE(refusal([&] { return kg::leaky_relu(x); }), accepted);
    EXPECT_EQ(refusal([&] { return kg::reshape(x, {2, 1}); }), accepted) << "a view has no elements of its own";
    kg::set_memory_limit(kg::unlimited);
  }
}

TEST(limits, below_zero_are_refused) {
  const limits_restored restored;
  EXPECT_NE(refusal([] { return kg::set_memory_limit(-1), 0; }), accepted);
  EXPECT_NE(refusal([] { return kg::set_cache_limit(-1), 0; }), accepted);
}

TEST(a_cache_limit, holds_for_what_is_kept_and_at_once) {
  if (KG_UNDER_ASAN) GTEST_SKIP() << "nothing is kept for reuse";
  const limits_restored restored;
  kg::release_cached_memory();
  for (std::int64_t size : {8, 16, 24}) of_bytes(size * mega);
  EXPECT_GE(kg::memory().cached_bytes, 48 * mega);
  kg::set_cache_limit(16 * mega);
  EXPECT_LE(kg::memory().cached_bytes, 16 * mega);
  of_bytes(24 * mega);
  EXPECT_LE(kg::memory().cached_bytes, 16 * mega);
}

TEST(blocks_that_are_not_reused, are_returned_after_a_while_and_others_are_not) {
  if (KG_UNDER_ASAN) GTEST_SKIP() << "nothing is kept for reuse";
  kg::release_cached_memory();
  of_bytes(64 * mega);
  const std::int64_t calls = kg::allocations().system_calls, trimmed = kg::allocations().trimmed_bytes;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2300);
  of_bytes(4 * mega);
  while (std::chrono::steady_clock::now() < end) {
    of_bytes(4 * mega);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LT(kg::memory().cached_bytes, 64 * mega);
  EXPECT_GE(kg::allocations().trimmed_bytes - trimmed, 64 * mega);
  EXPECT_EQ(kg::allocations().system_calls - calls, 1) << "the block in use was reused all the time";
}

TEST(the_system, is_asked_once_for_a_result_that_is_made_again_and_again) {
  if (KG_UNDER_ASAN) GTEST_SKIP() << "nothing is kept for reuse";
  const tensor x = kg::ones({mega});
  kg::exp(x);
  const std::int64_t calls = kg::allocations().system_calls;
  for (int i = 0; i < 10; ++i) kg::exp(x);
  EXPECT_EQ(kg::allocations().system_calls, calls);
}

TEST(what_the_system_gave, is_counted_until_it_is_given_back) {
  kg::release_cached_memory();
  const kg::allocator_info before = kg::allocations();
  {
    const tensor x = of_bytes(40 * mega);
    const kg::allocator_info now = kg::allocations();
    EXPECT_GE(now.system_bytes - before.system_bytes, 40 * mega);
    EXPECT_LE(now.system_bytes - before.system_bytes, 50 * mega) << "a size class wastes a quarter at most";
    EXPECT_EQ(now.system_blocks - before.system_blocks, 1);
    if (!KG_UNDER_ASAN) EXPECT_GE(now.huge_bytes - before.huge_bytes, 40 * mega);
  }
  kg::release_cached_memory();
  EXPECT_EQ(kg::allocations().system_bytes, before.system_bytes);
  EXPECT_EQ(kg::allocations().system_blocks, before.system_blocks);
  EXPECT_EQ(kg::allocations().huge_bytes, before.huge_bytes);
}

// "VmFlags: ... hg ..." of the mapping that holds the address: huge pages were asked for.
bool asks_for_huge_pages(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const std::uintptr_t wanted = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) here = begin <= wanted && wanted < end;
    if (here && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(big_blocks, are_in_huge_pages_that_they_begin_with) {
  if (KG_UNDER_ASAN) GTEST_SKIP() << "blocks are the sanitizer's";
  const tensor big = of_bytes(16 * mega), small = of_bytes(mega);
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(big.address()) % (2 * mega), 4096u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(big.address()) % 64, 0u);
  EXPECT_FALSE(asks_for_huge_pages(small.address()));
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "no huge pages here";
  EXPECT_TRUE(asks_for_huge_pages(big.address()));
}

// An allocator of the caller's that knows its blocks.
struct ledger {
  std::mutex mutex;
  std::map<void*, std::size_t> blocks;
  std::size_t taken = 0, wrong = 0;
  bool empty = false;

  static void* allocate(void* context, std::size_t bytes) {
    ledger& self = *static_cast<ledger*>(context);
    const std::lock_guard lock(self.mutex);
    if (self.empty) return nullptr;
    void* block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    self.blocks[block] = bytes;
    ++self.taken;
    return block;
  }
  static void release(void* context, void* block, std::size_t bytes) {
    ledger& self = *static_cast<ledger*>(context);
    const std::lock_guard lock(self.mutex);
    const auto at = self.blocks.find(block);
    if (at == self.blocks.end() || at->second != bytes) ++self.wrong;
    else self.blocks.erase(at);
    std::free(block);
  }
  kg::allocator_hooks hooks() { return {allocate, release, this}; }
};

TEST(an_allocator_of_the_callers, gets_its_blocks_back_whatever_has_been_set_since) {
  const limits_restored restored;
  ledger first, second;
  {
    tensor ours = kg::ones({1000});
    kg::set_allocator(first.hooks());
    tensor a = kg::ones({1000}), view;
    kg::set_allocator(second.hooks());
    tensor b = a + ours;
    EXPECT_EQ(kg::sum(b).item(), 2000);
    kg::set_allocator({});
    const tensor c = a + b;
    EXPECT_GE(first.blocks.size(), 1u);
    EXPECT_GE(second.blocks.size(), 1u);
    EXPECT_GT(kg::allocations().hooked_bytes, 8000);
    std::thread([gone = std::move(a)]() mutable { gone = tensor(); }).join();
    view = kg::reshape(b, {10, 100});
    b = tensor();
    EXPECT_GE(second.blocks.size(), 1u) << "a view holds it";
  }
  EXPECT_TRUE(first.blocks.empty() && second.blocks.empty());
  EXPECT_EQ(first.wrong + second.wrong, 0u);
  EXPECT_EQ(kg::allocations().hooked_bytes, 0);
}

TEST(an_allocator_of_the_callers, is_asked_for_all_sizes_and_not_after_it_was_taken_away) {
  const limits_restored restored;
  ledger mine;
  kg::set_allocator(mine.hooks());
  for (std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5000}, 9 * mega}) {
    const std::size_t before = mine.taken;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(of_bytes(size).address()) % 64, 0u);
    EXPECT_EQ(mine.taken, before + 1) << size;
  }
  kg::set_allocator({});
  const std::size_t before = mine.taken;
  of_bytes(5000);
  EXPECT_EQ(mine.taken, before);
}

TEST(an_allocator_of_the_callers, that_has_nothing_left_is_an_error_and_no_leak) {
  const limits_restored restored;
  ledger mine;
  mine.empty = true;
  kg::set_allocator(mine.hooks());
  const kg::memory_scope scope;
  EXPECT_NE(refusal([] { return of_bytes(100); }).find("set_allocator"), std::string::npos);
  EXPECT_EQ(scope.leaked(), kg::memory_growth{});
  kg::set_allocator({});
  EXPECT_EQ(refusal([] { return of_bytes(100); }), accepted);
}

TEST(an_allocator_of_the_callers, needs_both_functions) {
  const limits_restored restored;
  ledger mine;
  EXPECT_NE(refusal([&] { return kg::set_allocator({ledger::allocate, nullptr, &mine}), 0; }), accepted);
  EXPECT_NE(refusal([&] { return kg::set_allocator({nullptr, ledger::release, &mine}), 0; }), accepted);
}

TEST(an_allocator_of_the_callers, may_be_changed_while_threads_allocate) {
  const limits_restored restored;
  ledger first, second;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!done) of_bytes(3000), of_bytes(100000);
    });
  for (int i = 0; i < 300; ++i) {
    kg::set_allocator(first.hooks());
    kg::set_allocator(i % 3 ? second.hooks() : kg::allocator_hooks{});
    kg::set_memory_limit(i % 2 ? kg::unlimited : 1000 * mega);
  }
  done = true;
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(first.blocks.empty() && second.blocks.empty());
  EXPECT_EQ(first.wrong + second.wrong, 0u);
}

}  // namespace
