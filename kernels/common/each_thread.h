// SPDX-License-Identifier: Apache-2.0
// State of a thread that works on a job. Private to kernels/; plain C++, no Highway.
#pragma once
#include <atomic>
#include <thread>
#include <utility>

namespace kerngrad::kernels {

/// A T for each thread that asks, made when it first does. The thread that makes the object has one at hand. Without
/// locks: a process may be forked at any time.
template <class T>
class of_each_thread {
 public:
  of_each_thread() = default;
  of_each_thread(const of_each_thread&) = delete;
  of_each_thread& operator=(const of_each_thread&) = delete;
  ~of_each_thread() {
    for (held* one = first_.load(std::memory_order_acquire); one;) delete std::exchange(one, one->next);
  }

  /// This thread's.
  T& mine() {
    const std::thread::id me = std::this_thread::get_id();
    if (me == maker_) return makers_;
    for (held* one = first_.load(std::memory_order_acquire); one; one = one->next)
      if (one->thread == me) return one->value;
    held* const made = new held{me, first_.load(std::memory_order_relaxed)};
    while (!first_.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return made->value;
  }

 private:
  struct held {
    std::thread::id thread;
    held* next;
    T value{};
  };
  const std::thread::id maker_ = std::this_thread::get_id();
  T makers_{};
  std::atomic<held*> first_{nullptr};
};

}  // namespace kerngrad::kernels
