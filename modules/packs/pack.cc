// SPDX-License-Identifier: Apache-2.0
// Kernel packs: shared libraries with kernels and gradients, taken in at run time through the C interface of
// <kerngrad/pack.h>.
export module kerngrad:pack;

import :std;
import :core;

namespace kerngrad::detail {
struct loaded_pack;
}

export namespace kerngrad {

/// A loaded kernel pack: a shared library with kernels and gradients. Copies of the handle refer to the same pack.
/// Destroying handles unloads nothing.
class pack {
 public:
  /// The name that the pack reports.
  const std::string& name() const;
  /// Version that the pack reports; may be empty.
  const std::string& version() const;
  /// Path of the pack's file, with symbolic links resolved.
  const std::string& path() const;
  /// True until the pack is unloaded: its kernels and gradients are in the registry.
  bool loaded() const;

  /// Removes all kernels and gradients of the pack from the registry, also copies for other backends. Registrations
  /// that have replaced them stay. Throws if the pack is unloaded already. The library stays mapped while anything uses
  /// its code. Users of it are recordings with a call of it, handles of find_kernel, calls that run on other threads,
  /// and old states of the registry. A thread keeps its last state until its next call by name or its end. References
  /// that other threads released are found by the next change of the registry, or by mapped().
  void unload();
  /// True if the library is still in the process, as it is while the pack is loaded. Load its file in another version
  /// only when this is false.
  bool mapped() const;

  friend bool operator==(const pack& a, const pack& b) { return a.state_ == b.state_; }

 private:
  friend pack load_pack(std::string_view);
  friend std::vector<pack> loaded_packs();
  explicit pack(std::shared_ptr<detail::loaded_pack> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::loaded_pack> state_;
};

/// Loads a pack and registers its kernels and gradients. The path must contain a directory: there is no search path.
/// Throws for files that are no pack, a pack that reports an error, names that are taken, and a pack that is loaded
/// already. Throws for a pack of another version of the interface, before the library is mapped. If it throws, the
/// registry is unchanged. A pack is code, and can do anything that the program can.
pack load_pack(std::string_view path);
/// Loads the pack in the file `name`.so of a directory. Throws as for a path.
pack load_pack(std::string_view directory, std::string_view name);
/// The packs that are loaded, in the order of their loading.
std::vector<pack> loaded_packs();

}  // namespace kerngrad
