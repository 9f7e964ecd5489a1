// SPDX-License-Identifier: Apache-2.0
// The state behind calls, known inside the library only: which backend is active, which hooks are in force, what is
// registered. What can change is in one immutable snapshot; a reader takes it with one load and a hazard pointer, never
// a lock.
module;
#include <exception>
#include "kernels/common/abi.h"
module kerngrad:dispatch;

import :std;
import :core;
import :op;
import :launch;
import :table;
import :storage;
import :tensor;
import :entry;
import :engine;
import :backend;
import :observe;
import :registry;

namespace kerngrad::detail {

// ------------------------------------------------------------------------------------------ storage

buffer* allocate_header(dtype type, const shape& dims);  // of a tensor whose elements are in a storage
void drop_mirrors(mirror* copies) noexcept;
/// Where a tensor's elements are in a storage; copies them there first if they are not.
const void* block_in(const tensor& x, const std::shared_ptr<storage>& where);
/// Leaves a tensor with no other owner its first elements, as many as this shape has; in a smaller block where less
/// than half of its own would be used.
void cut_to(tensor& y, const shape& dims);
tensor allocate_in(const std::shared_ptr<storage>& where, dtype type, const shape& dims, void*& block);

// ------------------------------------------------------------------------------------------ backends

/// A backend that is alive.
struct live_backend {
  std::string name;
  int priority = 0;
  int table = -1;  // of the built-in kernels; -1: another backend
  std::shared_ptr<storage> memory;
  std::shared_ptr<const kernel_table> own_table;  // of a backend that was registered with one

  /// The kernel of an op in the backend's table, if it has one; null where there is none.
  const kernel_slot* slot(const op_entry& op, dtype type) const {
    const kernel_slot* found =
        table >= 0 ? &op.kernel(table, type)
        : own_table && op.id >= 0
            ? &(*own_table)[static_cast<std::size_t>(op.id * dtype_count + static_cast<int>(type))]
            : nullptr;
    return found && found->exists() ? found : nullptr;
  }
};

/// The built-in table that calls run on when nothing but that matters: no thread has a scope of its own, no
/// hook is in force, no element is outside the host's memory. Below 0 otherwise: the slow path checks for each.
extern std::atomic<int> fast_path_table;
inline int fast_table() { return fast_path_table.load(); }
/// The same for the direct path of small calls, which takes a block from the thread's cache itself: below 0 also while
/// there is a memory limit or an allocator of the caller's.
extern std::atomic<int> direct_path_table [[gnu::visibility("hidden")]];
inline int direct_table() { return direct_path_table.load(std::memory_order_relaxed); }
/// Whether the fast path leads to the SIMD kernels.
inline bool on_simd() { return fast_table() == 0; }

/// The backend that this thread's calls run on.
std::shared_ptr<const live_backend> backend_here();
/// The live backends that kernels fall back to, the highest priority first; others are made for it.
std::vector<std::shared_ptr<const live_backend>> fallback_chain(const live_backend& from);

bool is_alive(std::string_view name);
/// The table that a backend was registered with, whether it is alive or not; null for others.
std::shared_ptr<const kernel_table> own_table_of(std::string_view name);
/// One thread at a time changes backends and registry. Held while hooks and factories run, which may change more, from
/// the same thread; never while a call runs, which asks the snapshot. States of the registry that were replaced
/// meanwhile are freed after the outermost has gone: what they hold may be a library, and the dynamic linker that
/// unmaps it has a lock of its own.
struct changes_lock {
  changes_lock();
  ~changes_lock();
  changes_lock(const changes_lock&) = delete;
  changes_lock& operator=(const changes_lock&) = delete;
};

/// While anything else than the active backend matters to calls: a scope, a hook, memory that is not the
/// host's. Each leaving is ended by one return.
void leave_fast_path() noexcept;
void return_to_fast_path() noexcept;
/// While allocations have to look further than the caches.
void leave_direct_path() noexcept;
void return_to_direct_path() noexcept;

// ------------------------------------------------------------------------------------------ scopes

/// A scope of one thread, in the list of those that the thread is in, innermost first. Scopes may end in any order and
/// on any thread: one that has ended is passed by, and leaves the list when its own thread looks.
template <class T>
struct scope_link {
  T what;
  std::shared_ptr<scope_link> outer;
  std::atomic<bool> ended{false};
};
template <class T>
using scope_list = std::shared_ptr<scope_link<T>>;

/// Takes out of a thread's list what has ended.
template <class T>
void drop_ended(scope_list<T>& list) noexcept {
  for (scope_list<T>* at = &list; *at;) {
    if ((*at)->ended) *at = scope_list<T>((*at)->outer);
    else at = &(*at)->outer;
  }
}
template <class T>
std::shared_ptr<void> enter_scope(scope_list<T>& list, T what) {
  drop_ended(list);
  list = scope_list<T>(new scope_link<T>{std::move(what), list});
  return list;
}
template <class T>
void end_scope(scope_list<T>& list, const std::shared_ptr<void>& scope) noexcept {
  static_cast<scope_link<T>*>(scope.get())->ended = true;
  drop_ended(list);
}

// ------------------------------------------------------------------------------------------ watching

bool watched_here();
std::int64_t now_ns();  // of the steady clock
/// Watches one run of a kernel: `begin` at construction, `end` on success only.
class watch_run {
 public:
  watch_run(std::string_view op, const live_backend& on, dtype compute, std::span<const tensor* const> in);
  watch_run(const watch_run&) = delete;
  watch_run& operator=(const watch_run&) = delete;
  void done(const tensor_list& out);

 private:
  kernel_event event_;
  std::string target_;
  bool on_;
};
void watch_fallback(std::string_view op, const live_backend& from, const live_backend& to, dtype compute);
/// Called by the allocator while a hook is in force.
extern std::atomic<int> allocation_watchers;
void watch_allocation(std::int64_t bytes) noexcept;

// ------------------------------------------------------------------------------------------ registry

/// A kernel of the registry with all that belongs to it.
struct registered_kernel {
  kernel_config config;
  std::string where;                   // the place of the registration
  std::shared_ptr<const void> keeper;  // what its code lives in, if that can be unloaded
  op_row row;                          // made of the schema; its views point into the lists below
  std::vector<operand> operands;
  std::vector<attr_spec> attrs;
  std::vector<std::unique_ptr<std::string>> texts;
  bool set_up = false;                 // changed under the writers' lock only
  std::atomic<bool> withdrawn{false};  // its scope has ended: no look-up finds it, and the next change takes it out
  bool checked() const { return row.operands.data() != nullptr || row.attrs.data() != nullptr; }
};
struct registered_gradient {
  gradient_config config;
  std::string where;
  std::shared_ptr<const void> keeper;
  std::atomic<bool> withdrawn{false};
};
/// An op registered with register_op. Its parts are constants: they stay usable when it was withdrawn.
struct registered_op {
  const op_entry* entry;
  std::string where;
  std::atomic<bool> withdrawn{false};
};
using kernel_ptr = std::shared_ptr<registered_kernel>;
using gradient_ptr = std::shared_ptr<registered_gradient>;
using op_ptr = std::shared_ptr<registered_op>;

/// Everything that a name means.
struct name_record {
  std::string name;
  const op_entry* op = nullptr;     // a known op, or one registered with register_op
  op_ptr user_op;                   // the latter
  std::vector<kernel_ptr> kernels;  // one a backend
  gradient_ptr gradient;

  const kernel_ptr* kernel_on(std::string_view backend) const {
    for (const kernel_ptr& k : kernels)
      if (k->config.backend == backend && !k->withdrawn.load(std::memory_order_relaxed)) return &k;
    return nullptr;
  }
  /// Whether the name has an op or a kernel on any backend.
  bool runs() const {
    for (const kernel_ptr& k : kernels)
      if (!k->withdrawn.load(std::memory_order_relaxed)) return true;
    return op_now() != nullptr;
  }
  /// The op, unless its scope has ended.
  const op_entry* op_now() const {
    return user_op && user_op->withdrawn.load(std::memory_order_relaxed) ? nullptr : op;
  }
  /// The registered gradient, unless its scope has ended.
  gradient_ptr gradient_now() const {
    return gradient && !gradient->withdrawn.load(std::memory_order_relaxed) ? gradient : nullptr;
  }
  /// The place where an op of register_op was registered; empty for others.
  std::string_view op_where() const { return user_op ? std::string_view(user_op->where) : std::string_view(); }
};

/// The backends, and which of them calls run on.
struct backend_directory;
std::shared_ptr<const backend_directory> first_backends();
/// Makes these the backends; the registry stays as it is. Under the writers' lock. Throws before anything has changed.
void publish_backends(std::shared_ptr<const backend_directory> backends);

/// One state of backends and registry. Readers see it whole and unchanged. A name is here if something was registered
/// for it; find_name knows the others.
class snapshot {
 public:
  snapshot(std::vector<std::shared_ptr<const name_record>> records, std::shared_ptr<const backend_directory> backends);
  const name_record* find(std::string_view name) const;
  const name_record* find(std::string_view name, std::uint64_t hash) const;
  const std::vector<std::shared_ptr<const name_record>>& records() const { return records_; }
  const std::shared_ptr<const backend_directory>& backends() const { return backends_; }

 private:
  std::vector<std::shared_ptr<const name_record>> records_;
  std::shared_ptr<const backend_directory> backends_;
  std::vector<std::uint32_t> places_;  // open addressing: index + 1 of a record, 0 where there is none
  std::uint64_t mask_ = 0;
};

/// The present state; it stays that under the writers' lock, until the next of these.
const snapshot& present_snapshot();
/// What a name means, registered or not: a known op's own record where nothing was registered for it. A program in
/// which this is called carries every known op; typed calls never do.
const name_record* find_name(const snapshot& now, std::string_view name);
/// Every name, in no order.
std::vector<const name_record*> all_names(const snapshot& now);
/// Makes these the registry's records; the backends stay. Under the writers' lock. Throws before anything has changed.
void publish_records(std::vector<std::shared_ptr<const name_record>> records);

/// Holds the present snapshot for as long as it lives: short, and never across a user's code.
class pinned {
 public:
  pinned();
  ~pinned();
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  inline const snapshot* operator->() const { return at_; }
  inline const snapshot& operator*() const { return *at_; }

 private:
  const snapshot* at_;
};

/// Changes to the registry that happen together or not at all. One is used by one thread.
class transaction {
 public:
  void add(kernel_config config, existing taken, std::string where, std::shared_ptr<const void> keeper = {});
  void add(gradient_config config, existing taken, std::string where, std::shared_ptr<const void> keeper = {});
  void add(const op_entry& op, std::string where);
  /// Removes what has this name; with `only`, not if something else has taken its place. False: there was nothing.
  bool remove_kernel(std::string_view name, std::string_view backend, const registered_kernel* only = nullptr);
  bool remove_gradient(std::string_view name, const registered_gradient* only = nullptr);
  bool remove_op(std::string_view name);
  /// Checks all, runs the hooks of kernels whose backend is alive, publishes. What it throws has changed nothing. What
  /// a `dispose` hook threw after that is given back, or null: the change stands all the same.
  [[nodiscard]] std::exception_ptr publish();
  /// The same for a caller that has nothing left to do: throws that, too.
  void commit();

  const std::vector<kernel_ptr>& kernels() const { return kernels_; }
  const std::vector<gradient_ptr>& gradients() const { return gradients_; }
  const std::vector<op_ptr>& ops() const { return ops_; }

 private:
  using record_list = std::vector<std::shared_ptr<const name_record>>;
  using change = std::function<void(record_list&, std::vector<kernel_ptr>& removed)>;
  std::vector<change> changes_;
  std::vector<kernel_ptr> kernels_;
  std::vector<gradient_ptr> gradients_;
  std::vector<op_ptr> ops_;
};

/// Frees the states of the registry that no thread looks at; this thread lets go of the one that it saw last.
void release_retired();
/// Takes out what was withdrawn. Where there is no memory for it, the next change of the registry does.
[[nodiscard]] std::exception_ptr sweep_withdrawn() noexcept;

/// How many known ops have a gradient in the registry: while it is 0, recording them does not look there.
extern std::atomic<int> replaced_gradients;

/// Kernels of a backend that comes alive: all set up, or none. Of one that ends: all disposed of, then the first
/// exception goes on.
void set_up_kernels(std::string_view backend);
void dispose_kernels(std::string_view backend);
/// The registered kernel for a name on a backend, if there is one.
kernel_ptr registered_for(std::string_view name, std::string_view backend);

// ------------------------------------------------------------------------------------------ running

/// A known op's call, with a registered kernel in place of its own if there is one.
tensor_list run_list(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                     const registered_kernel* instead);
/// The attributes of a call as its kernel sees them: defaults filled in, kinds and ranges checked, integers where
/// whole numbers were given for them.
void check_attrs(const op_row& row, std::span<const attr_value> given, std::span<attr_value> out);
/// One attribute of a call, given, as its kernel sees it.
attr_value check_attr(const op_row& row, const attr_spec& spec, const attr_value& value);
/// Whether they are that already: all given, of the row's kinds, in range.
bool attrs_as_declared(const op_row& row, std::span<const attr_value> given);
void check_operands(const op_row& row, std::span<const tensor* const> in);
/// Refuses a declaration that no call could satisfy, or that would get past the checks of calls.
void check_schema(const kernel_schema& schema);
/// What results of a registered kernel are held to: nothing, the signatures of a row, or those as upper bounds.
struct expected_results {
  std::span<const signature> signatures{};
  bool bounded = false;
};
/// Runs a registered kernel on checked operands, and checks what it gives.
tensor_list run_registered(const registered_kernel& kernel, const live_backend& on, dtype compute,
                           std::span<const operand_ref> operands, std::span<const attribute_ref> attrs,
                           const expected_results& expected);
/// "simd, reference, mine": the backends that have a kernel of that name, or of that op, or empty.
std::string backends_with(std::string_view name);
std::string backends_with(const op_entry& op);
/// The rule of the innermost rule_scope of this thread that has one for an op, built-in or user-defined; null when
/// there is none.
const op_gradient* rule_of_scope(const op_entry& op);

/// Operands and attributes that are in a row's order, under the names of the row; what was omitted is omitted.
class named_by_row {
 public:
  named_by_row(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs);
  named_by_row(const named_by_row&) = delete;
  named_by_row& operator=(const named_by_row&) = delete;
  std::span<const operand_ref> operands() const { return operands_; }
  std::span<const attribute_ref> attrs() const { return attrs_; }

 private:
  std::vector<tensor> list_;
  std::vector<operand_ref> operands_;
  std::vector<attribute_ref> attrs_;
};

/// The dtype that a call's kernel computes in: the common one of its value operands, lifted; without them the one that
/// an attribute says. Attributes are as check_attrs gives them.
dtype common_dtype(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs);
/// The dtype that a call computes in on the active backend: the common one, or float32 for a half that neither the
/// backend nor the registered kernel that stands in for it has a kernel for.
dtype computed_here(const op_entry& op, dtype common, const registered_kernel* instead);
/// The refusal of a call that no kernel takes.
error missing_kernel(const op_entry& op, const live_backend& on, dtype type);

/// Attribute values of a call; room for as many as a row has, none of them touched before it is used.
class attr_list {
 public:
  static constexpr std::size_t capacity = 16;
  explicit attr_list(std::size_t count) : count_(count) {
    for (std::size_t i = 0; i < count; ++i) std::construct_at(values() + i);
  }
  ~attr_list() {
    for (attr_value& value : all()) std::destroy_at(&value);
  }
  attr_list(const attr_list&) = delete;
  attr_list& operator=(const attr_list&) = delete;
  std::span<attr_value> all() { return {values(), count_}; }
  attr_value& operator[](std::size_t i) { return values()[i]; }

 private:
  attr_value* values() { return reinterpret_cast<attr_value*>(room_); }
  std::size_t count_;
  alignas(attr_value) std::byte room_[capacity * sizeof(attr_value)];
};

// ------------------------------------------------------------------------------------------ calls by name

/// Names within two edits of an unknown one.
std::vector<std::string> similar_names(std::string_view wanted);
/// The refusal of a name that means nothing on a backend.
error missing_name(std::string_view name, const live_backend& on);
/// The operands of a call in the order of the row, empty handles where they were omitted.
std::vector<const tensor*> operands_in_order(const op_row& row, std::span<const operand_ref> operands);
/// The attributes of a row in its order, absent where they are not given.
void order_attrs(const op_row& row, std::span<const attribute_ref> given, attr_list& attrs);

}  // namespace kerngrad::detail
