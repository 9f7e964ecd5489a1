// SPDX-License-Identifier: Apache-2.0
// The backends, those that are initialized, and the one that a call runs on. Calls read the directory of the snapshot
// and never wait; a change takes the writers' lock and publishes another directory.
module;
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#ifdef KG_ONEDNN
#include "kernels/onednn/onednn.h"
#endif
module kerngrad;

import :live;
import :scopes;
import :snapshot;
import :transaction;

namespace kerngrad {
namespace detail {

using live_ptr = std::shared_ptr<const live_backend>;

// How far the removal of a backend is: shared by all states that know the backend, so that setting it needs no memory.
struct removal {
  std::atomic<bool> begun{false};  // look-ups wait for its end
  std::atomic<bool> done{false};   // look-ups pass the backend by, and the next change takes its record out
};

// A backend as calls see it. A thread may look at an old directory for as long as it sleeps: it keeps nothing alive.
struct listed_backend {
  std::string name;
  int priority = 0;
  bool ready = false;  // its kernels are set up, and no thread is about to remove it
  bool own_storage = false;
  std::weak_ptr<const live_backend> live;
  std::shared_ptr<const kernel_table> table;  // that it was registered with
  std::shared_ptr<const removal> leaving;
};

struct backend_directory {
  std::vector<listed_backend> all;  // the highest priority first
  std::weak_ptr<const live_backend> active;
  mutable std::atomic<bool> active_is_removed{false};  // there was no memory for another directory
  fallback on_missing = fallback::refuse;

  const listed_backend* named(std::string_view name) const {
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const listed_backend& b) { return b.name == name && !b.leaving->done; });
    return at == all.end() ? nullptr : &*at;
  }
  std::string names() const {
    std::string text;
    for (const listed_backend& b : all)
      if (!b.leaving->done) text += (text.empty() ? "" : ", ") + b.name;
    return text;
  }
};

std::atomic<int> fast_path_table{0}, direct_path_table{0};

namespace {

// Amount taken from the two words for each reason to avoid a fast path: more than there are built-in tables, so that
// one is enough to bring it below 0, and what is left when all are gone is the active backend's again.
constexpr int per_reason = 8;
static_assert(backend_count < per_reason);

// Buffers whose elements are in a storage only.
std::atomic<std::int64_t> buffers_away{0};

struct backend_record {
  std::string name;
  int priority = 0;
  std::shared_ptr<const backend_factory> factory{};
  std::shared_ptr<const kernel_table> table{};
  live_ptr live{};
  bool making = false;  // its factory runs
  bool ready = false;
  std::shared_ptr<removal> leaving = std::make_shared<removal>();
};

// State that only its writers see, under their lock.
struct backend_set {
  std::vector<backend_record> all;  // in the order of their registration
  live_ptr active;
  fallback on_missing = fallback::refuse;

  backend_record* named(std::string_view name) {
    for (backend_record& b : all)
      if (b.name == name && !b.leaving->done) return &b;
    return nullptr;
  }
};

// By op and dtype; kernels of unknown ops have no entry.
std::shared_ptr<const kernel_table> table_of(std::span<const kernels::entry> kernels) {
  auto table = std::make_shared<kernel_table>();
  for (const kernels::entry& item : kernels) {
    const int id = find_op(item.op);
    if (id < 0) continue;
    (*table)[static_cast<std::size_t>(id * dtype_count + static_cast<int>(item.type))] = {item.run, item.flat1,
                                                                                          item.flat2, nullptr};
  }
  return table;
}

backend_set built_in() {
  backend_set set;
  for (backend which : {backend::simd, backend::reference}) {
    auto live = std::make_shared<live_backend>();
    live->name = name_of(which);
    live->priority = which == backend::simd ? 1 : 0;
    live->table = static_cast<int>(which);
    set.all.push_back({.name = live->name, .priority = live->priority, .live = live, .ready = true});
  }
  set.active = set.all.front().live;
#ifdef KG_ONEDNN
  // Below the others: it has few kernels, so that it is chosen by name and not for being the best.
  set.all.push_back({.name = "onednn", .priority = -1, .table = table_of(kernels::onednn::onednn_kernels)});
#endif
  return set;
}

// Under the writers' lock. Made with the first snapshot, when the library is loaded, and never destroyed: tensors with
// static storage may outlive every other static.
backend_set& backends_now() {
  static backend_set* one = new backend_set(built_in());
  return *one;
}

std::shared_ptr<const backend_directory> directory_of(const backend_set& set) {
  auto made = std::make_shared<backend_directory>();
  for (const backend_record& b : set.all) {
    const auto at =
        std::upper_bound(made->all.begin(), made->all.end(), b.priority,
                         [](int priority, const listed_backend& other) { return priority > other.priority; });
    made->all.insert(at, {.name = b.name,
                          .priority = b.priority,
                          .ready = b.ready,
                          .own_storage = b.live && b.live->memory != nullptr,
                          .live = b.live,
                          .table = b.table,

                          .leaving = b.leaving});
  }
  made->active = set.active;
  made->on_missing = set.on_missing;
  return made;
}

// Sends calls the way of another active backend.
void take_path(const live_backend& from, const live_backend& to) {
  fast_path_table.fetch_add(to.table - from.table);
  direct_path_table.fetch_add(to.table - from.table);
}

// Changes the backends, under the writers' lock: `edit` is called with a copy, which then is published. If it throws,
// nothing has changed.
template <class F>
void change(F edit) {
  backend_set& now = backends_now();
  backend_set next = now;
  std::erase_if(next.all, [](const backend_record& b) { return b.leaving->done.load(); });
  edit(next);
  publish_backends(directory_of(next));
  // After the directory: a call that is sent the slow path finds there whom it was sent to.
  take_path(*now.active, *next.active);
  std::swap(now, next);
}

std::shared_ptr<const backend_directory> directory() {
  const pinned now;
  return now->backends();
}

[[noreturn]] void refuse_unknown(std::string_view function, std::string_view name) {
  fail(function, "the backend " + std::string(name), "one of " + directory()->names(), "register it first");
}

thread_local scope_list<live_ptr> scopes;  // what the backend_scopes of this thread say

void set_ready(std::string_view name, bool ready) {
  change([&](backend_set& set) {
    if (backend_record* b = set.named(name)) b->ready = ready;
  });
}

// Under the writers' lock.
live_ptr made(std::string_view name) {
  auto made = std::make_shared<live_backend>();
  std::shared_ptr<const backend_factory> factory;
  {
    backend_record* b = backends_now().named(name);
    if (!b) refuse_unknown("set_backend", name);
    if (b->live) return b->live;  // a hook of one of its kernels may use it
    if (b->making)
      fail("set_backend", "the backend " + b->name + ", asked for by its own factory", "a factory that makes it",
           "choose it after it was registered");
    factory = b->factory;
    made->name = b->name;
    made->priority = b->priority;
    made->own_table = b->table;
    b->making = true;
  }
  try {
    if (factory && *factory) made->memory = (*factory)();
    // Alive before its kernels are set up: a hook may use the backend.
    change([&](backend_set& set) {
      backend_record* b = set.named(name);
      if (!b)
        fail("set_backend", "the backend " + made->name + ", which its factory removed",
             "one of " + directory()->names());
      b->live = made;
      b->making = false;
    });
  } catch (...) {
    if (backend_record* b = backends_now().named(name)) b->making = false;
    throw;
  }
  try {
    set_up_kernels(name);
    set_ready(name, true);
  } catch (...) {
    // The directory goes on naming it, without owning it.
    if (backend_record* b = backends_now().named(name)) b->live = nullptr;
    throw;
  }
  return made;
}

// The backend of that name, made if it has not been. One that is ready costs no lock.
live_ptr alive(std::string_view name) {
  {
    const std::shared_ptr<const backend_directory> now = directory();
    const listed_backend* b = now->named(name);
    if (!b) refuse_unknown("set_backend", name);
    if (live_ptr live = b->ready && !b->leaving->begun ? b->live.lock() : nullptr) return live;
  }
  const changes_lock changing;
  return made(name);
}

// Under the writers' lock.
void activate(live_ptr which) {
  change([&](backend_set& set) { set.active = std::move(which); });
}

}  // namespace

std::shared_ptr<const backend_directory> first_backends() { return directory_of(backends_now()); }

void leave_fast_path() noexcept {
  leave_direct_path();
  fast_path_table.fetch_sub(per_reason);
}
void return_to_fast_path() noexcept {
  fast_path_table.fetch_add(per_reason);
  return_to_direct_path();
}
// Leaves first and returns if others had left already: no buffer is counted before calls have left.
void note_away() noexcept {
  leave_fast_path();
  if (buffers_away.fetch_add(1) > 0) return_to_fast_path();
}
void note_home() noexcept {
  if (buffers_away.fetch_sub(1) == 1) return_to_fast_path();
}
void leave_direct_path() noexcept { direct_path_table.fetch_sub(per_reason); }
void return_to_direct_path() noexcept { direct_path_table.fetch_add(per_reason); }

live_ptr backend_here() {
  if (scopes) drop_ended(scopes);
  if (scopes) return scopes->what;
  for (;;) {
    const pinned now;
    const backend_directory& all = *now->backends();
    const bool is_removed = all.active_is_removed;
    if (live_ptr active = is_removed ? all.named(name_of(backend::simd))->live.lock() : all.active.lock())
      return active;
    // It was removed since the directory was read: there is another one by now.
  }
}

std::shared_ptr<const kernel_table> own_table_of(std::string_view name) {
  const pinned now;
  const listed_backend* b = now->backends()->named(name);
  return b ? b->table : nullptr;
}

bool is_alive(std::string_view name) {
  const pinned now;
  const listed_backend* b = now->backends()->named(name);
  return b && !b->live.expired();
}

std::vector<live_ptr> fallback_chain(const live_backend& from) {
  std::vector<live_ptr> chain;
  const std::shared_ptr<const backend_directory> now = directory();
  if (now->on_missing == fallback::refuse) return chain;
  for (const listed_backend& b : now->all) {
    if (b.name == from.name) continue;
    try {
      chain.push_back(alive(b.name));
    } catch (const std::exception&) {
      // A backend that cannot be made here is no link of the chain.
    }
  }
  return chain;
}

}  // namespace detail

using namespace detail;

namespace {

// Checks that the kernel has every function that a launcher may call.
void check_entry(const kernels::entry& item) {
  const int id = find_op(item.op);
  if (id < 0) fail("register_kernel_table", "a kernel of " + std::string(item.op), "kernels of built-in ops");
  const convention how = op_table[static_cast<std::size_t>(id)].convention;
  if (!item.run || (!item.flat2 && (how == convention::binary || how == convention::add_n)))
    fail("register_kernel_table", "a kernel of " + std::string(item.op) + " that lacks run or flat2",
         "run, and for ops of two operands flat2 as well");
}

void add_backend(const backend_record& added) {
  if (added.name.empty()) fail("register_backend", "an empty name", "a name");
  const changes_lock changing;
  change([&](backend_set& set) {
    if (set.named(added.name))
      fail("register_backend", "the name " + added.name, "one that is free", "remove it first");
    set.all.push_back(added);
  });
}

}  // namespace

void register_backend(std::string_view name, backend_factory factory, int priority) {
  add_backend({std::string(name), priority, std::make_shared<const backend_factory>(std::move(factory))});
}

void register_kernel_table(std::string_view name, std::span<const kernels::entry> kernels, int priority) {
  for (const kernels::entry& item : kernels) check_entry(item);
  add_backend({std::string(name), priority, {}, table_of(kernels)});
}

void remove_backend(std::string_view name) {
  const changes_lock changing;
  const backend_record* b = backends_now().named(name);
  if (!b) refuse_unknown("remove_backend", name);
  if (b->live && b->live->table >= 0) fail("remove_backend", "the built-in backend " + b->name, "a registered one");
  const live_ptr live = b->live;
  const std::shared_ptr<removal> leaving = b->leaving;
  leaving->begun = true;
  std::exception_ptr thrown;
  try {
    if (live) dispose_kernels(name);
  } catch (...) {
    thrown = std::current_exception();
  }
  for (backend_record& each : backends_now().all)
    if (each.leaving == leaving) each.live = nullptr, each.factory = nullptr;
  leaving->done = true;
  const bool was_active = live && backends_now().active == live;
  try {
    change([&](backend_set& set) {
      if (was_active) set.active = set.all.front().live;
    });
    if (was_active) set_best_backend();
  } catch (const std::bad_alloc&) {
    // Without memory the first built-in backend is the active one.
    if (was_active && backends_now().active == live) {
      live_ptr& active = backends_now().active;
      active = backends_now().all.front().live;
      present_snapshot().backends()->active_is_removed = true;
      take_path(*live, *active);
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void set_backend(std::string_view name) {
  const changes_lock changing;
  activate(alive(name));
}

void set_backend(backend which) { set_backend(name_of(which)); }

std::string set_best_backend() {
  const changes_lock changing;
  const std::shared_ptr<const backend_directory> now = directory();
  for (const listed_backend& b : now->all) {
    try {
      activate(alive(b.name));
      return b.name;
    } catch (const std::exception&) {
      // Not available here: the next one. `reference` always is.
    }
  }
  return active_backend();
}

std::string active_backend() { return backend_here()->name; }

std::vector<backend_info> backends() {
  std::vector<backend_info> all;
  const std::shared_ptr<const backend_directory> now = directory();
  for (const listed_backend& b : now->all) {
    if (b.leaving->done) continue;
    const bool alive = !b.live.expired();
    all.push_back({b.name, b.priority, alive, alive && b.own_storage});
  }
  return all;
}

backend_scope::backend_scope(std::string_view name) {
  here_ = enter_scope(scopes, alive(name));
  leave_fast_path();
}

backend_scope::~backend_scope() {
  end_scope(scopes, here_);
  return_to_fast_path();
}

void set_fallback(fallback choice) {
  const changes_lock changing;
  change([&](backend_set& set) { set.on_missing = choice; });
}

fallback active_fallback() {
  const pinned now;
  return now->backends()->on_missing;
}

}  // namespace kerngrad
