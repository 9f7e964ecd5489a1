// SPDX-License-Identifier: Apache-2.0
// By encoding: the bytes of a character are those that its code point is written in.
#include <cstdint>
#include <string>

#include "kernels/text/utf8.h"

namespace kerngrad::kernels::reference {
namespace {

// D92 of The Unicode Standard: the bits of a code point in the fewest bytes that hold them.
std::string encoded(std::uint32_t point) {
  const auto byte = [](std::uint32_t bits) { return std::string(1, static_cast<char>(bits)); };
  const auto further = [&](int shift) { return byte(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) return byte(point);
  if (point < 0x800) return byte(0xc0 | point >> 6) + further(0);
  if (point < 0x10000) return byte(0xe0 | point >> 12) + further(6) + further(0);
  return byte(0xf0 | point >> 18) + further(12) + further(6) + further(0);
}

// Takes a code point of that many bytes to be there, and looks whether it is.
bool starts_with_character(std::string_view bytes, std::size_t size) {
  if (bytes.size() < size) return false;
  std::uint32_t point = static_cast<unsigned char>(bytes[0]) & (size == 1 ? 0x7fu : 0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) point = point << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3fu);
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  return point <= 0x10ffff && !is_surrogate && bytes.substr(0, size) == encoded(point);
}

}  // namespace

std::int64_t utf8_prefix(std::string_view bytes) {
  std::int64_t at = 0;
  for (std::size_t size = 1; size <= 4; ++size) {
    if (!starts_with_character(bytes.substr(static_cast<std::size_t>(at)), size)) continue;
    at += static_cast<std::int64_t>(size);
    size = 0;  // from the beginning, after it
  }
  return at;
}

}  // namespace kerngrad::kernels::reference
