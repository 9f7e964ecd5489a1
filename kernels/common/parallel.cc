// SPDX-License-Identifier: Apache-2.0
// The pool: threads are started when a job first wants them, spin for some microseconds after a job, then sleep. A
// caller works on its own job and waits only for chunks that others have begun, so that jobs within jobs end, and a
// thread that the system does not run holds up one chunk of few jobs. docs/threads.md says why it is not a library's.
#include "kernels/common/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "kernels/common/targets.h"
#include "kernels/common/tls_model.h"

namespace kerngrad::kernels {
namespace {

using clock = std::chrono::steady_clock;

// How long a caller looks for its helpers to end. Each look costs a pause.
constexpr auto spin_time = std::chrono::microseconds(50);
// How long a helper looks for the next job: a graph has ops between those that are worth a second thread. Short enough
// to be no load.
constexpr auto idle_time = std::chrono::microseconds(500);
// A sleeping thread comes within this on a machine that has a CPU for it.
constexpr auto wake_time = std::chrono::microseconds(100);

// True if this thread runs a chunk: jobs of its own are then within another.
KG_INITIAL_EXEC constinit thread_local bool in_chunk = false;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks for a while.
template <class Done>
void spin_until(Done done, std::chrono::microseconds most) {
  const clock::time_point end = clock::now() + most;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return;
      pause();
    }
  } while (clock::now() < end);
}

// One call of run_chunks; lives on the caller's stack. It is listed while there may be chunks to claim, and stays alive
// while helpers work on it.
class job {
 public:
  job(std::size_t count, chunk_fn run, void* context)
      : room(std::min(threads_allowed(), count) - 1),
        run_(run),
        context_(context),
        stretches_(std::min(room + 1, most_stretches)) {
    for (std::size_t k = 0; k < stretches_; ++k) {
      all_[k].next = k * count / stretches_;
      all_[k].end = (k + 1) * count / stretches_;
    }
  }

  std::size_t room;  // how many helpers may still join
  std::fenv_t floating_point{};
  std::atomic<std::size_t> helpers{0};
  bool helped = false;  // another thread ran a chunk; of the pool's mutex
  job* later = nullptr;

  bool open() const {
    return std::any_of(all_, all_ + stretches_, [](const stretch& s) { return s.next.load(relaxed) < s.end; });
  }
  // Runs what chunks there are; whether there were any. The caller's number is 0, helpers have others. Each begins with
  // a stretch of its own, the same one in the next job: of a chain of ops over equal sizes a thread finds in its cache
  // what it wrote there.
  bool work(std::size_t number) {
    const bool before = std::exchange(in_chunk, true);
    const std::size_t first = number == 0 || stretches_ == 1 ? 0 : 1 + (number - 1) % (stretches_ - 1);
    bool any = false;
    for (std::size_t k = 0; k < stretches_; ++k) {
      stretch& s = all_[(first + k) % stretches_];
      for (std::size_t i; (i = s.next.fetch_add(1, relaxed)) < s.end; any = true) run_(context_, i);
    }
    in_chunk = before;
    return any;
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr std::size_t most_stretches = 16;
  // Chunks that follow each other; those from `next` on are to be claimed.
  struct alignas(64) stretch {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  chunk_fn run_;
  void* context_;
  std::size_t stretches_;
  stretch all_[most_stretches];
};

struct pool {
  std::mutex mutex;
  std::condition_variable work_came, helper_left;
  job* first = nullptr;
  std::size_t threads = 0, asleep = 0;
  unsigned alone = 0, rest = 0;  // jobs still to be run by their callers alone, and how many those were last time
  std::atomic<std::size_t> arrivals{0};  // jobs that were ever listed: what spinning threads look at

  void list(job& j) {
    j.later = first;
    first = &j;
    arrivals.fetch_add(1, std::memory_order_release);
  }
  void unlist(const job& j) {
    job** at = &first;
    while (*at != &j) at = &(*at)->later;
    *at = j.later;
  }
  job* joinable() const {
    for (job* j = first; j; j = j->later)
      if (j->room > 0 && j->open()) return j;
    return nullptr;
  }

  // While the system runs something else on the other CPUs, helpers come when the work is done, or begin a chunk and
  // are put aside. So after a job that was not helped, or was held up, the next ones are run alone: one, three, up to
  // 63. A job within another says nothing of this: the other threads are at work on the outer one.
  bool try_help(bool within) {
    if (alone == 0) return true;
    if (!within) --alone;
    return false;
  }
  void note(bool good) {
    rest = good ? 0 : std::min(2 * rest + 1, 63u);
    alone = rest;
  }

  void start_threads(std::size_t wanted);
  void serve(std::size_t number);
  void help(std::unique_lock<std::mutex>& lock, job& j, std::size_t number);
};

// Made when the library is loaded or by a call before that, and never destroyed: threads sleep in it until the process
// is gone.
alignas(pool) constinit std::byte pool_room[sizeof(pool)] = {};
constinit std::atomic<pool*> the_pool{nullptr};

pool& pool_here() {
  if (pool* there = the_pool.load(std::memory_order_acquire)) return *there;
  static std::once_flag once;  // pthread_once begins again in a forked process
  std::call_once(once, [] { the_pool.store(new (pool_room) pool, std::memory_order_release); });
  return *the_pool.load(std::memory_order_acquire);
}

// A forked process has none of the threads, and a pool that another thread may have locked: it begins with a new one.
[[maybe_unused]] const int told_system =
    pthread_atfork(nullptr, nullptr, [] { the_pool.store(new (pool_room) pool, std::memory_order_release); });

// With the mutex held. If the system has no more threads or memory, there are fewer helpers.
void pool::start_threads(std::size_t wanted) {
  if (threads >= wanted) return;
  // The process's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (threads < wanted) {
    try {
      std::thread([this, number = threads + 1] { serve(number); }).detach();
    } catch (const std::exception&) {  // no thread, or no memory for one
      break;
    }
    ++threads;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void pool::help(std::unique_lock<std::mutex>& lock, job& j, std::size_t number) {
  --j.room;
  j.helpers.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  // Rounding and denormals are the caller's: results must not depend on which thread computes them.
  std::fesetenv(&j.floating_point);
  const bool any = j.work(number);
  lock.lock();
  j.helped = j.helped || any;
  // The last touch of the job: under the lock, so that the caller cannot be between its look and its sleep.
  if (j.helpers.fetch_sub(1, std::memory_order_release) == 1) helper_left.notify_all();
}

void pool::serve(std::size_t number) {
  std::unique_lock lock(mutex);
  for (;;) {
    if (job* j = joinable()) {
      help(lock, *j, number);
      continue;
    }
    const std::size_t seen = arrivals.load(std::memory_order_relaxed);
    lock.unlock();
    spin_until([&] { return arrivals.load(std::memory_order_acquire) != seen; }, idle_time);
    lock.lock();
    if (joinable()) continue;
    ++asleep;
    work_came.wait(lock, [&] { return joinable() != nullptr; });
    --asleep;
  }
}

void run_on_pool(std::size_t count, chunk_fn run, void* context) {
  pool& p = pool_here();
  job j(count, run, context);
  const bool within = in_chunk;
  std::size_t wake = 0;
  bool listed;
  {
    const std::lock_guard lock(p.mutex);
    listed = p.try_help(within);
    if (listed) {
      std::fegetenv(&j.floating_point);
      p.start_threads(j.room);
      p.list(j);
      wake = std::min(j.room, p.asleep);
    }
  }
  const clock::time_point began = clock::now();
  for (; wake > 0; --wake) p.work_came.notify_one();
  j.work(0);
  if (!listed) return;
  const clock::time_point worked = clock::now();
  std::unique_lock lock(p.mutex);
  p.unlist(j);
  const auto left = [&] { return j.helpers.load(std::memory_order_acquire) == 0; };
  if (!left()) {
    lock.unlock();
    spin_until(left, spin_time);
    // Also when the spinning was enough: the last helper leaves the job under the lock.
    lock.lock();
    p.helper_left.wait(lock, left);
  }
  // Short work may be done before a sleeping thread has come, and a helper's last chunk may take as long as the
  // caller's: neither tells of a busy machine.
  if (within || (!j.helped && worked - began < wake_time)) return;
  p.note(j.helped && clock::now() - worked <= std::max<clock::duration>(worked - began, spin_time));
}

std::atomic<pool_fn> other_pool{nullptr};

// A job whose chunks may throw. The pool sees chunks that do not: an exception must not end a thread, nor leave a
// caller's stack while others work on a job that is there.
struct guarded_job {
  chunk_fn run;
  void* context;
  std::atomic<bool> failed{false};
  std::exception_ptr failure{};

  static void run_chunk(void* job, std::size_t i) noexcept {
    guarded_job& g = *static_cast<guarded_job*>(job);
    if (g.failed.load(std::memory_order_relaxed)) return;
    try {
      g.run(g.context, i);
    } catch (...) {
      if (!g.failed.exchange(true)) g.failure = std::current_exception();
    }
  }
};

// A number from 0, which stands for all CPUs, to most_threads; what is no such number is as if it were not there.
std::size_t threads_at_start() {
  const char* text = std::getenv("KERNGRAD_NUM_THREADS");
  if (!text) return 1;
  std::size_t count = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, count);
  if (problem != std::errc{} || stop != end || count > most_threads) return 1;
  return count == 0 ? cpus_available() : count;
}

}  // namespace

namespace detail {
constinit std::atomic<std::size_t> allowed_threads{1};  // ops may run before this file's own initialisation
}  // namespace detail
namespace {
[[maybe_unused]] const bool environment_read = (allow_threads(threads_at_start()), true);
}

void allow_threads(std::size_t count) { detail::allowed_threads.store(count, std::memory_order_relaxed); }

std::size_t cpus_available() {
#if defined(CPU_COUNT)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return std::min(static_cast<std::size_t>(CPU_COUNT(&set)), most_threads);
#endif
  // Without sets of CPUs in <sched.h>, all CPUs of the machine, whichever this process may use.
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_threads);
}

void use_pool(pool_fn pool) { other_pool.store(pool, std::memory_order_release); }

void run_chunks(std::size_t count, chunk_fn run, void* job) {
  require_target();
  guarded_job guarded{run, job};
  const pool_fn other = other_pool.load(std::memory_order_acquire);
  (other ? other : run_on_pool)(count, guarded_job::run_chunk, &guarded);
  if (guarded.failure) std::rethrow_exception(guarded.failure);
}

}  // namespace kerngrad::kernels
