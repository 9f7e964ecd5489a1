// SPDX-License-Identifier: Apache-2.0
// The number of threads, and jobs on a pool of the caller's.
module;
#include <atomic>
#include <cfenv>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/tls_model.h"
module kerngrad;

import :geometry;
import :locks;

namespace kerngrad {
namespace {

using detail::library_lock, detail::lock_of;

// The caller's pool, under the lock `callers`. A job keeps the one that it began with. Never destroyed: objects with
// static storage may run ops.
union callers_pool {
  std::shared_ptr<const thread_pool> run{};
  ~callers_pool() {}
};
constinit callers_pool callers;

// Whether this thread runs a task of a caller's pool. Not every pool takes jobs of its own tasks, which would wait for
// each other.
KG_INITIAL_EXEC constinit thread_local bool in_task = false;

void run_on_callers(std::size_t count, kernels::chunk_fn run, void* job) {
  std::shared_ptr<const thread_pool> pool;
  {
    const library_lock lock(lock_of::callers);
    pool = callers.run;
  }
  if (!pool || in_task) {  // it may have been taken away a moment ago
    for (std::size_t i = 0; i < count; ++i) run(job, i);
    return;
  }
  std::fenv_t here;
  std::fegetenv(&here);
  // A bit for each task that was begun. One that is asked for again, or does not exist, is not run.
  constexpr std::size_t bits = 64;
  std::vector<std::atomic<std::uint64_t>> begun((count + bits - 1) / bits);
  std::atomic<std::size_t> finished{0}, beyond{0}, again{0};
  (*pool)(count, [&](std::size_t i) {
    if (i >= count) return static_cast<void>(++beyond);
    const std::uint64_t bit = std::uint64_t{1} << (i % bits);
    if (begun[i / bits].fetch_or(bit) & bit) return static_cast<void>(++again);
    // Rounding and denormals are the calling thread's: results must not depend on which thread computes them.
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetenv(&here);
    in_task = true;
    run(job, i);
    in_task = false;
    std::fesetenv(&before);
    finished.fetch_add(1, std::memory_order_release);
  });
  const std::size_t done = finished.load(std::memory_order_acquire);
  if (done == count && beyond == 0 && again == 0) return;
  std::string what = "ran " + std::to_string(done) + " of " + std::to_string(count) + " tasks";
  if (again > 0) what += ", " + std::to_string(again) + " of them again";
  if (beyond > 0) what += ", and asked " + std::to_string(beyond) + " times for one that there is not";
  fail("set_thread_pool", "a pool that " + what, "a pool that runs each task once before it returns");
}

}  // namespace

bool detail::uses_callers_pool() {
  const library_lock lock(lock_of::callers);
  return callers.run != nullptr;
}

void set_num_threads(int count) {
  if (count < 0 || count > static_cast<int>(kernels::most_threads))
    fail("set_num_threads", std::to_string(count) + " threads",
         "0, for as many as there are CPUs, to " + std::to_string(kernels::most_threads));
  kernels::allow_threads(count == 0 ? kernels::cpus_available() : static_cast<std::size_t>(count));
}

int num_threads() { return static_cast<int>(kernels::threads_allowed()); }

void set_thread_pool(thread_pool run) {
  const bool own = !run;
  std::shared_ptr<const thread_pool> next, last;
  if (!own) next = std::make_shared<const thread_pool>(std::move(run));
  {
    const library_lock lock(lock_of::callers);
    last = std::exchange(callers.run, std::move(next));
    kernels::use_pool(own ? nullptr : run_on_callers);
  }
}

}  // namespace kerngrad
