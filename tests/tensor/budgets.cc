// SPDX-License-Identifier: Apache-2.0
// Limits on what one thread takes, and memory of the program's that counts as elements do.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

constexpr std::int64_t kilobyte = 1024;

std::string said_of_floats(std::int64_t count) {
  return kgtest::refusal([&] { return kg::zeros({count}); });
}

TEST(memory_budgets, bound_what_the_thread_takes_beyond_what_it_had) {
  const kg::tensor before = kg::ones({100'000});
  {
    const kg::memory_budget budget(4 * kilobyte, "ask for less");
    const kg::tensor half = kg::ones({512});
    EXPECT_EQ(said_of_floats(513),
              "[allocate] got 2052 bytes; wanted at most 2048 bytes, what a budget of 4096 bytes leaves; ask for less");
    EXPECT_EQ(said_of_floats(512), kgtest::accepted);
  }
  EXPECT_EQ(said_of_floats(1'000'000), kgtest::accepted);
  EXPECT_TRUE(kgtest::says(kgtest::refusal([] { return kg::memory_budget(-1), 0; }), {"memory_budget", "-1 bytes"}));
}

TEST(memory_budgets, count_what_is_freed_in_favour_of_the_thread) {
  kg::tensor large = kg::ones({1024});
  const kg::memory_budget budget(0);
  EXPECT_NE(said_of_floats(1), kgtest::accepted);
  large = {};
  EXPECT_EQ(said_of_floats(1024), kgtest::accepted);
  EXPECT_NE(said_of_floats(1025), kgtest::accepted);
}

TEST(memory_budgets, nest_end_in_any_order_and_are_of_their_thread) {
  auto outer = std::make_unique<kg::memory_budget>(kilobyte);
  auto inner = std::make_unique<kg::memory_budget>(2 * kilobyte);
  EXPECT_NE(said_of_floats(257), kgtest::accepted) << "an inner budget cannot allow more";
  outer.reset();
  EXPECT_EQ(said_of_floats(512), kgtest::accepted);
  EXPECT_NE(said_of_floats(513), kgtest::accepted);
  std::string there;
  std::thread([&] { there = said_of_floats(1'000'000); }).join();
  EXPECT_EQ(there, kgtest::accepted);
  std::thread([&] { inner.reset(); }).join();
  EXPECT_EQ(said_of_floats(1'000'000), kgtest::accepted);
}

TEST(memory_budgets, may_end_after_their_thread) {
  std::unique_ptr<kg::memory_budget> budget;
  std::thread([&] { budget = std::make_unique<kg::memory_budget>(kilobyte); }).join();
  EXPECT_EQ(said_of_floats(1'000'000), kgtest::accepted);
  budget.reset();
  EXPECT_EQ(said_of_floats(1'000'000), kgtest::accepted);
}

TEST(memory_budgets, hold_together_with_the_limit) {
  kg::set_memory_limit(kg::memory().live_bytes + kilobyte);
  {
    const kg::memory_budget budget(2 * kilobyte);
    EXPECT_TRUE(kgtest::says(said_of_floats(300), {"limit"}));
    EXPECT_TRUE(kgtest::says(said_of_floats(600), {"budget"}));
  }
  kg::set_memory_limit(kg::unlimited);
}

TEST(counted_memory, counts_as_long_as_it_lives) {
  const std::int64_t before = kg::memory().live_bytes, tensors = kg::memory().live_tensors;
  {
    kg::counted_memory counted(kilobyte);
    EXPECT_EQ(counted.bytes(), kilobyte);
    EXPECT_EQ(kg::memory().live_bytes, before + kilobyte);
    counted.resize(3 * kilobyte);
    EXPECT_EQ(kg::memory().live_bytes, before + 3 * kilobyte);
    counted.resize(0);
    EXPECT_EQ(kg::memory().live_bytes, before);
    counted.resize(2 * kilobyte);
    kg::counted_memory moved(std::move(counted));
    EXPECT_EQ(kg::memory().live_bytes, before + 2 * kilobyte);
    std::thread([given = std::move(moved)] {}).join();
    EXPECT_EQ(kg::memory().live_bytes, before);
    kg::counted_memory other;
    other = kg::counted_memory(kilobyte);
    EXPECT_EQ(kg::memory().live_bytes, before + kilobyte);
    EXPECT_EQ(kg::memory().live_tensors, tensors);
  }
  EXPECT_EQ(kg::memory().live_bytes, before);
}

TEST(counted_memory, is_refused_beyond_limits_and_budgets) {
  kg::counted_memory counted(kilobyte);
  {
    const kg::memory_budget budget(kilobyte);
    EXPECT_TRUE(kgtest::says(kgtest::refusal([&] { return counted.resize(3 * kilobyte), 0; }), {"budget"}));
  }
  kg::set_memory_limit(kg::memory().live_bytes + kilobyte);
  EXPECT_TRUE(kgtest::says(kgtest::refusal([&] { return counted.resize(3 * kilobyte), 0; }), {"limit"}));
  EXPECT_EQ(counted.bytes(), kilobyte);
  counted.resize(2 * kilobyte);
  EXPECT_NE(said_of_floats(1), kgtest::accepted) << "elements and counted memory have one limit";
  kg::set_memory_limit(kg::unlimited);
  EXPECT_TRUE(kgtest::says(kgtest::refusal([] { return kg::counted_memory(-1), 0; }), {"counted_memory"}));
}

}  // namespace
