// SPDX-License-Identifier: Apache-2.0
// For tests of files: a folder that goes away, bytes as texts, and tensors of every dtype.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.io;
import kerngrad.testkit;

namespace kgtest {

/// A folder of its own, removed at the end.
class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kerngrad-io-XXXXXX").string();
    if (!::mkdtemp(name.data())) ADD_FAILURE() << "no folder for files";
    path_ = name;
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  /// A folder with the files of another one.
  explicit folder(const folder* other) : folder() {
    std::filesystem::copy(other->path_, path_, std::filesystem::copy_options::recursive);
  }
  /// The names in it.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Every file of a folder by its name.
inline std::string files_in(const folder& here) {
  std::vector<std::string> names = here.names();
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + "\n" + contents(here / name) + "\n";
  return text;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// What kg::io reads from the bytes of a file of that name.
inline kg::io::named_tensors decoded(std::string_view text, const std::string& name) {
  return kg::io::decode(bytes_of(text), name);
}
/// The same of some of its tensors.
inline kg::io::named_tensors decoded(std::string_view text, const std::string& name,
                                     const std::vector<std::string>& wanted) {
  return kg::io::decode(bytes_of(text), name, wanted);
}

/// The bytes of a number, the lowest first.
template <class T>
std::string little(T value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  return {bytes.begin(), bytes.end()};
}
/// The highest first.
template <class T>
std::string big(T value) {
  const std::string bytes = little(value);
  return {bytes.rbegin(), bytes.rend()};
}

inline std::string_view elements(const kg::tensor& x) {
  return {static_cast<const char*>(x.address()), static_cast<std::size_t>(x.size()) * kg::size_of(x.type())};
}
inline bool same(const kg::tensor& a, const kg::tensor& b) {
  return a.signature() == b.signature() && elements(a) == elements(b);
}

/// A tensor of the dtype with bits of all kinds: NaN, infinities and what no number is near to.
inline kg::tensor any_bits(kg::dtype type, const kg::shape& dims, std::uint64_t seed = 1) {
  kg::testkit::stream random(seed);
  return kg::visit_number(type, [&]<kg::dtype Type>(kg::dtype_constant<Type>) {
    using element = typename kg::dtype_constant<Type>::element;
    return kg::tensor::build<element>(dims, [&](std::span<element> values) {
      for (element& value : values) {
        if constexpr (Type == kg::dtype::boolean) {
          value = (random.bits() & 1) != 0;
        } else {
          const std::uint64_t bits[2] = {random.bits(), random.bits()};
          std::memcpy(&value, bits, sizeof(value));
        }
      }
    });
  });
}

inline const std::vector<kg::shape> shapes_to_save = {
    {}, {1}, {7}, {0}, {2, 3}, {0, 4}, {3, 0, 2}, {2, 3, 5}, {1, 2, 1, 2, 1, 2, 1, 2}};

inline std::vector<kg::dtype> all_dtypes() {
  std::vector<kg::dtype> all;
  for (int i = 0; i < kg::dtype_count; ++i)
    if (kg::any_dtype.has(static_cast<kg::dtype>(i))) all.push_back(static_cast<kg::dtype>(i));
  return all;
}

}  // namespace kgtest
