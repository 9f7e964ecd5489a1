// SPDX-License-Identifier: Apache-2.0
// Registrations and the meaning of names, in one immutable snapshot with the backends: a reader takes it with one
// load and a hazard pointer, never a lock. Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:snapshot;

import :std;
import :core;
import :op;
import :tensor;
import :entry;
import :registry;

namespace kerngrad::detail {

/// A kernel of the registry with all that belongs to it.
struct registered_kernel {
  kernel_config config;
  std::string where;                   // location of the registration
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
  const op_entry* op = nullptr;     // a built-in op, or one registered with register_op
  op_ptr user_op;                   // the latter
  std::vector<kernel_ptr> kernels;  // one a backend
  gradient_ptr gradient;

  const kernel_ptr* kernel_on(std::string_view backend) const {
    for (const kernel_ptr& k : kernels)
      if (k->config.backend == backend && !k->withdrawn.load(std::memory_order_relaxed)) return &k;
    return nullptr;
  }
  /// True if the name has an op or a kernel on any backend.
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
  /// The location where an op of register_op was registered; empty for others.
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
  std::vector<std::uint32_t> slots_;  // open addressing: index + 1 of a record, 0 where there is none
  std::uint64_t mask_ = 0;
};

/// Returns the current snapshot. Under the writers' lock it stays current until the next of these functions.
const snapshot& present_snapshot();
/// Meaning of a name, registered or not: a built-in op's own record where nothing was registered for it. A program in
/// which this is called carries every built-in op; typed calls never do.
const name_record* find_name(const snapshot& now, std::string_view name);
/// Every name, in no order.
std::vector<const name_record*> all_names(const snapshot& now);
/// Publishes a snapshot with these records and the current backends. Needs the writers' lock. If it throws, nothing
/// has changed.
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

/// How many built-in ops have a gradient in the registry: while it is 0, recording them does not look there.
extern std::atomic<int> replaced_gradients;

/// The registered kernel for a name on a backend, if there is one.
kernel_ptr registered_for(std::string_view name, std::string_view backend);

}  // namespace kerngrad::detail
