// SPDX-License-Identifier: Apache-2.0
// A forked process has the thread that forked and no other. Whatever the others were doing in the library, everything
// works in it: nothing stays locked, what they were changing is whole, threads are there again.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::tensor;
using kgtest::refusal;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KG_UNDER_TSAN 1  // it allows a forked process no threads
#endif
#endif
#ifndef KG_UNDER_TSAN
#define KG_UNDER_TSAN 0
#endif

// Turns a hang into a failure; no measure of anything.
constexpr unsigned watchdog_seconds = 100;

// Runs a check in a forked process, which says what is wrong, or nothing.
std::string in_fork(const std::function<std::string()>& check) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child < 0) return "no fork";
  if (child == 0) {
    alarm(watchdog_seconds);
    std::string said;
    try {
      said = check();
    } catch (const std::exception& e) {
      said = e.what();
    }
    const ssize_t written = write(ends[1], said.data(), said.size());
    _exit(written == static_cast<ssize_t>(said.size()) ? 7 : 1);
  }
  close(ends[1]);
  std::string said;
  char some[256];
  for (ssize_t n; (n = read(ends[0], some, sizeof some)) > 0;) said.append(some, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "it hangs" : "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 7 ? said : "it ended halfway";
}

kg::kernel_config plus(std::string name, double by) {
  return {.name = std::move(name),
          .run = [by](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x") + by}; }};
}

// Every part of the library that threads share something in.
std::string everything_works() {
  const tensor x(2.0);
  if (kg::exp(tensor(0.f)).item() != 1) return "an op";
  if (kg::grad([](const tensor& t) { return t * t; })(x).item() != 4) return "a gradient";
  const kg::registration mine = kg::scoped_kernel(plus("InTheFork", 3));
  if (kg::run_kernel("InTheFork", {{"x", x}}).item() != 5) return "a kernel that was registered";
  kg::register_kernel(plus("Steady", 7), kg::existing::replace);
  if (kg::run_kernel("Steady", {{"x", x}}).item() != 9) return "a kernel that was replaced";
  int seen = 0;
  const kg::hook_handle hooks = kg::add_hooks({.end = [&](const kg::kernel_event&) { ++seen; }});
  {
    const kg::backend_scope here(kg::backend::reference);
    if ((x + x).item() != 4 || seen == 0) return "hooks and a backend scope";
  }
  kg::register_backend("fork", [] { return std::shared_ptr<kg::storage>(); });
  kg::set_backend("fork");
  kg::set_backend(kg::backend::simd);
  kg::remove_backend("fork");
  kg::set_memory_limit(kg::memory().live_bytes + (1 << 28));
  kg::set_num_threads(3);
  if (kg::sum(kg::exp(kg::zeros({1 << 19}))).item() != 1 << 19) return "work on threads";
  kg::set_memory_limit(kg::unlimited);
  if (!kg::loaded_packs().empty()) return "the list of packs";
  return kg::memory().live_bytes < 0 ? "counting" : "";
}

// Threads that do something again and again, with a pause after it, so that others come to their turn.
class busy_threads {
 public:
  void add(std::function<void()> work) {
    threads_.emplace_back([this, work = std::move(work)] {
      while (!done_) {
        work();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  }
  ~busy_threads() {
    done_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

TEST(a_fork, finds_everything_working_whatever_other_threads_do) {
  if (KG_UNDER_TSAN) GTEST_SKIP() << "the sanitizer allows a forked process no threads";
  kg::register_kernel(plus("Steady", 1));
  {
    busy_threads others;
    others.add([] { const kg::registration fleeting = kg::scoped_kernel(plus("Fleeting", 1)); });
    others.add([] { kg::register_kernel(plus("Steady", 2), kg::existing::replace); });
    others.add([] {
      const kg::hook_handle hooks = kg::add_hooks({.begin = [](const kg::kernel_event&) {}});
      static_cast<void>(kg::add(tensor(1.f), tensor(2.f)));
    });
    others.add([] {
      kg::register_backend("fleeting", [] { return std::shared_ptr<kg::storage>(); });
      static_cast<void>(refusal([] { return kg::backend_scope("fleeting"), 0; }));
      kg::remove_backend("fleeting");
    });
    others.add([] {
      kg::set_cache_limit(1 << 20);
      kg::ones({1 << 17});
      kg::set_cache_limit(1 << 28);
    });
    others.add([] {
      kg::set_num_threads(3);
      static_cast<void>(kg::exp(kg::ones({1 << 18})));
    });
    others.add([] { static_cast<void>(kg::loaded_packs()); });
    for (int i = 0; i < 40; ++i) {
      const std::string said = in_fork(everything_works);
      ASSERT_EQ(said, "") << "in process " << i;
    }
  }
  EXPECT_EQ(everything_works(), "") << "and goes on in the process that forked";
  kg::set_num_threads(1);
  kg::unregister_kernel("Steady");
}

TEST(a_fork, waits_for_a_change_of_the_registry_and_finds_it_whole) {
  if (KG_UNDER_TSAN) GTEST_SKIP() << "the sanitizer allows a forked process no threads";
  std::atomic<bool> inside = false;
  kg::kernel_config slow = plus("Slow", 1);
  slow.setup = [&] {
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  std::thread other([&] { kg::register_kernel(std::move(slow)); });
  while (!inside) std::this_thread::yield();
  const std::string said = in_fork([] {
    kg::register_kernel(plus("Quick", 2));
    const bool both = kg::get_kernel("Slow").has_value() && kg::get_kernel("Quick").has_value();
    return std::string(both ? "" : "a kernel is missing");
  });
  other.join();
  EXPECT_EQ(said, "");
  EXPECT_FALSE(kg::get_kernel("Quick").has_value()) << "that was in the other process";
  kg::unregister_kernel("Slow");
}

TEST(a_fork, of_a_hook_of_the_registry_has_the_lock_that_the_hook_has) {
  if (KG_UNDER_TSAN) GTEST_SKIP() << "the sanitizer allows a forked process no threads";
  std::string said = "not called";
  kg::kernel_config forking = plus("Forking", 1);
  forking.setup = [&] {
    said = in_fork([] {
      kg::register_kernel(plus("Inner", 2));
      std::string text = "another thread waits";
      std::thread([&] { text = kg::get_kernel("Inner") ? "" : "a kernel is missing"; }).join();
      return text;
    });
  };
  const kg::registration scope = kg::scoped_kernel(std::move(forking));
  EXPECT_EQ(said, "");
  EXPECT_TRUE(kg::get_kernel("Forking").has_value());
}

}  // namespace
