// SPDX-License-Identifier: Apache-2.0
// The packs that the build made for the tests, copies of them that were changed, and what a refusal must leave alone.
#pragma once
#include <dlfcn.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

import kerngrad;

namespace kgtest {

inline const std::filesystem::path build_root =
    std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
inline std::string test_pack(const std::string& name) { return build_root / "tests/packs" / (name + ".so"); }

/// True if the dynamic linker has it.
inline bool is_mapped(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  std::ifstream maps("/proc/self/maps");
  const std::string all{std::istreambuf_iterator<char>(maps), {}};
  return handle || all.find(std::filesystem::path(path).filename().string()) != std::string::npos;
}

/// A folder that goes with the test.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = std::filesystem::temp_directory_path() / "kerngrad-packs-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~scratch_folder() { std::filesystem::remove_all(path_); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = path_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A copy in which a 32-bit word of the pack's header, counted from the magic, has another value.
inline std::string with_word(std::string bytes, int word, std::uint32_t value) {
  // The symbols' names are in the file too: the header is where the words before the magic are plausible.
  for (std::size_t at = bytes.find("kerngrad"); at != std::string::npos; at = bytes.find("kerngrad", at + 1)) {
    std::uint32_t before[2] = {};
    if (at >= sizeof(before)) std::memcpy(before, bytes.data() + at - sizeof(before), sizeof(before));
    if (before[1] != 1 || before[0] > 4096) continue;
    std::memcpy(bytes.data() + static_cast<std::ptrdiff_t>(at) + 4 * word, &value, sizeof(value));
    return bytes;
  }
  throw std::runtime_error("a pack without a header");
}
/// A copy in which a text that is there once has been overwritten by another.
inline std::string with_text(std::string bytes, const std::string& old, const std::string& fresh) {
  const std::size_t at = bytes.find(old);
  if (at == std::string::npos) throw std::runtime_error("a pack without " + old);
  return bytes.replace(at, fresh.size(), fresh);
}

/// The rest of the process as a rejected pack must leave it.
struct world {
  std::vector<std::string> ops, kernels;
  std::size_t packs;
  std::int64_t buffers, bytes;
  friend bool operator==(const world&, const world&) = default;
};
inline world world_now() {
  world w{kg::op_names(), {}, kg::loaded_packs().size(), kg::memory().live_buffers, kg::memory().live_bytes};
  for (const kg::backend_info& b : kg::backends())
    for (const kg::kernel_info& k : kg::kernels_for_backend(b.name))
      w.kernels.push_back(b.name + "/" + k.name + " " + k.where + (k.has_gradient ? " differentiable" : ""));
  return w;
}

/// An environment variable for a scope.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~environment() { unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
};

}  // namespace kgtest
