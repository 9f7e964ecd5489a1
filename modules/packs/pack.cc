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

/// A pack that was loaded. Copies of the handle are the same pack; letting go of them unloads nothing.
class pack {
 public:
  const std::string& name() const;
  /// Version of the pack by its own account; may be empty.
  const std::string& version() const;
  /// Its file, without symbolic links.
  const std::string& path() const;
  /// True if its names are in the registry.
  bool loaded() const;

  /// Takes all kernels and gradients of the pack out of the registry, copies for other backends too; what has replaced
  /// them is left alone. Throws when that was done before. The library is unmapped when nothing holds its code any
  /// more: recorded graphs with a call of it, handles of find_kernel, calls that run on other threads, and the last
  /// state of the registry that another thread saw, which lasts until that thread's next call by name or its end.
  /// The next change of the registry, or mapped(), finds references that other threads have released meanwhile.
  void unload();
  /// True if the library is still in the process: true while it is loaded. Only when this is false may its file be
  /// loaded again in another version.
  bool mapped() const;

  friend bool operator==(const pack& a, const pack& b) { return a.state_ == b.state_; }

 private:
  friend pack load_pack(std::string_view);
  friend std::vector<pack> loaded_packs();
  explicit pack(std::shared_ptr<detail::loaded_pack> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::loaded_pack> state_;
};

/// Loads a pack: all that it registers is in the registry then. Throws when that cannot be, and the registry is as it
/// was: for files that are no pack, or one for another version of the interface (found out before the library is
/// mapped); for a pack that rejects; for names that are taken; for a pack that is loaded already. The path must
/// contain a directory: nothing is searched. A pack is code, which can do whatever the program can.
pack load_pack(std::string_view path);
/// Loads the pack in the file `name`.so of a directory.
pack load_pack(std::string_view directory, std::string_view name);
/// The packs that are loaded, in the order of their loading.
std::vector<pack> loaded_packs();

}  // namespace kerngrad
