// SPDX-License-Identifier: Apache-2.0
// Tensors as text.
module;
#include <charconv>
#include <ostream>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad {

namespace {

constexpr std::int64_t edge_items = 3;    // shown at either end of a long axis
constexpr std::int64_t longest_axis = 8;  // an axis of more is shortened when the tensor is large
constexpr std::int64_t large = 200;       // elements

std::string number_text(double value) {
  if (value != value) return "nan";  // whatever its sign, which CPUs choose as they like
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6).ptr);
}

// In quotes, with what would not be seen or would be misread in escapes.
std::string quoted(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') text += {'\\', c};
    else if (c == '\n') text += "\\n";
    else if (byte < 0x20 || byte == 0x7f) text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    else text += c;
  }
  return text + "\"";
}

std::string element_text(const tensor& x, std::int64_t i) {
  return visit(x.type(), [&]<dtype Type>(dtype_constant<Type> is) {
    const auto value = x.data<typename decltype(is)::element>()[static_cast<std::size_t>(i)];
    if constexpr (kind_of(Type) == dtype_kind::text) return quoted(value);
    else if constexpr (kind_of(Type) == dtype_kind::boolean) return std::string(value ? "true" : "false");
    else if constexpr (kind_of(Type) == dtype_kind::integer) return std::to_string(value);
    else if constexpr (kind_of(Type) == dtype_kind::complex)
      return number_text(value.real) + (value.imag < 0 ? "-" : "+") +
             number_text(value.imag < 0 ? -value.imag : value.imag) + "i";
    else return number_text(static_cast<double>(value));
  });
}

void print_axis(std::string& text, const tensor& x, int axis, std::int64_t& at, std::int64_t stride) {
  if (axis == x.rank()) {
    text += element_text(x, at++);
    return;
  }
  const std::int64_t size = x.dims()[axis];
  const std::int64_t inner = size ? stride / size : 0;
  const bool shorten = x.size() > large && size > longest_axis;
  text += "[";
  for (std::int64_t i = 0; i < size; ++i) {
    if (i) text += axis + 1 == x.rank() ? ", " : ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
    if (shorten && i == edge_items) {
      const std::int64_t skipped = size - 2 * edge_items;
      text += "...";
      i += skipped - 1;
      at += skipped * inner;
      continue;
    }
    print_axis(text, x, axis + 1, at, inner);
  }
  text += "]";
}

}  // namespace

std::string to_string(const tensor& x) {
  if (!x.defined()) return "tensor (empty handle)";
  std::string text = "tensor " + std::string(name_of(x.type())) + " " + to_string(x.dims()) + "\n";
  std::int64_t at = 0;
  print_axis(text, x, 0, at, x.size());
  return text;
}

std::ostream& operator<<(std::ostream& out, const tensor& x) { return out << to_string(x); }

}  // namespace kerngrad
