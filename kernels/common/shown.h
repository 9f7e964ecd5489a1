// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin as it may be shown: names of a model, cells of a file, attributes of a caller. Plain C++.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace kerngrad::kernels {

/// Number of bytes of the UTF-8 sequence at the front (The Unicode Standard, table 3-7); 0 where there is none.
constexpr std::size_t utf8_sequence(std::string_view text) {
  const auto at = [&](std::size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const unsigned a = at(0), b = at(1);
  if (text.empty()) return 0;
  if (a < 0x80) return 1;
  const std::size_t length = a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (a == 0xe0 && b < 0xa0) || (a == 0xf0 && b < 0x90);
  const bool outside = (a == 0xed && b > 0x9f) || (a == 0xf4 && b > 0x8f);
  return overlong || outside ? 0 : length;
}

/// True if a terminal may obey the UTF-8 sequence instead of showing it: control characters (C0, DEL, C1), separators
/// of lines and paragraphs, and marks that reorder text (Unicode Standard Annex 9).
constexpr bool is_control(std::string_view sequence) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return at(0) < 0x20 || at(0) == 0x7f;
  if (sequence.size() == 2) return (at(0) == 0xc2 && at(1) < 0xa0) || (at(0) == 0xd8 && at(1) == 0x9c);
  if (sequence.size() != 3 || at(0) != 0xe2) return false;
  const bool mark = at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f || (at(2) >= 0xa8 && at(2) <= 0xae));
  return mark || (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9);
}

/// The text with escapes, \n or \x1b, in place of control sequences and of bytes that are not UTF-8, and with a
/// backslash before each character of `also`. Text that was shown once stays as it is if `also` is empty.
inline std::string shown(std::string_view text, std::string_view also = {}) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(one.size());
    if (one == "\n") {
      out += "\\n";
    } else if (length == 0 || is_control(one)) {
      for (const char c : one) out += {'\\', 'x', digits[static_cast<unsigned char>(c) >> 4], digits[c & 15]};
    } else {
      if (also.find(one) != std::string_view::npos) out += '\\';
      out += one;
    }
  }
  return out;
}

}  // namespace kerngrad::kernels
