// SPDX-License-Identifier: Apache-2.0
// The registry's state: immutable snapshots behind one pointer. A reader announces the snapshot that it looks at in
// its thread's hazard pointer (Michael 2004), so that a writer frees only what no reader looks at.
module;
#include <pthread.h>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <forward_list>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/per_thread.h"
#include "kernels/common/tls_model.h"
module kerngrad;

import :live;
import :locks;
import :snapshot;
import :transaction;

namespace kerngrad::detail {

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
    record->name = op_names_by_id[static_cast<std::size_t>(id)];
    record->op = known_entries[static_cast<std::size_t>(id)];
    all.push_back(std::move(record));
  }
  return all;
}

// Meaning of the names of built-in ops without registrations: made by the first look-up, kept for good. Without a lock,
// so that a fork finds it whole or not at all.
const snapshot& known_names() {
  static constinit std::atomic<const snapshot*> made{nullptr};
  if (const snapshot* names = made.load(std::memory_order_acquire)) return *names;
  auto names = std::make_unique<const snapshot>(known_records(), nullptr);
  const snapshot* first = nullptr;
  return made.compare_exchange_strong(first, names.get()) ? *names.release() : *first;
}

struct hazard {
  std::atomic<const snapshot*> at{nullptr};
  std::atomic<bool> taken{true};
  hazard* next = nullptr;
  int depth = 0;  // of nested readers; their thread's only
};

// Never freed: a writer may walk the list at any time. A thread that ends leaves its hazard to the next one.
std::atomic<hazard*> hazards{nullptr};
KG_INITIAL_EXEC constinit thread_local hazard* mine = nullptr;

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

void give_back(hazard& h) {
  h.at.store(nullptr, std::memory_order_release);
  h.taken.store(false, std::memory_order_release);
}

hazard& first_use() {
  kernels::at_thread_end([](void*) {
    if (hazard* h = std::exchange(mine, nullptr)) give_back(*h);
  });
  return *(mine = take_hazard());
}

// The threads that a forked process does not have look at nothing.
[[maybe_unused]] const int told_system = pthread_atfork(nullptr, nullptr, [] {
  for (hazard* h = hazards.load(); h; h = h->next) {
    if (h == mine) continue;
    h->depth = 0;
    give_back(*h);
  }
});

// In lists, so that passing one on needs no memory.
using snapshots = std::forward_list<snapshot>;

struct registry_state {
  std::atomic<const snapshot*> current;
  snapshots present, retired, unused;  // under the writers' lock; `present` holds the current one

  registry_state() {
    present.emplace_front(record_list(), first_backends());
    current = &present.front();
  }
};
registry_state& state() {
  static registry_state* one = new registry_state;  // outlives every static that calls a kernel while it is destroyed
  return *one;
}
// Made when the library is loaded: a fork must not find it half made.
[[maybe_unused]] const registry_state& made_early = state();

bool is_looked_at(const snapshot& old) {
  for (const hazard* h = hazards.load(); h; h = h->next)
    if (h->at.load() == &old) return true;
  return false;
}

// Those that no thread looks at; under the writers' lock.
void find_unused() noexcept {
  registry_state& s = state();
  for (auto before = s.retired.before_begin(); std::next(before) != s.retired.end();) {
    if (is_looked_at(*std::next(before))) ++before;
    else s.unused.splice_after(s.unused.before_begin(), s.retired, before);
  }
}

// Under the writers' lock. If it throws, nothing has changed.
void replace_present(record_list records, std::shared_ptr<const backend_directory> backends) {
  registry_state& s = state();
  snapshots next;
  next.emplace_front(std::move(records), std::move(backends));
  s.current.store(&next.front());
  s.present.swap(next);
  s.retired.splice_after(s.retired.before_begin(), next);
  find_unused();
}

}  // namespace

changes_lock::changes_lock() { take(lock_of::changes); }

changes_lock::~changes_lock() {
  snapshots unused;
  if (times_taken(lock_of::changes) == 1) unused.swap(state().unused);
  give(lock_of::changes);
}

const snapshot& present_snapshot() { return state().present.front(); }

void publish_records(record_list records) { replace_present(std::move(records), present_snapshot().backends()); }

void publish_backends(std::shared_ptr<const backend_directory> backends) {
  replace_present(present_snapshot().records(), std::move(backends));
}

snapshot::snapshot(record_list records, std::shared_ptr<const backend_directory> backends)
    : records_(std::move(records)), backends_(std::move(backends)) {
  std::size_t size = 256;
  while (size < 4 * records_.size()) size *= 2;
  mask_ = size - 1;
  slots_.resize(size);
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    std::uint64_t at = hash_of(records_[i]->name) & mask_;
    while (slots_[at]) at = (at + 1) & mask_;
    slots_[at] = i + 1;
  }
}

const name_record* snapshot::find(std::string_view name) const { return find(name, hash_of(name)); }

const name_record* snapshot::find(std::string_view name, std::uint64_t hash) const {
  for (std::uint64_t at = hash & mask_; slots_[at]; at = (at + 1) & mask_) {
    const name_record* record = records_[slots_[at] - 1].get();
    if (record->name == name) return record;
  }
  return nullptr;
}

const name_record* find_name(const snapshot& now, std::string_view name) {
  const std::uint64_t hash = hash_of(name);
  const name_record* registered = now.find(name, hash);
  return registered ? registered : known_names().find(name, hash);
}

std::vector<const name_record*> all_names(const snapshot& now) {
  std::vector<const name_record*> all;
  for (const auto& record : now.records()) all.push_back(record.get());
  for (const auto& record : known_names().records())
    if (!now.find(record->name)) all.push_back(record.get());
  return all;
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

kernel_ptr registered_for(std::string_view name, std::string_view backend) {
  const pinned now;
  const name_record* record = now->find(name);
  const kernel_ptr* k = record ? record->kernel_on(backend) : nullptr;
  return k ? *k : nullptr;
}

}  // namespace kerngrad::detail
