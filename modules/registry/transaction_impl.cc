// SPDX-License-Identifier: Apache-2.0
// Changes of the registry that happen together or not at all, with the hooks of the kernels that come and go.
module;
#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :live;
import :run;
import :snapshot;
import :transaction;

namespace kerngrad::detail {

std::atomic<int> replaced_gradients{0};

namespace {

using record_list = std::vector<std::shared_ptr<const name_record>>;

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
  if (const int id = find_op(name); id >= 0) made->op = known_entries[static_cast<std::size_t>(id)];
  records.push_back(made);
  return *made;
}

// Nothing is registered for the name.
bool is_empty(const name_record& r) { return !r.user_op && r.kernels.empty() && !r.gradient; }

void drop_if_empty(record_list& records, std::string_view name) {
  std::erase_if(records, [&](const auto& r) { return r->name == name && is_empty(*r); });
}

constexpr auto is_withdrawn = [](const auto& entry) { return entry && entry->withdrawn.load(); };

bool has_withdrawn(const std::shared_ptr<const name_record>& r) {
  return is_withdrawn(r->user_op) || is_withdrawn(r->gradient) ||
         std::any_of(r->kernels.begin(), r->kernels.end(), is_withdrawn);
}

void drop_withdrawn(record_list& records, std::vector<kernel_ptr>& removed) {
  for (std::shared_ptr<const name_record>& record : records) {
    if (!has_withdrawn(record)) continue;
    auto copy = std::make_shared<name_record>(*record);
    std::copy_if(copy->kernels.begin(), copy->kernels.end(), std::back_inserter(removed), is_withdrawn);
    std::erase_if(copy->kernels, is_withdrawn);
    if (is_withdrawn(copy->gradient)) copy->gradient = nullptr;
    if (is_withdrawn(copy->user_op)) copy->op = nullptr, copy->user_op = nullptr;
    record = std::move(copy);
  }
  std::erase_if(records, [](const auto& r) { return is_empty(*r); });
}

std::string location_text(const std::string& where) { return where.empty() ? "" : " at " + where; }

// True if a built-in table has a kernel of the op.
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
  check_schema(given);
  for (operand o : given.operands) {
    o.name = keep(o.name);
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
           "kernel " + k.name + " for backend " + k.backend + location_text(entry->where) + ", which has one" +
               (old ? location_text((*old)->where) : ", built in"),
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
    if (taken == existing::refuse && (record.gradient || (record.op && gradient_of(*record.op))))
      fail("register_gradient",
           "gradient " + g.name + location_text(entry->where) + ", which has one" +
               (record.gradient ? location_text(record.gradient->where) : ", built in"),
           "a name that is free", "unregister it, or pass existing::replace");
    record.gradient = entry;
  });
}

void transaction::add(const op_entry& op, std::string where) {
  auto entry = std::make_shared<registered_op>();
  entry->entry = &op;
  entry->where = std::move(where);
  ops_.push_back(entry);
  changes_.push_back([entry](record_list& records, std::vector<kernel_ptr>&) {
    const op_entry& op = *entry->entry;
    name_record& record = changed(records, op.row->name);
    const auto built_in = std::find_if(record.kernels.begin(), record.kernels.end(), [](const kernel_ptr& k) {
      return k->config.backend == name_of(backend::simd) || k->config.backend == name_of(backend::reference);
    });
    const std::string taken = record.op                          ? "op" + location_text(std::string(record.op_where()))
                              : built_in != record.kernels.end() ? "kernel" + location_text((*built_in)->where)
                              : record.gradient && op.gradient   ? "gradient" + location_text(record.gradient->where)
                                                                 : "";
    if (!taken.empty())
      fail("register_op", "op " + record.name + location_text(entry->where) + ", whose name has a registered " + taken,
           "a name that is free", "unregister it, or register the op first");
    record.op = &op;
    record.user_op = entry;
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

bool transaction::remove_op(std::string_view name) {
  {
    const pinned now;
    const name_record* record = now->find(name);
    if (!record || !record->user_op) return false;
  }
  changes_.push_back([name = std::string(name)](record_list& records, std::vector<kernel_ptr>&) {
    name_record& record = changed(records, name);
    record.op = nullptr;
    record.user_op = nullptr;
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

std::exception_ptr transaction::publish() {
  const changes_lock lock;
  const auto applied = [&](std::vector<kernel_ptr>& removed) {
    record_list records = present_snapshot().records();
    drop_withdrawn(records, removed);
    for (const change& apply : changes_) apply(records, removed);
    return records;
  };
  std::vector<kernel_ptr> removed;
  applied(removed);  // rejects before any hook has run
  try {
    for (const kernel_ptr& k : kernels_) set_up(*k);
    removed.clear();
    record_list changed = applied(removed);  // again: a hook may have changed the registry
    publish_records(std::move(changed));
  } catch (...) {
    for (const kernel_ptr& k : kernels_) dispose_quietly(*k);
    throw;
  }
  int replaced = 0;
  for (const auto& record : present_snapshot().records()) replaced += record->op && record->gradient;
  replaced_gradients.store(replaced);
  std::exception_ptr thrown;
  for (const kernel_ptr& k : removed) {
    try {
      dispose(*k);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  return thrown;
}

void transaction::commit() {
  if (const std::exception_ptr thrown = publish()) std::rethrow_exception(thrown);
}

std::exception_ptr sweep_withdrawn() noexcept {
  try {
    const changes_lock lock;
    const record_list& records = present_snapshot().records();
    if (std::none_of(records.begin(), records.end(), has_withdrawn)) return nullptr;
    return transaction().publish();
  } catch (...) {  // no memory
    return nullptr;
  }
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
  const changes_lock lock;  // keeps the present state in memory, should a hook change the registry
  std::exception_ptr thrown;
  for (const auto& record : present_snapshot().records()) {
    const kernel_ptr* on_it = record->kernel_on(backend);
    if (!on_it) continue;
    try {
      dispose(**on_it);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace kerngrad::detail
