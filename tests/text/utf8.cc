// SPDX-License-Identifier: Apache-2.0
// Checks of UTF-8: single sequences by Unicode's rules, and the number of well-formed ones.
#include "kernels/text/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/support/kernels.h"

namespace {
using kerngrad::kernels::utf8_prefix;

using prefix_fn = std::int64_t (*)(std::string_view);
constexpr prefix_fn functions[] = {utf8_prefix, kerngrad::kernels::reference::utf8_prefix};

std::int64_t guarded_prefix(prefix_fn prefix, std::string_view bytes) {
  kgtest::guarded<char> at(bytes.size());
  std::copy(bytes.begin(), bytes.end(), at.begin());
  return prefix({at.data(), bytes.size()});
}

TEST(utf8, ends_at_the_first_character_that_is_none) {
  const struct {
    std::string_view bytes;
    std::int64_t prefix;
  } cases[] = {
      {"", 0},
      {"plain", 5},
      {std::string_view("a\0b", 3), 3},
      {"gr\xc3\xbc\xc3\x9f", 6},
      {"\xe2\x82\xac\xf0\x9f\x98\x80", 7},
      {"\xf4\x8f\xbf\xbf", 4},          // U+10FFFF
      {"\xf4\x90\x80\x80", 0},          // above it
      {"\xed\x9f\xbf\xee\x80\x80", 6},  // around the surrogates
      {"ab\xed\xa0\x80", 2},            // a surrogate
      {"\xc0\x80", 0},                  // 0 in two bytes
      {"\xc1\xbf", 0},                  // in more bytes than need be
      {"\xe0\x9f\xbf", 0},
      {"\xf0\x8f\xbf\xbf", 0},
      {"abc\x80", 3},           // what follows, of nothing
      {"abcdefgh\xe2\x82", 8},  // cut off
      {"abcdefghi\xf0\x9f\x98", 9},
      {"\xc3(", 0},
      {"12345678\xff", 8},
      {"1234567\xfe", 7},
  };
  for (const auto& one : cases)
    for (const prefix_fn prefix : functions) EXPECT_EQ(guarded_prefix(prefix, one.bytes), one.prefix) << one.bytes;
}

bool is_one_character(prefix_fn prefix, std::string_view bytes) {
  return prefix(bytes) == static_cast<std::int64_t>(bytes.size()) && prefix(bytes.substr(0, bytes.size() - 1)) == 0;
}

TEST(utf8, has_as_many_characters_of_one_to_three_bytes_as_unicode) {
  constexpr int surrogates = 0x800;
  const int wanted[] = {0x80, 0x800 - 0x80, 0x10000 - 0x800 - surrogates};
  for (std::size_t size = 1; size <= 3; ++size) {
    int found = 0;
    for (std::uint32_t bits = 0; bits < 1u << (8 * size); ++bits) {
      const char bytes[] = {static_cast<char>(bits), static_cast<char>(bits >> 8), static_cast<char>(bits >> 16)};
      found += is_one_character(utf8_prefix, {bytes, size});
    }
    EXPECT_EQ(found, wanted[size - 1]) << size;
  }
}
TEST(utf8, has_as_many_characters_of_four_bytes_as_unicode) {
  int found = 0;
  for (std::uint32_t bits = 0; bits < 0x80000;
       ++bits)  // the first byte from f0 on; of the last one both sides of its bounds
    for (const char last : {'\x7f', '\x80', '\xbf', '\xc0'}) {
      const char bytes[] = {static_cast<char>(0xf0 | bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits),
                            last};
      found += is_one_character(utf8_prefix, {bytes, 4});
    }
  EXPECT_EQ(found, 0x100000 / 64 * 2);
}

TEST(utf8, is_the_same_by_both_definitions) {
  std::mt19937_64 draw(8);
  const std::string_view likely = "a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf1\xf4\xf5";
  for (int i = 0; i < 200000; ++i) {
    std::string bytes(draw() % 12, 'x');
    const std::size_t first = draw() % 12;
    for (std::size_t k = first; k < bytes.size(); ++k) bytes[k] = likely[draw() % likely.size()];
    ASSERT_EQ(utf8_prefix(bytes), kerngrad::kernels::reference::utf8_prefix(bytes)) << i;
  }
}

}  // namespace
