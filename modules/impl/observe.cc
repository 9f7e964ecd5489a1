// SPDX-License-Identifier: Apache-2.0
// The hooks that are in force, and calling them.
module;
#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>
#include "kernels/abi.h"
#include "kernels/targets.h"
module kerngrad;

import :dispatch;
import :tape;

namespace kerngrad {
namespace detail {

std::atomic<int> allocation_watchers{0};

namespace {

// What identifies a thread while it lives: the address of something that each has its own of.
const void* this_thread_mark() {
  thread_local char mark;
  return &mark;
}

struct watcher {
  hooks wanted;
  const void* thread = nullptr;  // null: all threads
};
using watcher_list = std::vector<std::shared_ptr<const watcher>>;

struct watcher_state {
  std::mutex mutex;
  std::shared_ptr<const watcher_list> all = std::make_shared<watcher_list>();
};
watcher_state& watchers() {
  static watcher_state* one = new watcher_state;
  return *one;
}

std::shared_ptr<const watcher_list> present() {
  watcher_state& w = watchers();
  std::lock_guard lock(w.mutex);
  return w.all;
}

// What a hook runs is not watched, or it would watch itself.
constinit thread_local int inside = 0;
struct inside_hook {
  inside_hook() { ++inside; }
  ~inside_hook() { --inside; }
  inside_hook(const inside_hook&) = delete;
  inside_hook& operator=(const inside_hook&) = delete;
};

// Calls one kind of hook of everyone who watches this thread.
template <class Event>
void tell(std::function<void(const Event&)> hooks::* which, const Event& event) {
  const inside_hook quiet;
  std::optional<unrecorded> pause;
  if (current_tape) pause.emplace();  // a thread without a tape records nothing, and is not given one for this
  const std::shared_ptr<const watcher_list> all = present();  // a hook may take itself out meanwhile
  for (const std::shared_ptr<const watcher>& w : *all)
    if (w->wanted.*which && (!w->thread || w->thread == this_thread_mark())) (w->wanted.*which)(event);
}

}  // namespace

std::int64_t now_ns() {
  std::timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

bool watched_here() { return inside == 0 && !present()->empty(); }

watch_run::watch_run(std::string_view op, const live_backend& on, dtype compute, std::span<const tensor* const> in)
    : on_(watched_here()) {
  if (!on_) return;
  if (on.table == static_cast<int>(backend::simd)) target_ = active_simd_target();
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
  watcher_state& w = watchers();
  {
    std::lock_guard lock(w.mutex);
    auto next = std::make_shared<watcher_list>(*w.all);
    next->push_back(added);
    w.all = std::move(next);
  }
  if (added->wanted.allocate) ++allocation_watchers;
  leave_quick_way();
  hook_handle handle;
  handle.added_ = std::move(added);
  return handle;
}

void hook_handle::remove() noexcept {
  const std::shared_ptr<const void> gone = std::exchange(added_, nullptr);
  if (!gone) return;
  watcher_state& w = watchers();
  {
    std::lock_guard lock(w.mutex);
    auto next = std::make_shared<watcher_list>(*w.all);
    std::erase_if(*next, [&](const auto& one) { return one == gone; });
    w.all = std::move(next);
  }
  if (static_cast<const watcher*>(gone.get())->wanted.allocate) --allocation_watchers;
  return_to_quick_way();
}

}  // namespace kerngrad
