// SPDX-License-Identifier: Apache-2.0
// Backends: where kernels run. Two are built in; others are registered at run time, live from their first use until
// they are removed, and may keep elements in a storage of their own.
module;
#include "kernels/common/abi.h"
export module kerngrad:backend;

import :std;
import :core;
import :table;
import :storage;

export namespace kerngrad {

/// A function that initializes a backend; the library calls it once, at the first use of the backend. It returns the
/// backend's storage, or null if its kernels work on host memory. It throws if the backend is not available here (no
/// device, no driver); the active backend then stays.
using backend_factory = std::function<std::shared_ptr<storage>()>;

/// Adds a backend. It is initialized at its first use. Backends of a higher `priority` come first in set_best_backend()
/// and when another backend's kernel stands in for a missing one; simd has 1, reference 0. Throws for a name that is
/// empty or taken.
void register_backend(std::string_view name, backend_factory factory, int priority = 2);
/// Adds a backend from a table of kernels, which are plain C++ functions on host memory. Each takes the geometry struct
/// of its op's family (kernels/*/*.h). Write them with <kerngrad/kernel.h> or on top of another library. Throws for a
/// name that is taken and for a kernel of an unknown op.
void register_kernel_table(std::string_view name, std::span<const kernels::entry> kernels, int priority = 2);
/// Removes a backend: runs `dispose` of its kernels and releases its storage. The kernels stay registered; a new
/// backend of that name sets them up again. Tensors in the storage keep it alive and stay readable. If it was the
/// active backend, the best remaining one becomes active. Throws for unknown names and for the built-in backends.
void remove_backend(std::string_view name);

/// Sets the backend that every call runs on, in all threads. The first use initializes it and runs `setup` of its
/// kernels. Throws for an unknown name. If the initialization throws, the exception reaches the caller, and nothing has
/// changed.
void set_backend(std::string_view name);
void set_backend(backend which);
/// Activates the backend of the highest priority that can be initialized, and returns its name.
std::string set_best_backend();
/// The backend that this thread's calls run on.
std::string active_backend();

/// Description of a backend, as `backends()` returns it.
struct backend_info {
  std::string name;
  int priority = 0;
  bool alive = false;        ///< true if it is initialized, and its kernels are set up
  bool own_storage = false;  ///< true if it has its own memory; known once it is initialized
};
/// All backends, the highest priority first.
std::vector<backend_info> backends();

/// Runs the calls of the thread that made it on a backend, as long as the object exists. Other threads are not
/// affected. Scopes nest: the innermost one that still lives counts. They may end in any order.
class backend_scope {
 public:
  /// Throws as set_backend does.
  explicit backend_scope(std::string_view name);
  explicit backend_scope(backend which) : backend_scope(name_of(which)) {}
  ~backend_scope();
  backend_scope(const backend_scope&) = delete;
  backend_scope& operator=(const backend_scope&) = delete;

 private:
  std::shared_ptr<void> here_;
};

/// Behaviour of a call if the active backend has no kernel for it.
enum class fallback : std::uint8_t {
  refuse,       ///< the call throws; the error names the backends that have a kernel
  by_priority,  ///< the kernel of the next backend by priority runs; hooks are told
};
/// Sets the behaviour of all threads if the active backend has no kernel for a call; the default is `refuse`.
void set_fallback(fallback choice);
/// The current setting of `set_fallback`.
fallback active_fallback();

}  // namespace kerngrad
