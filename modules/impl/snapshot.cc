// SPDX-License-Identifier: Apache-2.0
// The registry's state: immutable snapshots behind one pointer. A reader announces the snapshot that it looks at in
// its thread's hazard pointer (Michael 2004), so that a writer frees only what nobody looks at.
module;
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>
#include "kernels/abi.h"
module kerngrad;

import :dispatch;

namespace kerngrad::detail {

std::atomic<int> replaced_gradients{0};

namespace {

// Names are short: eight bytes at a time, mixed by a multiplication (Knuth's multiplicative hashing).
inline std::uint64_t hash_of(std::string_view name) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::uint64_t h = name.size() * factor;
  const char* p = name.data();
  std::size_t left = name.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * factor;
    h ^= h >> 32;
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < left; ++i) word |= std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  h = (h ^ word) * factor;
  return h ^ (h >> 29);
}

using record_list = std::vector<std::shared_ptr<const name_record>>;

record_list known_records() {
  record_list all;
  for (int id = 0; id < op_count; ++id) {
    auto record = std::make_shared<name_record>();
    record->name = op_table[static_cast<std::size_t>(id)].name;
    record->op = &known_entry(id);
    all.push_back(std::move(record));
  }
  return all;
}

struct hazard {
  std::atomic<const snapshot*> at{nullptr};
  std::atomic<bool> taken{true};
  hazard* next = nullptr;
  int depth = 0;  // of nested readers; their thread's only
};

// Never freed: a writer may walk the list at any time. A thread that ends leaves its hazard to the next one.
std::atomic<hazard*> hazards{nullptr};
[[gnu::tls_model("initial-exec")]] constinit thread_local hazard* mine = nullptr;

hazard* take_hazard() {
  for (hazard* h = hazards.load(std::memory_order_acquire); h; h = h->next) {
    bool is_free = false;
    if (!h->taken.load(std::memory_order_relaxed) && h->taken.compare_exchange_strong(is_free, true)) return h;
  }
  hazard* h = new hazard;
  h->next = hazards.load(std::memory_order_relaxed);
  while (!hazards.compare_exchange_weak(h->next, h)) {
  }
  return h;
}

hazard& first_use() {
  struct owner {
    owner() { mine = take_hazard(); }
    ~owner() {
      hazard* h = std::exchange(mine, nullptr);
      h->at.store(nullptr, std::memory_order_release);
      h->taken.store(false, std::memory_order_release);
    }
  };
  thread_local owner of_this_thread;
  if (!mine) mine = take_hazard();  // a call while the thread ends: this hazard is not given back
  return *mine;
}

struct registry_state {
  std::atomic<const snapshot*> current{new snapshot(known_records(), first_backends())};
  std::vector<std::unique_ptr<const snapshot>> retired, unused;  // under the writers' lock
};
registry_state& state() {
  static registry_state* one = new registry_state;  // outlives every static that calls a kernel while it is destroyed
  return *one;
}

bool is_looked_at(const std::unique_ptr<const snapshot>& old) {
  for (const hazard* h = hazards.load(); h; h = h->next)
    if (h->at.load() == old.get()) return true;
  return false;
}

// Those that no thread looks at; under the writers' lock.
void find_unused() {
  registry_state& s = state();
  const auto first = std::partition(s.retired.begin(), s.retired.end(), is_looked_at);
  s.unused.insert(s.unused.end(), std::make_move_iterator(first), std::make_move_iterator(s.retired.end()));
  s.retired.erase(first, s.retired.end());
}

// Under the writers' lock.
void publish(record_list records, std::shared_ptr<const backend_directory> backends) {
  registry_state& s = state();
  auto next = std::make_unique<const snapshot>(std::move(records), std::move(backends));
  s.retired.reserve(s.retired.size() + 1);
  s.unused.reserve(s.unused.size() + s.retired.size() + 1);
  s.retired.emplace_back(s.current.exchange(next.release()));
  find_unused();
}

constinit thread_local int locks_held = 0;

}  // namespace

changes_lock::changes_lock() {
  lock_changes();
  ++locks_held;
}

changes_lock::~changes_lock() {
  std::vector<std::unique_ptr<const snapshot>> unused;
  if (--locks_held == 0) unused.swap(state().unused);
  unlock_changes();
}

void publish_backends(std::shared_ptr<const backend_directory> backends) {
  publish(state().current.load()->records(), std::move(backends));
}

snapshot::snapshot(record_list records, std::shared_ptr<const backend_directory> backends)
    : records_(std::move(records)), backends_(std::move(backends)) {
  std::size_t size = 256;
  while (size < 4 * records_.size()) size *= 2;
  mask_ = size - 1;
  places_.resize(size);
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    std::uint64_t at = hash_of(records_[i]->name) & mask_;
    while (places_[at]) at = (at + 1) & mask_;
    places_[at] = i + 1;
  }
}

const name_record* snapshot::find(std::string_view name) const {
  for (std::uint64_t at = hash_of(name) & mask_; places_[at]; at = (at + 1) & mask_) {
    const name_record* record = records_[places_[at] - 1].get();
    if (record->name == name) return record;
  }
  return nullptr;
}

// A thread stays pinned to the snapshot that it saw last: the next call finds it there without a store, and one retired
// snapshot a thread at most is kept longer than it is needed.
pinned::pinned() {
  hazard& h = mine ? *mine : first_use();
  if (h.depth++ == 0) {
    const std::atomic<const snapshot*>& current = state().current;
    const snapshot* seen = current.load(std::memory_order_acquire);
    while (h.at.load(std::memory_order_relaxed) != seen) {
      h.at.store(seen);  // sequentially consistent: a writer that does not see this has been seen by the next load
      seen = current.load();
    }
  }
  at_ = h.at.load(std::memory_order_relaxed);
}

pinned::~pinned() { --mine->depth; }

void release_retired() {
  {
    const pinned present;
  }
  const changes_lock lock;
  find_unused();
}

// ------------------------------------------------------------------------------------------ changes

namespace {

// A copy of the record of a name, in the list in place of what was there; made if there was none.
name_record& changed(record_list& records, std::string_view name) {
  for (std::shared_ptr<const name_record>& record : records)
    if (record->name == name) {
      auto copy = std::make_shared<name_record>(*record);
      record = copy;
      return *copy;
    }
  auto made = std::make_shared<name_record>();
  made->name = name;
  records.push_back(made);
  return *made;
}

void drop_if_empty(record_list& records, std::string_view name) {
  std::erase_if(records,
                [&](const auto& r) { return r->name == name && !r->op && r->kernels.empty() && !r->gradient; });
}

std::string place_of(const std::string& where) { return where.empty() ? "" : " at " + where; }

// Whether a built-in table has a kernel of the op.
bool has_own_kernel(const op_entry* op, std::string_view on) {
  if (!op) return false;
  for (int b = 0; b < backend_count; ++b) {
    if (name_of(static_cast<backend>(b)) != on) continue;
    for (int type = 0; type < dtype_count; ++type)
      if (op->kernel(b, static_cast<dtype>(type)).exists()) return true;
  }
  return false;
}

// Copies the schema's texts, which the caller may have on its stack, and makes a row of it.
void adopt_schema(registered_kernel& k) {
  const auto keep = [&](std::string_view text) {
    k.texts.push_back(std::make_unique<std::string>(text));
    return std::string_view(*k.texts.back());
  };
  k.row.name = k.config.name;
  if (!k.config.schema) return;
  kernel_schema& given = *k.config.schema;
  if (given.attrs.size() > attr_list::capacity)
    fail("register_kernel", std::to_string(given.attrs.size()) + " attributes", "at most 16");
  if (given.operands.size() > op_gradient::max_operands)
    fail("register_kernel", std::to_string(given.operands.size()) + " operands", "at most 8");
  for (operand o : given.operands) {
    o.name = keep(o.name);
    if (o.list && given.operands.size() > 1)
      fail("register_kernel", "a list operand " + std::string(o.name) + " among others", "a list alone",
           "leave the schema out: operands are then the kernel's business");
    k.operands.push_back(o);
  }
  for (attr_spec a : given.attrs) {
    a.name = keep(a.name), a.doc = keep(a.doc), a.choices = keep(a.choices);
    k.attrs.push_back(a);
  }
  k.row.doc = keep(given.doc);
  k.row.operands = k.operands;
  k.row.attrs = k.attrs;
  given = {};
}

}  // namespace

void transaction::add(kernel_config config, existing taken, std::string where, std::shared_ptr<const void> keeper) {
  if (config.name.empty()) fail("register_kernel", "an empty name", "a name");
  if (config.backend.empty()) fail("register_kernel", "an empty backend", "the name of a backend");
  if (!config.run)
    fail("register_kernel", "kernel " + config.name + " without a function", "a function that computes its results");
  auto entry = std::make_shared<registered_kernel>();
  entry->config = std::move(config);
  entry->where = std::move(where);
  entry->keeper = std::move(keeper);
  adopt_schema(*entry);
  kernels_.push_back(entry);
  changes_.push_back([entry, taken](record_list& records, std::vector<kernel_ptr>& removed) {
    const kernel_config& k = entry->config;
    name_record& record = changed(records, k.name);
    const kernel_ptr* old = record.kernel_on(k.backend);
    if (taken == existing::refuse && (old || has_own_kernel(record.op, k.backend)))
      fail("register_kernel",
           "kernel " + k.name + " for backend " + k.backend + place_of(entry->where) + ", which has one" +
               (old ? place_of((*old)->where) : ", built in"),
           "a name that is free", "unregister it, or pass existing::replace");
    if (!old) return record.kernels.push_back(entry);
    removed.push_back(*old);
    std::replace(record.kernels.begin(), record.kernels.end(), kernel_ptr(*old), entry);
  });
}

void transaction::add(gradient_config config, existing taken, std::string where, std::shared_ptr<const void> keeper) {
  if (config.name.empty()) fail("register_gradient", "an empty name", "a name");
  const bool each = !config.of.empty() && std::all_of(config.of.begin(), config.of.end(), [](const auto& g) {
    return g.run != nullptr && !g.operand.empty();
  });
  if (static_cast<bool>(config.run) == each)
    fail("register_gradient",
         "gradient " + config.name + (each ? " with two kinds of functions" : " without a function"),
         "a function that computes gradients: `run`, or `of` with one an operand");
  auto entry = std::make_shared<registered_gradient>();
  entry->config = std::move(config);
  entry->where = std::move(where);
  entry->keeper = std::move(keeper);
  gradients_.push_back(entry);
  changes_.push_back([entry, taken](record_list& records, std::vector<kernel_ptr>&) {
    const gradient_config& g = entry->config;
    name_record& record = changed(records, g.name);
    if (record.op)
      for (const std::string& operand : g.saves_inputs)
        if (record.op->row->operand_index(operand) < 0)
          fail("register_gradient", "gradient " + g.name + " that saves " + operand, "operands that the op has");
    if (taken == existing::refuse && (record.gradient || (record.op && record.op->gradient)))
      fail("register_gradient",
           "gradient " + g.name + place_of(entry->where) + ", which has one" +
               (record.gradient ? place_of(record.gradient->where) : ", built in"),
           "a name that is free", "unregister it, or pass existing::replace");
    record.gradient = entry;
  });
}

void transaction::add(const op_entry& op, std::string where, std::shared_ptr<const void> keeper) {
  changes_.push_back(
      [&op, where = std::move(where), keeper = std::move(keeper)](record_list& records, std::vector<kernel_ptr>&) {
        name_record& record = changed(records, op.row->name);
        const auto built_in = std::find_if(record.kernels.begin(), record.kernels.end(), [](const kernel_ptr& k) {
          return k->config.backend == name_of(backend::simd) || k->config.backend == name_of(backend::reference);
        });
        const std::string taken = record.op                          ? "op" + place_of(record.op_where)
                                  : built_in != record.kernels.end() ? "kernel" + place_of((*built_in)->where)
                                  : record.gradient && op.gradient   ? "gradient" + place_of(record.gradient->where)
                                                                     : "";
        if (!taken.empty())
          fail("register_op", "op " + record.name + place_of(where) + ", whose name has a registered " + taken,
               "a name that is free", "unregister it, or register the op first");
        record.op = &op;
        record.op_where = where;
        record.op_keeper = keeper;
      });
}

bool transaction::remove_kernel(std::string_view name, std::string_view backend, const registered_kernel* only) {
  {
    const pinned now;
    const name_record* record = now->find(name);
    const kernel_ptr* k = record ? record->kernel_on(backend) : nullptr;
    if (!k || (only && k->get() != only)) return false;
  }
  changes_.push_back([name = std::string(name), backend = std::string(backend)](record_list& records,
                                                                                std::vector<kernel_ptr>& removed) {
    name_record& record = changed(records, name);
    const kernel_ptr* k = record.kernel_on(backend);
    if (!k) fail("unregister_kernel", "kernel " + name + " for backend " + backend, "one that was registered");
    removed.push_back(*k);
    std::erase(record.kernels, kernel_ptr(*k));
    drop_if_empty(records, name);
  });
  return true;
}

bool transaction::remove_gradient(std::string_view name, const registered_gradient* only) {
  {
    const pinned now;
    const name_record* record = now->find(name);
    if (!record || !record->gradient || (only && record->gradient.get() != only)) return false;
  }
  changes_.push_back([name = std::string(name)](record_list& records, std::vector<kernel_ptr>&) {
    changed(records, name).gradient = nullptr;
    drop_if_empty(records, name);
  });
  return true;
}

bool transaction::remove_op(std::string_view name, const op_entry* only) {
  {
    const pinned now;
    const name_record* record = now->find(name);
    if (!record || !record->op || record->op->id >= 0 || (only && record->op != only)) return false;
  }
  changes_.push_back([name = std::string(name)](record_list& records, std::vector<kernel_ptr>&) {
    name_record& record = changed(records, name);
    record.op = nullptr;
    record.op_keeper = nullptr;
    drop_if_empty(records, name);
  });
  return true;
}

namespace {

void set_up(registered_kernel& k) {
  if (k.set_up || !is_alive(k.config.backend)) return;
  if (k.config.setup) k.config.setup();
  k.set_up = true;
}
// Once for each setup, whatever the hook throws.
void dispose(registered_kernel& k) {
  if (!std::exchange(k.set_up, false)) return;
  if (k.config.dispose) k.config.dispose();
}
void dispose_quietly(registered_kernel& k) noexcept {
  try {
    dispose(k);
  } catch (...) {  // the exception that made this necessary is on its way to the caller
  }
}

}  // namespace

void transaction::commit() {
  const changes_lock lock;
  const auto applied = [&](std::vector<kernel_ptr>& removed) {
    record_list records = state().current.load()->records();
    for (const change& apply : changes_) apply(records, removed);
    return records;
  };
  std::vector<kernel_ptr> removed;
  applied(removed);  // refuses before any hook has run
  try {
    for (const kernel_ptr& k : kernels_) set_up(*k);
    removed.clear();
    record_list changed = applied(removed);  // anew: a hook may have changed the registry
    publish(std::move(changed), state().current.load()->backends());
  } catch (...) {
    for (const kernel_ptr& k : kernels_) dispose_quietly(*k);
    throw;
  }
  int replaced = 0;
  for (const auto& record : state().current.load()->records()) replaced += record->op && record->gradient;
  replaced_gradients.store(replaced);
  std::exception_ptr thrown;
  for (const kernel_ptr& k : removed) {
    try {
      dispose(*k);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

namespace {
std::vector<kernel_ptr> kernels_on(std::string_view backend) {
  std::vector<kernel_ptr> all;
  const pinned now;
  for (const auto& record : now->records())
    if (const kernel_ptr* k = record->kernel_on(backend)) all.push_back(*k);
  return all;
}
}  // namespace

void set_up_kernels(std::string_view backend) {
  const changes_lock lock;
  const std::vector<kernel_ptr> all = kernels_on(backend);
  try {
    for (const kernel_ptr& k : all) set_up(*k);
  } catch (...) {
    for (const kernel_ptr& k : all) dispose_quietly(*k);
    throw;
  }
}

void dispose_kernels(std::string_view backend) {
  const changes_lock lock;
  std::exception_ptr thrown;
  for (const kernel_ptr& k : kernels_on(backend)) {
    try {
      dispose(*k);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

kernel_ptr registered_for(std::string_view name, std::string_view backend) {
  const pinned now;
  const name_record* record = now->find(name);
  const kernel_ptr* k = record ? record->kernel_on(backend) : nullptr;
  return k ? *k : nullptr;
}

}  // namespace kerngrad::detail
