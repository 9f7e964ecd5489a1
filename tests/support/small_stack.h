// SPDX-License-Identifier: Apache-2.0
// Runs a function in a thread with a 256 KiB stack: recursion over a long chain would not survive it.
#pragma once
#include <gtest/gtest.h>
#include <pthread.h>

#include <exception>
#include <functional>

namespace kgtest {

inline void on_small_stack(const std::function<void()>& f) {
  struct job {
    const std::function<void()>& run;
    std::exception_ptr thrown;
  } work{f, nullptr};
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  ASSERT_EQ(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    job& mine = *static_cast<job*>(argument);
    try {
      mine.run();
    } catch (...) {
      mine.thrown = std::current_exception();
    }
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attr, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
  if (work.thrown) std::rethrow_exception(work.thrown);
}

}  // namespace kgtest
