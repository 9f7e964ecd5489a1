// SPDX-License-Identifier: Apache-2.0
// Changes of the registry: all of one or nothing. Known inside the library only.
module;
#include <exception>
#include "kernels/common/abi.h"
module kerngrad:transaction;

import :std;
import :core;
import :entry;
import :registry;
import :snapshot;

namespace kerngrad::detail {

/// Changes to the registry that happen together or not at all. One is used by one thread.
class transaction {
 public:
  void add(kernel_config config, existing taken, std::string where, std::shared_ptr<const void> keeper = {});
  void add(gradient_config config, existing taken, std::string where, std::shared_ptr<const void> keeper = {});
  void add(const op_entry& op, std::string where);
  /// Removes what has this name; with `only`, not if something else has replaced it. False: there was nothing.
  bool remove_kernel(std::string_view name, std::string_view backend, const registered_kernel* only = nullptr);
  bool remove_gradient(std::string_view name, const registered_gradient* only = nullptr);
  bool remove_op(std::string_view name);
  /// Checks all, runs the hooks of kernels whose backend is initialized, publishes. If it throws, nothing has changed.
  /// Returns the exception that a `dispose` hook threw after that, or null: the change stays all the same.
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
/// Takes out what was withdrawn. If there is no memory for it, the next change of the registry does.
[[nodiscard]] std::exception_ptr sweep_withdrawn() noexcept;

/// Kernels of a backend that starts: all set up, or none. For one that ends: all are disposed of, then the first
/// exception goes on.
void set_up_kernels(std::string_view backend);
void dispose_kernels(std::string_view backend);

}  // namespace kerngrad::detail
