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

/// Makes a backend: called once when it is first used. Gives its storage, or null when its kernels work on host
/// memory; throws when the backend is not available here (no device, no driver): what was active stays so.
using backend_factory = std::function<std::shared_ptr<storage>()>;

/// Adds a backend. It is initialized when it is first used. Throws for a name that is taken. Priorities order
/// set_best_backend() and the fall-back of kernels; simd has 1, reference 0.
void register_backend(std::string_view name, backend_factory factory, int priority = 2);
/// Adds a backend whose kernels are a table: plain functions with the geometry structs of the op's family
/// (kernels/*/*.h), written with <kerngrad/kernel.h> or on another library. They work on host memory. Throws, too, for
/// a kernel of an op that the library does not know.
void register_kernel_table(std::string_view name, std::span<const kernels::entry> kernels, int priority = 2);
/// Ends a backend: runs `dispose` of its kernels, which stay registered and are set up again should a backend of that
/// name come back, and lets go of its storage. Tensors that live there keep it alive and stay readable. If it was the
/// active one, the best that is left is active. Throws for names that are not registered and for the built-in ones.
void remove_backend(std::string_view name);

/// Makes a backend the one that every call runs on, in all threads, until it is changed again. Its first use makes it
/// and runs `setup` of its kernels; if any of that throws, it reaches the caller and nothing has changed.
void set_backend(std::string_view name);
void set_backend(backend which);
/// Makes the backend of the highest priority that can be made the active one, and gives its name.
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
/// that lives counts, whichever ends first.
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
/// For all threads; `refuse` until this is called.
void set_fallback(fallback choice);
/// The last choice.
fallback active_fallback();

}  // namespace kerngrad
