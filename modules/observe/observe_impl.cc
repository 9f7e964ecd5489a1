// SPDX-License-Identifier: Apache-2.0
// The hooks that are active, and calling them.
module;
#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/targets.h"
module kerngrad;

import :live;
import :locks;
import :tape;
import :watch;

namespace kerngrad {
namespace detail {

std::atomic<int> allocation_watchers{0};

namespace {

// Identifies a running thread by the address of a thread-local object.
const void* this_thread_mark() {
  thread_local char mark;
  return &mark;
}

// A link of the chain of hooks in the order in which they were added: taking one out needs no memory. A walk that
// stands on a link that is taken out goes on from there.
struct watcher {
  hooks wanted;
  const void* thread = nullptr;  // null: all threads
  std::uint64_t number = 0;      // in the order of adding
  bool removed = false;
  std::shared_ptr<watcher> next;
};
using watcher_ptr = std::shared_ptr<watcher>;

// Under the lock `watchers`. Never destroyed: objects with static storage may run ops.
struct watcher_chain {
  watcher_ptr first;
  std::uint64_t added = 0;

  watcher_ptr* end() {
    watcher_ptr* at = &first;
    while (*at) at = &(*at)->next;
    return at;
  }
};
union never_destroyed {
  watcher_chain chain{};
  ~never_destroyed() {}
};
constinit never_destroyed watchers;

bool no_hooks_in_force() {
  const library_lock lock(lock_of::watchers);
  return !watchers.chain.first;
}

// Goes along the hooks that there were at the beginning; those that are taken out meanwhile are passed by.
class round {
 public:
  round() {
    const library_lock lock(lock_of::watchers);
    at_ = watchers.chain.first;
    last_ = watchers.chain.added;
  }
  const watcher* now() const { return at_ && at_->number <= last_ ? at_.get() : nullptr; }
  void step() {
    watcher_ptr next;  // lets go of the last one without the lock: what it holds is a user's
    {
      const library_lock lock(lock_of::watchers);
      for (next = at_->next; next && next->removed;) next = watcher_ptr(next->next);
    }
    at_.swap(next);
  }

 private:
  watcher_ptr at_;
  std::uint64_t last_;
};

// Calls by a hook are not observed, or the hook would observe itself.
constinit thread_local int inside = 0;
struct inside_hook {
  inside_hook() { ++inside; }
  ~inside_hook() { --inside; }
  inside_hook(const inside_hook&) = delete;
  inside_hook& operator=(const inside_hook&) = delete;
};

// Calls one kind of hook, all of those that watch this thread.
template <class Event>
void tell(std::function<void(const Event&)> hooks::* which, const Event& event) {
  const inside_hook quiet;
  std::optional<unrecorded> pause;
  if (current_tape) pause.emplace();  // a thread without a tape records nothing, and is not given one for this
  for (round all; const watcher* w = all.now(); all.step())
    if (w->wanted.*which && (!w->thread || w->thread == this_thread_mark())) (w->wanted.*which)(event);
}

}  // namespace

std::int64_t now_ns() {
  std::timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

bool watched_here() { return inside == 0 && !no_hooks_in_force(); }

watch_run::watch_run(std::string_view op, const live_backend& on, dtype compute, std::span<const tensor* const> in,
                     bool plain_cpp)
    : on_(watched_here()) {
  if (!on_) return;
  if (on.table == static_cast<int>(backend::simd) && !plain_cpp) target_ = active_simd_target();
  event_.op = op;
  event_.backend = on.name;
  event_.target = target_;
  event_.compute = compute;
  event_.in = in;
  event_.backward = walking_back();
  event_.begin_ns = now_ns();
  tell(&hooks::begin, event_);
  event_.begin_ns = now_ns();
}

void watch_run::done(const tensor_list& out) {
  if (!on_) return;
  event_.end_ns = now_ns();
  std::vector<tensor> results;
  for (int k = 0; k < out.size(); ++k) results.push_back(stop_gradient(out[k]));
  event_.out = results;
  tell(&hooks::end, event_);
}

void watch_fallback(std::string_view op, const live_backend& from, const live_backend& to, dtype compute) {
  if (watched_here()) tell(&hooks::fallback, fallback_event{op, from.name, to.name, compute});
}

void watch_allocation(std::int64_t bytes) noexcept {
  if (inside) return;
  try {
    tell(&hooks::allocate, allocation_event{bytes});
  } catch (...) {  // the contract forbids it; an allocation goes on all the same
  }
}

}  // namespace detail

using namespace detail;

hook_handle add_hooks(hooks wanted) {
  auto added = std::make_shared<watcher>();
  added->thread = wanted.this_thread_only ? this_thread_mark() : nullptr;
  added->wanted = std::move(wanted);
  {
    const library_lock lock(lock_of::watchers);
    added->number = ++watchers.chain.added;
    *watchers.chain.end() = added;
  }
  if (added->wanted.allocate) ++allocation_watchers;
  leave_fast_path();
  hook_handle handle;
  handle.added_ = std::move(added);
  return handle;
}

void hook_handle::remove() noexcept {
  const std::shared_ptr<const void> gone = std::exchange(added_, nullptr);
  if (!gone) return;
  {
    const library_lock lock(lock_of::watchers);
    watcher_ptr* at = &watchers.chain.first;
    while (*at != gone) at = &(*at)->next;
    (*at)->removed = true;
    *at = watcher_ptr((*at)->next);
  }
  if (static_cast<const watcher*>(gone.get())->wanted.allocate) --allocation_watchers;
  return_to_fast_path();
}

}  // namespace kerngrad
