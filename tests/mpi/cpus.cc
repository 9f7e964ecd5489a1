// SPDX-License-Identifier: Apache-2.0
// CPUs of ranks: a wait leaves its CPU soon where ranks have more threads than CPUs.
#include "modules/mpi/cpus.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using kerngrad::mpi::detail::cpu_mask;

cpu_mask of(std::initializer_list<int> cpus) {
  cpu_mask mask;
  for (const int cpu : cpus) mask.add(cpu);
  return mask;
}

TEST(cpus, are_crowded_by_the_ranks_that_share_them) {
  struct {
    const char* what;
    std::vector<cpu_mask> ranks;
    int threads;
    bool crowded;
  } const all[] = {
      {"one rank on one CPU", {of({0})}, 1, false},
      {"one rank with two threads on one CPU", {of({0})}, 2, true},
      {"two ranks on any of two CPUs", {of({0, 1}), of({0, 1})}, 1, false},
      {"two ranks of two threads on any of two CPUs", {of({0, 1}), of({0, 1})}, 2, true},
      {"two ranks on any of 1024 CPUs", {of({0, 1023}), of({0, 1023})}, 1, false},
      {"two ranks bound to one CPU each", {of({0}), of({1})}, 1, false},
      {"two ranks of two threads bound to one CPU each", {of({0}), of({1})}, 2, true},
      {"two ranks bound to the same CPU of a larger machine", {of({64}), of({64})}, 1, true},
      {"one rank next to two that are bound elsewhere", {of({0}), of({1}), of({1})}, 1, false},
  };
  for (const auto& one : all)
    EXPECT_EQ(kerngrad::mpi::detail::is_crowded(one.ranks, 0, one.threads), one.crowded) << one.what;
}

TEST(cpus, of_a_process_are_those_to_which_it_is_bound) {
  const cpu_mask before = kerngrad::mpi::detail::own_cpus();
  ASSERT_GT(before.count(), 0);
  int first = 0;
  while (!of({first}).meets(before)) ++first;
  // The thread's binding goes away with it.
  std::thread([first] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const cpu_mask own = kerngrad::mpi::detail::own_cpus();
    EXPECT_EQ(own.count(), 1);
    EXPECT_TRUE(own.meets(of({first})));
  }).join();
}

}  // namespace
