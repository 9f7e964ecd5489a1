// SPDX-License-Identifier: Apache-2.0
// For fuzz targets of files: what is read is saved, and the saved file must hold the same.
#pragma once
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/fuzz/support.h"

import kerngrad.io;

namespace fuzz {

/// A folder for the files of this process, in memory where the system has such a place. It is removed at the end.
inline const std::string& folder() {
  struct made {
    std::string path = std::filesystem::is_directory("/dev/shm")
                           ? "/dev/shm/kerngrad-fuzz-XXXXXX"
                           : (std::filesystem::temp_directory_path() / "kerngrad-fuzz-XXXXXX").string();
    made() {
      if (!::mkdtemp(path.data())) finding("no folder for files");
    }
    ~made() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const made one;
  return one.path;
}

inline std::span<const std::byte> bytes_of(std::span<const std::uint8_t> input) { return std::as_bytes(input); }

/// Bitwise equal elements, shapes and dtypes.
inline bool same(const kg::tensor& a, const kg::tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  if (a.type() == kg::dtype::text) return a.to_texts() == b.to_texts();
  return kg::visit(a.type(), [&](auto is) {
    const auto x = a.template data<typename decltype(is)::element>();
    const auto y = b.template data<typename decltype(is)::element>();
    return x.size() == 0 || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  });
}

inline bool same(const kg::io::named_tensors& a, const kg::io::named_tensors& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y)
    if (x->name != y->name || !same(x->value, y->value)) return false;
  return true;
}

/// Reads the input as a file of that name. Tensors that were read can be saved, and are then read again.
inline void read_and_save(std::span<const std::uint8_t> input, const std::string& name) {
  kg::io::named_tensors read;
  if (!accepted([&] { read = kg::io::decode(bytes_of(input), name); })) return;
  const std::string path = folder() + "/" + name;
  const std::string said = refusal([&] {
    if (read.size() == 1 && read.begin()->name.empty()) kg::io::save(path, kg::tensor(read));
    else kg::io::save(path, read);
  });
  require(said.empty(), "what was read cannot be saved: " + said);
  require(same(kg::io::load(path), read), "a file holds something else than what was saved");
  std::filesystem::remove(path);
}

}  // namespace fuzz
