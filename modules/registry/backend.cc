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

/// Initializes a backend; called once, at its first use. Returns its storage, or null if its kernels work on host
/// memory. Throws if the backend is not available here (no device, no driver); the active backend then stays.
using backend_factory = std::function<std::shared_ptr<storage>()>;

/// Adds a backend. It is initialized at its first use. Throws for a name that is taken. Priorities order
/// set_best_backend() and the fall-back of kernels; simd has 1, reference 0.
void register_backend(std::string_view name, backend_factory factory, int priority = 2);
/// Adds a backend from a table of kernels: plain functions with the geometry structs of the op's family
/// (kernels/*/*.h), written with <kerngrad/kernel.h> or on another library. They work on host memory. Also throws for a
/// kernel of an unknown op.
void register_kernel_table(std::string_view name, std::span<const kernels::entry> kernels, int priority = 2);
/// Removes a backend: runs `dispose` of its kernels and releases its storage. The kernels stay registered; a new
/// backend of that name sets them up again. Tensors in the storage keep it alive and stay readable. If it was the
/// active backend, the best remaining one becomes active. Throws for unknown names and for the built-in backends.
void remove_backend(std::string_view name);

/// Sets the backend that every call runs on, in all threads. The first use initializes it and runs `setup` of its
/// kernels. If that throws, the exception reaches the caller, and nothing has changed.
void set_backend(std::string_view name);
void set_backend(backend which);
/// Activates the backend of the highest priority that can be initialized, and returns its name.
std::string set_best_backend();
/// The backend that this thread's calls run on.
std::string active_backend();

/// A registered backend as a listing shows it.
struct backend_info {
  std::string name;
  int priority = 0;
  bool alive = false;        ///< it was made, and its kernels are set up
  bool own_storage = false;  ///< known once it is initialized
};
/// All backends, the highest priority first.
std::vector<backend_info> backends();

/// While it lives, the thread that made it runs its calls on a backend; other threads do not. Scopes nest: the youngest
/// living one counts, in whatever order they end.
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

/// Behaviour if the active backend has no kernel for a call.
enum class fallback : std::uint8_t {
  refuse,       ///< an error that names what there is
  by_priority,  ///< the kernel of the next backend by priority that has one runs; hooks see it
};
/// Sets the behaviour for all threads; the default is `refuse`.
void set_fallback(fallback choice);
/// The current behaviour.
fallback active_fallback();

}  // namespace kerngrad
