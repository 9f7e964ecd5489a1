// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tests/io/files.h"

namespace kgtest {

folder::folder() {
  std::string name = (std::filesystem::temp_directory_path() / "kerngrad-io-XXXXXX").string();
  if (!::mkdtemp(name.data())) ADD_FAILURE() << "no folder for files";
  path_ = name;
}

folder::folder(const folder* other) : folder() {
  std::filesystem::copy(other->path_, path_, std::filesystem::copy_options::recursive);
}

folder::~folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string folder::operator/(std::string_view name) const { return (path_ / name).string(); }

std::vector<std::string> folder::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().filename());
  return found;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string files_in(const folder& here) {
  std::vector<std::string> names = here.names();
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + "\n" + contents(here / name) + "\n";
  return text;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

kg::io::named_tensors decoded(std::string_view text, const std::string& name) {
  return kg::io::decode(bytes_of(text), name);
}

kg::io::named_tensors decoded(std::string_view text, const std::string& name, const std::vector<std::string>& wanted) {
  return kg::io::decode(bytes_of(text), name, wanted);
}

std::string_view elements(const kg::tensor& x) {
  return {static_cast<const char*>(x.address()), static_cast<std::size_t>(x.size()) * kg::size_of(x.type())};
}

bool same(const kg::tensor& a, const kg::tensor& b) {
  return a.signature() == b.signature() && elements(a) == elements(b);
}

kg::tensor any_bits(kg::dtype type, const kg::shape& dims, std::uint64_t seed) {
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

std::vector<kg::dtype> all_dtypes() {
  std::vector<kg::dtype> all;
  for (int i = 0; i < kg::dtype_count; ++i)
    if (kg::any_dtype.has(static_cast<kg::dtype>(i))) all.push_back(static_cast<kg::dtype>(i));
  return all;
}

}  // namespace kgtest
