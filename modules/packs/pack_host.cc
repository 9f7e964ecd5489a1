// SPDX-License-Identifier: Apache-2.0
// Shared by the units of load_pack: the mapped library, the check of its file, the functions that it is given.
module;
#include <memory>
#include "kernels/common/abi.h"
#include "kernels/include/kerngrad/pack.h"
module kerngrad:pack_host;

import :std;
import :core;
import :op;
import :tensor;
import :entry;
import :engine;
import :registry;
import :pack;
import :transaction;

namespace kerngrad::detail {

/// Which file it is, and in which state.
struct file_identity {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t changed_seconds = 0, changed_nanoseconds = 0;
  bool same_file(const file_identity& other) const { return device == other.device && inode == other.inode; }
  bool operator==(const file_identity&) const = default;
};

/// A mapped library: whatever holds code of it holds this.
class pack_library {
 public:
  /// Throws what the dynamic linker says.
  pack_library(std::string path, const file_identity& file);
  ~pack_library();
  pack_library(const pack_library&) = delete;
  pack_library& operator=(const pack_library&) = delete;
  const std::string& path() const { return path_; }
  const file_identity& file() const { return file_; }
  /// Throws when there is none, or one that does not fit.
  const kerngrad_pack_info& info() const;

 private:
  std::string path_;
  file_identity file_;
  void* handle_ = nullptr;
};

struct loaded_pack {
  std::string name, version, path;
  std::shared_ptr<const pack_library> library;  // until it is unloaded
  std::weak_ptr<const pack_library> mapped;
};

/// The members of kerngrad_pack_info that can be read from a file that is not mapped.
struct pack_header {
  std::uint32_t struct_size, abi_version;
  std::uint64_t magic;
  std::uint32_t host_size, reserved;
};
void check_pack_header(const pack_header& header);
/// True if the file is a whole shared library with a header that fits; throws what is wrong.
file_identity check_pack_file(const std::string& path);

/// A name or a text that a pack gave: throws unless it is UTF-8 without control characters, within the lengths.
std::string pack_text(const char* text, std::string_view what, std::size_t least = 1, std::size_t most = 127);

/// Runs the init of a pack; what it registers is added to the transaction.
void run_pack_init(const kerngrad_pack_info& info, std::string where, std::shared_ptr<const void> keeper,
                   transaction& changes);

/// Copies a struct that a pack gave. Bytes beyond what this version knows must be 0.
void read_pack_struct(const void* from, void* to, std::size_t known, std::size_t alignment, std::string_view what);
template <class T>
T pack_struct(const T* from, std::string_view what) {
  T copy;
  read_pack_struct(from, &copy, sizeof(T), alignof(T), what);
  return copy;
}
/// Item i of an array of them, whose items may be larger than they are here.
template <class T>
T pack_item(const T* first, std::int32_t i, std::string_view what) {
  const std::size_t stride = pack_struct(first, what).struct_size;
  const auto* at =
      reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(first) + static_cast<std::size_t>(i) * stride);
  if (at->struct_size != stride) fail(what, "items of different struct_size", "one size in an array");
  return pack_struct(at, what);
}
/// Throws unless it is a count up to `most` of items that are there.
void check_pack_count(std::int32_t count, std::int32_t most, const void* items, std::string_view what);

/// Code of a pack behind a kernel or a gradient.
struct pack_function {
  kerngrad_function run;
  void* user;
  std::string where;  // "pack name (path)"
  int results = 0;    // of the op; of a kernel, 0: as many as the row of the built-in op says
};
std::function<tensor_list(const kernel_call&)> pack_kernel(pack_function code);
std::function<std::vector<named_operand>(const gradient_call&)> pack_gradient(std::string name, pack_function code);
/// The part of the host's table that is for calls.
void fill_call_functions(kerngrad_host& host);

}  // namespace kerngrad::detail
