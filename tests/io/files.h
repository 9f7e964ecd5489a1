// SPDX-License-Identifier: Apache-2.0
// For tests of files: a folder that goes away, bytes as texts, and tensors of every dtype.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
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
  folder();
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder();
  std::string operator/(std::string_view name) const;
  /// A folder with the files of another one.
  explicit folder(const folder* other);
  /// The names in it.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

std::string contents(const std::string& path);

/// Every file of a folder by its name.
std::string files_in(const folder& here);

std::span<const std::byte> bytes_of(std::string_view text);

/// The tensors that kg::io reads from the bytes of a file of that name.
kg::io::named_tensors decoded(std::string_view text, const std::string& name);
/// The same of some of its tensors.
kg::io::named_tensors decoded(std::string_view text, const std::string& name, const std::vector<std::string>& wanted);

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

std::string_view elements(const kg::tensor& x);
bool same(const kg::tensor& a, const kg::tensor& b);

/// A tensor of the dtype with bits of all kinds: NaN, infinities and what no number is near to.
kg::tensor any_bits(kg::dtype type, const kg::shape& dims, std::uint64_t seed = 1);

inline const std::vector<kg::shape> shapes_to_save = {
    {}, {1}, {7}, {0}, {2, 3}, {0, 4}, {3, 0, 2}, {2, 3, 5}, {1, 2, 1, 2, 1, 2, 1, 2}};

std::vector<kg::dtype> all_dtypes();

}  // namespace kgtest
