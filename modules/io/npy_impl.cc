// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy, versions 1 to 3 (numpy.lib.format): a magic number, the length of a header, the header, a Python
// literal, and the elements.
module;
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 65535;  // what version 1 can say: no header of numbers needs more
constexpr std::size_t header_alignment = 64;

// The dtypes that NumPy has too.
constexpr dtype_set of_numpy = any_dtype - only(dtype::bfloat16);
// How such a dtype is spelt, after the byte order: its kind, and the bytes of an element.
std::string numpy_code(dtype type) {
  constexpr std::string_view kinds = "biffc";  // in the order of dtype_kind
  const char kind = kinds[static_cast<std::size_t>(kind_of(type))];
  return (kind == 'i' && !is_signed_integer(type) ? 'u' : kind) + std::to_string(size_of(type));
}

struct npy_description {
  std::string type;
  bool fortran = false;
  std::vector<std::int64_t> sizes;
};

// The header's Python literal: a dict of exactly three known keys, in any order.
class literal_reader {
 public:
  literal_reader(const origin& file, std::string_view text) : file_(file), rest_(text) {}

  npy_description read() {
    npy_description found;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = text();
      expect(':');
      if (key == "descr" && !has_type) found.type = described(), has_type = true;
      else if (key == "fortran_order" && !has_order) found.fortran = truth(), has_order = true;
      else if (key == "shape" && !has_shape) found.sizes = sizes(), has_shape = true;
      else malformed();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty() || !has_type || !has_order || !has_shape) malformed();
    return found;
  }

 private:
  [[noreturn]] void malformed() const {
    file_.refuse("has a .npy header that is no dict of 'descr', 'fortran_order' and 'shape'",
                 "a file that NumPy's save writes");
  }
  void skip_blanks() {
    const std::size_t end = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(std::min(end, rest_.size()));
  }
  bool accept(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) malformed();
  }
  std::string text() {
    skip_blanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) malformed();
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) malformed();
    const std::string found(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return found;
  }
  std::string described() {
    skip_blanks();
    if (!rest_.empty() && rest_[0] == '[')
      file_.refuse("has a structured dtype, with fields", "an array of numbers", "save each field by itself");
    return text();
  }
  bool truth() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    malformed();
  }
  std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> found;
    expect('(');
    while (!accept(')')) {
      if (found.size() == max_rank)
        file_.refuse("has more than " + std::to_string(max_rank) + " axes", "a rank of at most 8",
                     "merge axes with reshape");
      found.push_back(size());
      if (!accept(',')) {
        expect(')');
        if (found.size() == 1) malformed();  // a number in brackets is no tuple
        break;
      }
    }
    return found;
  }
  std::int64_t size() {
    skip_blanks();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
      value = kernels::saturated_sum(kernels::saturated_product(value, 10), rest_[digits] - '0');
    if (digits == 0) malformed();
    rest_.remove_prefix(digits);
    accept('L');  // as Python 2 wrote it
    return value;
  }

  origin file_;
  std::string_view rest_;
};

// The dtype that the header names, and whether its bytes are in the other order.
dtype dtype_in(const origin& file, std::string_view text, bool& swapped) {
  const auto refuse = [&](std::string_view what, std::string_view advice) {
    file.refuse("has dtype " + in_quotes(text) + std::string(what), "one of " + to_string(of_numpy), advice);
  };
  constexpr std::string_view orders = "<>=|";
  const bool marked = !text.empty() && orders.find(text[0]) != std::string_view::npos;
  const std::string_view code = text.substr(marked ? 1 : 0);
  if (code.starts_with('O'))
    refuse(", objects of Python, which only running a pickle could read", "save an array of numbers");
  for (int t = 0; t < dtype_count; ++t) {
    const dtype type = static_cast<dtype>(t);
    if (!of_numpy.has(type) || numpy_code(type) != code) continue;
    swapped = marked && text[0] == '>';
    return type;
  }
  refuse("", "convert it with astype before saving it");
  __builtin_unreachable();
}

template <class T>
std::vector<T> reversed(std::span<const T> values) {
  return {values.rbegin(), values.rend()};
}

std::size_t header_length(const origin& file, byte_source& from) {
  std::array<std::byte, 8> start;
  if (from.left() < start.size()) file.refuse("is too short for a .npy", "a file that NumPy's save writes");
  from.read(start);
  if (!std::equal(magic.begin(), magic.end(), start.begin(),
                  [](char a, std::byte b) { return static_cast<std::byte>(a) == b; }))
    file.refuse("begins with other bytes than a .npy", "a file that NumPy's save writes",
                "a pickle is not read: it can run any code");
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3) file.refuse("is a .npy of version " + std::to_string(version), "version 1, 2 or 3");
  std::array<std::byte, 4> bytes{};
  from.read(std::span(bytes).first(version == 1 ? 2 : 4));
  std::size_t length = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) length |= std::to_integer<std::size_t>(bytes[i]) << 8 * i;
  return length;
}

}  // namespace

tensor read_npy(const origin& file, byte_source& from, std::string_view what) {
  const std::size_t length = header_length(file, from);
  if (length > std::min<std::uint64_t>(from.left(), longest_header))
    file.refuse("says that its .npy header has " + bytes_text(length) + " of the " + std::to_string(from.left()) +
                    " that are left",
                "at most " + std::to_string(longest_header) + ", all of them there");
  std::string header(length, ' ');
  from.read(std::as_writable_bytes(std::span(header)));
  const npy_description found = literal_reader(file, header).read();
  bool swapped = false;
  const dtype type = dtype_in(file, found.type, swapped);
  const shape dims = checked_shape(file, what, found.sizes);
  const std::int64_t bytes = kernels::saturated_product(dims.size(), size_of(type));
  if (static_cast<std::uint64_t>(bytes) != from.left())
    file.refuse("has " + bytes_text(from.left()) + " of elements for " + std::string(what),
                std::to_string(bytes) + " for " + std::string(name_of(type)) + " " + to_string(dims));
  if (!found.fortran || dims.rank() < 2) return read_elements(file, what, from, dims, type, swapped);
  return transpose(read_elements(file, what, from, shape(reversed(dims.dims())), type, swapped));
}

std::string npy_header(const origin& file, std::string_view what, const tensor& x) {
  if (!of_numpy.has(x.type()))
    file.refuse("would have " + std::string(name_of(x.type())) + " for " + std::string(what), "a dtype that NumPy has",
                "convert it to float32, or save a .safetensors");
  std::string header = "{'descr': '";
  header += (size_of(x.type()) == 1 ? "|" : "<") + numpy_code(x.type()) + "', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < x.rank(); ++axis) header += (axis ? ", " : "") + std::to_string(x.dims()[axis]);
  header += x.rank() == 1 ? ",), }" : "), }";
  constexpr std::size_t before = magic.size() + 4;  // the version and the length follow it
  const std::size_t used = before + header.size() + 1;
  header.append(header_alignment - used % header_alignment, ' ');
  header += '\n';
  std::string all(magic);
  all += '\1';
  all += '\0';
  all += static_cast<char>(header.size() & 0xff);
  all += static_cast<char>(header.size() >> 8);
  return all + header;
}

}  // namespace kerngrad::io::detail
