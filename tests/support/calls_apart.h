// SPDX-License-Identifier: Apache-2.0
// Numbered calls in a forked process, watched by this one: a call that does not end is named, and the next ones are
// still made. Include before any import.
#pragma once
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "tests/support/under_asan.h"

namespace kgtest {

/// CPU time that a call may take. Sanitizers have their share.
inline constexpr double seconds_of_call = KG_UNDER_ASAN ? 4 : 1;

/// Calls of a process of its own, one after the other.
class calls_apart {
 public:
  calls_apart() {
    void* const room = mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (room) shared;
  }
  ~calls_apart() { munmap(shared_, sizeof(shared)); }
  calls_apart(const calls_apart&) = delete;
  calls_apart& operator=(const calls_apart&) = delete;

  /// Makes call(i) for i from `first` to `count` - 1, in 4 GiB of address space. Returns the first that does not end in
  /// time, or ends otherwise than by returning; `count` if there is none. problem() says what it did.
  template <class Call>
  std::size_t run(std::size_t first, std::size_t count, const Call& call) {
    shared_->at = first;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child == 0) make(first, count, call);
    problem_ = watch(child);
    return problem_.empty() ? count : shared_->at.load();
  }
  const std::string& problem() const { return problem_; }

 private:
  // Memory that both processes see.
  struct shared {
    std::atomic<std::size_t> at{0};
    char problem[400] = {};
  };

  template <class Call>
  [[noreturn]] void make(std::size_t first, std::size_t count, const Call& call) {
    if (!KG_UNDER_ASAN) {
      const rlimit most{rlim_t{4} << 30, rlim_t{4} << 30};
      setrlimit(RLIMIT_AS, &most);
    }
    for (std::size_t i = first; i < count; ++i) {
      shared_->at = i;
      try {
        call(i);
      } catch (const std::exception& e) {
        std::string(e.what()).copy(shared_->problem, sizeof shared_->problem - 1);
        _exit(1);
      }
    }
    _exit(0);
  }

  static double cpu_seconds_of(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  std::string watch(pid_t process) const {
    std::size_t seen = ~std::size_t{0};
    double began = 0;
    for (;;) {
      int status = 0;
      if (waitpid(process, &status, WNOHANG) == process) {
        if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
        return WEXITSTATUS(status) == 0 ? "" : std::string("the exception ") + shared_->problem;
      }
      const double now = cpu_seconds_of(process);
      if (seen != shared_->at) seen = shared_->at, began = now;
      if (now - began > seconds_of_call) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
        return "no end within " + std::to_string(seconds_of_call) + " s";
      }
      usleep(300);
    }
  }

  shared* shared_;
  std::string problem_;
};

}  // namespace kgtest
