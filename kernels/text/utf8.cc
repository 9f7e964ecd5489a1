// SPDX-License-Identifier: Apache-2.0
// Most text is ASCII, of which eight bytes are looked at together.
#include "kernels/text/utf8.h"

#include <cstring>

namespace kerngrad::kernels {
namespace {

// Bytes of the character at `at`, before `end`; 0 where there is none. Behind a first byte that says how many follow,
// the second is what keeps out longer forms than need be (e0, f0), surrogates (ed) and what is above 10ffff (f4).
int character_size(const unsigned char* at, const unsigned char* end) {
  const unsigned first = *at;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const int size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (end - at < size) return 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < least || at[1] > most) return 0;
  for (int i = 2; i < size; ++i)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return size;
}

}  // namespace

/// Exact. Reference: kernels/text/reference_utf8.cc.
std::int64_t utf8_prefix(std::string_view bytes) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char *at = begin, *const end = begin + bytes.size();
  while (at != end) {
    std::uint64_t eight = 0;
    while (end - at >= 8 && (std::memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) at += 8;
    if (at == end) break;
    const int size = character_size(at, end);
    if (size == 0) break;
    at += size;
  }
  return at - begin;
}

}  // namespace kerngrad::kernels
