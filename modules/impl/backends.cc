// SPDX-License-Identifier: Apache-2.0
// Which backends there are, which are alive, and which one a call runs on.
module;
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>
#include "kernels/abi.h"
#ifdef KG_ONEDNN
#include "kernels/onednn/onednn.h"
#endif
module kerngrad;

import :dispatch;

namespace kerngrad {
namespace detail {

std::atomic<int> quick_table{0};

namespace {

using live_ptr = std::shared_ptr<const live_backend>;

struct known_backend_state {
  std::string name;
  int priority = 0;
  backend_factory factory;
  std::shared_ptr<const kernel_table> table;
  live_ptr live;
};

std::shared_ptr<const kernel_table> table_of(std::span<const kernels::entry> kernels) {
  auto table = std::make_shared<kernel_table>();
  for (const kernels::entry& item : kernels) {
    const int id = find_op(item.op);
    if (id < 0) fail("register_kernel_table", "a kernel of " + std::string(item.op), "kernels of known ops");
    const launch_fn launcher = op_table[static_cast<std::size_t>(id)].launch;
    if (!item.run || (!item.flat2 && (launcher == launch::binary || launcher == launch::add_n)))
      fail("register_kernel_table", "a kernel of " + std::string(item.op) + " that lacks run or flat2",
           "run, and for ops of two operands flat2 as well");
    (*table)[static_cast<std::size_t>(id * dtype_count + static_cast<int>(item.type))] = {item.run, item.flat1,
                                                                                          item.flat2, nullptr};
  }
  return table;
}

// Never destroyed: tensors with static storage may outlive every other static.
struct backend_list {
  std::recursive_mutex changing;
  std::mutex mutex;  // of what follows
  std::vector<known_backend_state> all;
  live_ptr active;
  int reasons[3] = {};
  fallback on_missing = fallback::refuse;

  backend_list() {
    for (backend which : {backend::simd, backend::reference}) {
      auto live = std::make_shared<live_backend>();
      live->name = name_of(which);
      live->priority = which == backend::simd ? 1 : 0;
      live->table = static_cast<int>(which);
      all.push_back({live->name, live->priority, {}, {}, live});
    }
    active = all.front().live;
#ifdef KG_ONEDNN
    // Below the others: it has few kernels, so that it is chosen by name and not for being the best.
    all.push_back({"onednn", -1, {}, table_of(kernels::onednn::onednn_kernels), nullptr});
#endif
  }
  known_backend_state* named(std::string_view name) {
    for (known_backend_state& b : all)
      if (b.name == name) return &b;
    return nullptr;
  }
  // To be called whenever one of its parts changes, under the mutex.
  void update_quick() {
    const bool plain = std::all_of(std::begin(reasons), std::end(reasons), [](int count) { return count == 0; });
    quick_table.store(plain ? active->table : -1);
  }
  std::string names() const {
    std::string text;
    for (const known_backend_state& b : all) text += (text.empty() ? "" : ", ") + b.name;
    return text;
  }
};
backend_list& list() {
  static backend_list* one = new backend_list;
  return *one;
}

thread_local live_ptr scoped;  // what a backend_scope of this thread says

// The backend of that name, made if it has not been. Under `changing`.
live_ptr alive(std::string_view name) {
  backend_list& l = list();
  backend_factory factory;
  auto made = std::make_shared<live_backend>();
  {
    std::lock_guard lock(l.mutex);
    const known_backend_state* b = l.named(name);
    if (!b) fail("set_backend", "the backend " + std::string(name), "one of " + l.names(), "register it first");
    if (b->live) return b->live;
    factory = b->factory;
    made->name = b->name;
    made->priority = b->priority;
    made->own_table = b->table;
  }
  made->memory = factory ? factory() : nullptr;
  if (made->memory) add_reason(reason::foreign_memory);  // before anything can live there; for good, since it may stay
  // Alive before its kernels are set up: a hook may use the backend.
  {
    std::lock_guard lock(l.mutex);
    known_backend_state* b = l.named(name);
    if (!b) fail("set_backend", "the backend " + made->name + ", which its factory removed", "one of " + l.names());
    b->live = made;
  }
  try {
    set_up_kernels(name);
  } catch (...) {
    std::lock_guard lock(l.mutex);
    if (known_backend_state* b = l.named(name)) b->live = nullptr;
    throw;
  }
  return made;
}

// The names of all backends, the highest priority first.
std::vector<std::string> names_by_priority() {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  std::vector<const known_backend_state*> order;
  for (const known_backend_state& b : l.all) order.push_back(&b);
  // Of equals, the one that was registered first: they lie in the list in that order.
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->priority != b->priority ? a->priority > b->priority : a < b;
  });
  std::vector<std::string> names;
  for (const known_backend_state* b : order) names.push_back(b->name);
  return names;
}

void activate(live_ptr which) {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  l.active = std::move(which);
  l.update_quick();
}

}  // namespace

void lock_changes() { list().changing.lock(); }
void unlock_changes() noexcept { list().changing.unlock(); }

live_ptr backend_here() {
  if (scoped) return scoped;
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  return l.active;
}

std::shared_ptr<const kernel_table> own_table_of(std::string_view name) {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  const known_backend_state* b = l.named(name);
  return b ? b->table : nullptr;
}

bool is_alive(std::string_view name) {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  const known_backend_state* b = l.named(name);
  return b && b->live;
}

std::vector<live_ptr> fallback_chain(const live_backend& from) {
  std::vector<live_ptr> chain;
  if (active_fallback() == fallback::refuse) return chain;
  const changes_lock changing;
  for (const std::string& name : names_by_priority()) {
    if (name == from.name) continue;
    try {
      chain.push_back(alive(name));
    } catch (const std::exception&) {
      // A backend that cannot be made here is no link of the chain.
    }
  }
  return chain;
}

void add_reason(reason why) {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  ++l.reasons[static_cast<int>(why)];
  l.update_quick();
}

void drop_reason(reason why) noexcept {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  --l.reasons[static_cast<int>(why)];
  l.update_quick();
}

}  // namespace detail

using namespace detail;

void register_backend(std::string_view name, backend_factory factory, int priority) {
  if (name.empty()) fail("register_backend", "an empty name", "a name");
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  if (l.named(name)) fail("register_backend", "the name " + std::string(name), "one that is free", "remove it first");
  l.all.push_back({std::string(name), priority, std::move(factory), nullptr, nullptr});
}

void register_kernel_table(std::string_view name, std::span<const kernels::entry> kernels, int priority) {
  std::shared_ptr<const kernel_table> table = table_of(kernels);
  register_backend(name, backend_factory(), priority);
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  l.named(name)->table = std::move(table);
}

void remove_backend(std::string_view name) {
  backend_list& l = list();
  const changes_lock changing;
  bool was_active = false, was_alive = false;
  {
    std::lock_guard lock(l.mutex);
    const known_backend_state* b = l.named(name);
    if (!b) fail("remove_backend", "the backend " + std::string(name), "one of " + l.names());
    if (b->live && b->live->table >= 0)
      fail("remove_backend", "the built-in backend " + std::string(name), "a registered one");
    was_alive = b->live != nullptr;
    was_active = was_alive && l.active == b->live;
  }
  std::exception_ptr thrown;
  try {
    if (was_alive) dispose_kernels(name);
  } catch (...) {
    thrown = std::current_exception();
  }
  {
    std::lock_guard lock(l.mutex);
    std::erase_if(l.all, [&](const known_backend_state& b) { return b.name == name; });
    if (was_active) l.active = l.all.front().live;
    l.update_quick();
  }
  // The quick way stays closed if it had a storage: tensors may still live there.
  if (was_active) set_best_backend();
  if (thrown) std::rethrow_exception(thrown);
}

void set_backend(std::string_view name) {
  const changes_lock changing;
  activate(alive(name));
}

void set_backend(backend which) { set_backend(name_of(which)); }

std::string set_best_backend() {
  const changes_lock changing;
  for (const std::string& name : names_by_priority()) {
    try {
      activate(alive(name));
      return name;
    } catch (const std::exception&) {
      // Not available here: the next one. `reference` always is.
    }
  }
  return active_backend();
}

std::string active_backend() { return backend_here()->name; }

std::vector<backend_info> backends() {
  std::vector<backend_info> all;
  backend_list& l = list();
  for (const std::string& name : names_by_priority()) {
    std::lock_guard lock(l.mutex);
    if (const known_backend_state* b = l.named(name))
      all.push_back({b->name, b->priority, b->live != nullptr, b->live && b->live->memory});
  }
  return all;
}

backend_scope::backend_scope(std::string_view name) {
  const changes_lock changing;
  live_ptr now = alive(name);
  add_reason(reason::scope);
  outer_ = std::exchange(scoped, std::move(now));
}

backend_scope::~backend_scope() {
  scoped = std::static_pointer_cast<const live_backend>(std::exchange(outer_, nullptr));
  drop_reason(reason::scope);
}

void set_fallback(fallback choice) {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  l.on_missing = choice;
}

fallback active_fallback() {
  backend_list& l = list();
  std::lock_guard lock(l.mutex);
  return l.on_missing;
}

}  // namespace kerngrad
