// SPDX-License-Identifier: Apache-2.0
// The number of threads, and jobs on a pool of the caller's. A pool may throw, return early, or keep a task and
// run it much later, by a copy or by the reference that it got. So tasks never refer to a stack: their state is in
// records that are reused and never freed.
module;
#include <atomic>
#include <cfenv>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/tls_model.h"
module kerngrad;

import :geometry;
import :locks;

namespace kerngrad {
namespace {

using detail::library_lock, detail::lock_of;

// True while this thread runs a caller's pool, or a task of one. The thread runs large work within either in order:
// not every pool takes jobs of its own tasks, and one that runs ops itself would call itself without end.
KG_INITIAL_EXEC constinit thread_local bool within_pool = false;

class enter_pool {
 public:
  enter_pool() : before_(std::exchange(within_pool, true)) {}
  ~enter_pool() { within_pool = before_; }
  enter_pool(const enter_pool&) = delete;
  enter_pool& operator=(const enter_pool&) = delete;

 private:
  bool before_;
};

// One job on a caller's pool. `task` stays valid for good: what runs it after the job has ended finds the job closed.
class pool_job {
 public:
  // Throws std::bad_alloc, and is closed then.
  void open(std::size_t count, kernels::chunk_fn run, void* context) {
    const std::size_t words = (count + bits - 1) / bits;
    if (words > words_) {
      begun_ = std::make_unique<std::atomic<std::uint64_t>[]>(words);
      words_ = words;
    }
    for (std::size_t i = 0; i < words; ++i) begun_[i].store(0, std::memory_order_relaxed);
    count_ = count, run_ = run, context_ = context;
    finished_ = beyond_ = again_ = 0;
    std::fegetenv(&floating_point_);
    state_.fetch_and(~closed, std::memory_order_release);
  }
  // Lets no more tasks begin, and waits for those that have begun.
  void close() noexcept {
    std::uint32_t now = state_.fetch_or(closed, std::memory_order_acq_rel) | closed;
    for (; now != closed; now = state_.load(std::memory_order_acquire)) state_.wait(now, std::memory_order_acquire);
  }
  bool is_complete() const { return finished_ == count_; }
  // Throws unless each task was run once.
  void check() const {
    if (is_complete() && beyond_ == 0 && again_ == 0) return;
    std::string what = "ran " + std::to_string(finished_) + " of " + std::to_string(count_) + " tasks";
    if (again_ > 0) what += ", " + std::to_string(again_) + " of them again";
    if (beyond_ > 0) what += ", and asked " + std::to_string(beyond_) + " times for one that there is not";
    fail("set_thread_pool", "a pool that " + what, "a pool that runs each task once before it returns");
  }

  const std::function<void(std::size_t)> task{[this](std::size_t i) { begin(i); }};
  pool_job* next = nullptr;  // in a list of jobs that are not used

 private:
  void begin(std::size_t i) {
    if (!(state_.fetch_add(1, std::memory_order_acquire) & closed)) run(i);
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == (closed | 1)) state_.notify_all();
  }
  void run(std::size_t i) {
    if (i >= count_) return static_cast<void>(++beyond_);
    const std::uint64_t bit = std::uint64_t{1} << (i % bits);
    if (begun_[i / bits].fetch_or(bit) & bit) return static_cast<void>(++again_);
    // Rounding and denormals are the calling thread's: results must not depend on which thread computes them.
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetenv(&floating_point_);
    {
      const enter_pool here;
      run_(context_, i);
    }
    std::fesetenv(&before);
    finished_.fetch_add(1, std::memory_order_relaxed);
  }

  static constexpr std::size_t bits = 64;
  static constexpr std::uint32_t closed = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> state_{closed};  // `closed`, and how many tasks are in `begin`
  std::size_t count_ = 0, words_ = 0;
  kernels::chunk_fn run_ = nullptr;
  void* context_ = nullptr;
  std::fenv_t floating_point_{};
  std::atomic<std::size_t> finished_{0}, beyond_{0}, again_{0};
  std::unique_ptr<std::atomic<std::uint64_t>[]> begun_{};  // a bit for each task
};

// Jobs in the order in which they were added.
class job_list {
 public:
  void add(pool_job* job) {
    job->next = nullptr;
    *(last_ ? &last_->next : &first_) = job;
    last_ = job;
    ++size_;
  }
  pool_job* take() {
    pool_job* const job = first_;
    if (!job) return nullptr;
    first_ = job->next;
    if (!first_) last_ = nullptr;
    --size_;
    return job;
  }
  std::size_t size() const { return size_; }

 private:
  pool_job *first_ = nullptr, *last_ = nullptr;
  std::size_t size_ = 0;
};

// The caller's pool and the jobs, under the lock `callers`. A job keeps the pool that it began with. Never destroyed:
// objects with static storage may run ops.
struct callers_state {
  std::shared_ptr<const thread_pool> run{};
  job_list idle{};       // all their tasks have run
  job_list abandoned{};  // the pool left tasks out, which may still come
  std::size_t running = 0;

  // A job that no task will come for, if there is one. An abandoned one is used again when there are very many of them:
  // a task that comes so late is one of the new job.
  pool_job* take() {
    constexpr std::size_t most_abandoned = 1024;
    if (pool_job* job = idle.take()) return job;
    return abandoned.size() >= most_abandoned ? abandoned.take() : new (std::nothrow) pool_job;
  }
};
union callers_pool {
  callers_state now{};
  ~callers_pool() {}
};
constinit callers_pool callers;

// More jobs at once are run by their callers. Bounds a pool whose other threads run large work of their own for each
// task, which asks the pool again.
constexpr std::size_t most_running = 64;

// A job for as long as a call runs it.
class running_job {
 public:
  running_job() {
    if (within_pool) return;
    const library_lock lock(lock_of::callers);
    callers_state& now = callers.now;
    pool_ = now.run;  // it may have been taken away a moment ago
    if (pool_ && now.running < most_running) job_ = now.take();
    if (job_) ++now.running;
  }
  ~running_job() {
    if (!job_) return;
    job_->close();
    const library_lock lock(lock_of::callers);
    callers_state& now = callers.now;
    --now.running;
    (job_->is_complete() ? now.idle : now.abandoned).add(job_);
  }
  running_job(const running_job&) = delete;
  running_job& operator=(const running_job&) = delete;

  // False: nothing was run.
  bool run(std::size_t count, kernels::chunk_fn run, void* context) {
    if (!job_) return false;
    try {
      job_->open(count, run, context);
    } catch (const std::bad_alloc&) {
      return false;
    }
    {
      const enter_pool here;
      (*pool_)(count, job_->task);
    }
    job_->close();
    job_->check();
    return true;
  }

 private:
  std::shared_ptr<const thread_pool> pool_{};
  pool_job* job_ = nullptr;
};

void run_on_callers(std::size_t count, kernels::chunk_fn run, void* context) {
  running_job job;
  if (job.run(count, run, context)) return;
  for (std::size_t i = 0; i < count; ++i) run(context, i);
}

}  // namespace

bool detail::uses_callers_pool() {
  const library_lock lock(lock_of::callers);
  return callers.now.run != nullptr;
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
    last = std::exchange(callers.now.run, std::move(next));
    kernels::use_pool(own ? nullptr : run_on_callers);
  }
}

}  // namespace kerngrad
