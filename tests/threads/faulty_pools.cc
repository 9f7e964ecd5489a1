// SPDX-License-Identifier: Apache-2.0
// Pools of the caller's that break their promise: they throw, return early, run tasks late or twice, or run large work
// themselves. A task that begins after its call has ended does nothing; a call waits for the tasks that have begun.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/common/parallel.h"
#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::tensor;
using kgtest::accepted;
using task_fn = std::function<void(std::size_t)>;

// Text of the exception that the call threw, a pool's among them; `accepted` if none.
template <class F>
std::string outcome_of(F call) {
  try {
    return kgtest::refusal(call);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

class faulty_pool : public ::testing::Test {
 protected:
  faulty_pool() { kg::set_num_threads(4); }
  ~faulty_pool() override {
    kg::set_thread_pool({});
    kg::set_num_threads(1);
  }
};

// Work whose chunks say when one of them runs after the work has ended.
struct watched_work {
  static constexpr std::size_t count = 40;
  std::atomic<int> runs{0}, late{0};
  std::atomic<bool> ended{false};

  // Text of the pool's exception, or of the library's error; `accepted` if neither.
  std::string run() {
    ended = false;
    const std::string said = outcome_of([this] {
      struct end {
        std::atomic<bool>& reached;
        ~end() { reached = true; }
      } const at_end{ended};
      kerngrad::kernels::parallel_chunks(count, [this](std::size_t) {
        ++(ended ? late : runs);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (ended) ++late;
      });
      return 0;
    });
    return said;
  }
};

void run_all(std::size_t from, std::size_t count, const task_fn& task) {
  for (std::size_t i = from; i < count; ++i) task(i);
}

// The pool throws after so many of its tasks have begun, on other threads.
TEST_F(faulty_pool, that_throws_is_waited_for_and_its_exception_reaches_the_caller) {
  for (const std::size_t begun : {std::size_t{0}, watched_work::count / 2, watched_work::count}) {
    SCOPED_TRACE(begun);
    std::vector<std::thread> workers;
    kg::set_thread_pool([&](std::size_t, const task_fn& task) {
      std::atomic<std::size_t> started{0};
      for (std::size_t i = 0; i < begun; ++i)
        workers.emplace_back([&started, task, i] {
          ++started;
          task(i);
        });
      while (started < begun) std::this_thread::yield();
      throw std::runtime_error("the pool has stopped");
    });
    watched_work work;
    EXPECT_NE(work.run().find("the pool has stopped"), std::string::npos);
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(work.late, 0);
    EXPECT_LE(work.runs, static_cast<int>(begun));
  }
}

TEST_F(faulty_pool, that_returns_early_is_waited_for) {
  std::vector<std::thread> workers;
  std::atomic<std::size_t> begun{0};
  kg::set_thread_pool([&](std::size_t count, const task_fn& task) {
    for (std::size_t i = 0; i < count; ++i)
      workers.emplace_back([&begun, task, i] {
        ++begun;
        task(i);
      });
    while (begun < count) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  watched_work work;
  const std::string said = work.run();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(work.late, 0);
  if (said == accepted) EXPECT_EQ(work.runs, static_cast<int>(work.count));
  else EXPECT_NE(said.find("of 40 tasks"), std::string::npos) << said;
}

// Tasks by copy, and by the reference that the pool was given: as a pool keeps them that throws while it hands them
// out.
TEST_F(faulty_pool, may_run_what_it_kept_when_the_call_and_the_pool_are_gone) {
  std::vector<std::function<void()>> kept;
  for (const bool throws : {false, true}) {
    kg::set_thread_pool([&](std::size_t count, const task_fn& task) {
      for (std::size_t i = 3; i < count; ++i) {
        if (i % 2) kept.emplace_back([task, i] { task(i); });
        else kept.emplace_back([&task, i] { task(i); });
      }
      run_all(0, 3, task);
      if (throws) throw std::runtime_error("no room");
    });
    watched_work work;
    EXPECT_NE(work.run().find(throws ? "no room" : "ran 3 of 40"), std::string::npos);
    for (const auto& late : kept) late();
    kg::set_thread_pool({});
    std::thread([&] {
      for (const auto& late : kept) late();
    }).join();
    EXPECT_EQ(work.late, 0);
    EXPECT_EQ(work.runs, 3);
  }
}

TEST_F(faulty_pool, may_run_a_task_again_after_a_call_that_was_right) {
  std::vector<task_fn> kept;
  kg::set_thread_pool([&](std::size_t count, const task_fn& task) {
    kept.push_back(task);
    run_all(0, count, task);
  });
  watched_work work;
  EXPECT_EQ(work.run(), accepted);
  kg::set_thread_pool({});
  run_all(0, work.count, kept[0]);
  EXPECT_EQ(work.runs, static_cast<int>(work.count));
  EXPECT_EQ(work.late, 0);
}

TEST_F(faulty_pool, that_runs_every_task_on_two_threads_at_once_is_refused_and_computes_each_once) {
  kg::set_thread_pool([](std::size_t count, const task_fn& task) {
    std::thread other([&task, count] { run_all(0, count, task); });
    const task_fn copy = task;
    run_all(0, count, copy);
    other.join();
  });
  watched_work work;
  EXPECT_NE(work.run().find("40 of them again"), std::string::npos);
  EXPECT_EQ(work.runs, static_cast<int>(work.count));
}

TEST_F(faulty_pool, that_leaves_tasks_out_ten_thousand_times_needs_little_memory_and_harms_no_later_call) {
  const task_fn* first = nullptr;
  watched_work work;
  kg::set_thread_pool([&](std::size_t, const task_fn& task) {
    if (!first) first = &task;
    throw std::runtime_error("never");
  });
  for (int i = 0; i < 10000; ++i) work.run();
  run_all(0, work.count, *first);
  EXPECT_EQ(work.runs, 0);
  kg::set_thread_pool([](std::size_t count, const task_fn& task) { run_all(0, count, task); });
  EXPECT_EQ(work.run(), accepted);
  EXPECT_EQ(work.runs, static_cast<int>(work.count));
}

// ------------------------------------------------------------------------------------------ pools that compute

TEST_F(faulty_pool, may_run_large_work_itself_which_its_own_thread_does_in_order) {
  const tensor x = kg::ones({1 << 20});
  int calls = 0;
  kg::set_thread_pool([&](std::size_t count, const task_fn& task) {
    ++calls;
    EXPECT_EQ(kg::sum(kg::exp(x)).type(), kg::dtype::float32);
    run_all(0, count, task);
  });
  EXPECT_EQ(outcome_of([&] { return kg::exp(x); }), accepted);
  EXPECT_EQ(calls, 1);
}

TEST_F(faulty_pool, whose_other_threads_run_large_work_themselves_comes_to_an_end) {
  const tensor x = kg::ones({1 << 18});
  std::atomic<int> calls{0};
  kg::set_thread_pool([&](std::size_t count, const task_fn& task) {
    ++calls;
    std::thread([&] { kg::exp(x); }).join();
    run_all(0, count, task);
  });
  EXPECT_EQ(outcome_of([&] { return kg::exp(x); }), accepted);
  EXPECT_LE(calls, 64);
}

TEST_F(faulty_pool, leaves_no_result_that_is_half_written_and_the_next_call_is_right) {
  const tensor x = kg::random_normal({300007}, 0, 1, 5);
  kg::set_num_threads(1);
  const tensor expected = kg::exp(x);
  kg::set_num_threads(4);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    kg::set_thread_pool([first](std::size_t count, const task_fn& task) { run_all(first, count, task); });
    const std::string said = outcome_of([&] { return kg::exp(x); });
    EXPECT_EQ(said == accepted, first == 0) << said;
    kg::set_thread_pool({});
    EXPECT_EQ(kg::exp(x).to_doubles(), expected.to_doubles());
  }
}

TEST_F(faulty_pool, is_used_by_many_threads_at_once_while_it_is_replaced_and_fails_now_and_then) {
  const tensor x = kg::ones({1 << 18});
  const float expected = kg::sum(x).item<float>();
  std::atomic<int> turn{0}, failed{0}, calls{0};
  std::mutex mutex;
  std::vector<std::future<void>> left;
  const auto pool = [&](std::size_t count, const task_fn& task) {
    const int now = ++turn;
    auto other = std::async(std::launch::async, [&task, count] { run_all(count / 2, count, task); });
    if (now % 3 == 0) {
      const std::lock_guard lock(mutex);
      left.push_back(std::move(other));
      throw std::runtime_error("now and then");
    }
    run_all(0, count / 2, task);
    other.wait();
  };
  kg::set_thread_pool(pool);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        ++calls;
        const std::string said = outcome_of([&] {
          EXPECT_EQ(kg::sum(x * 1.f).item<float>(), expected);
          return 0;
        });
        failed += said != accepted;
      }
    });
  while (calls < 200) {
    kg::set_thread_pool({});
    kg::set_thread_pool(pool);
    std::this_thread::yield();
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(failed, calls);
}

// ------------------------------------------------------------------------------------------ chunks that throw

TEST_F(faulty_pool, and_the_librarys_own_pass_on_what_a_chunk_throws_when_all_that_began_have_ended) {
  const kg::thread_pool one_by_one = [](std::size_t count, const task_fn& task) { run_all(0, count, task); };
  for (const kg::thread_pool& pool : {kg::thread_pool(), one_by_one})
    for (const std::size_t bad : {std::size_t{0}, std::size_t{17}, std::size_t{39}}) {
      kg::set_thread_pool(pool);
      std::atomic<int> running{0};
      const std::string said = outcome_of([&] {
        kerngrad::kernels::parallel_chunks(40, [&](std::size_t i) {
          ++running;
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          --running;
          if (i == bad) throw std::runtime_error("no memory");
        });
        return 0;
      });
      EXPECT_EQ(said, "no memory");
      EXPECT_EQ(running, 0);
    }
}

}  // namespace
