// SPDX-License-Identifier: Apache-2.0
// Texts that a writer makes stay as they are, and texts are ordered by their bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/text/text.h"
#include "tests/text/placed.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;

static_assert(sizeof(text) == 8 && std::is_trivially_copyable_v<text>);

TEST(text_writer, keeps_what_was_put_whatever_comes_after_it) {
  std::mt19937_64 draw(5);
  std::vector<std::string> wanted;
  std::vector<text> made;
  text_writer writer;
  std::int64_t kept = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t size = draw() % (i % 100 == 7 ? 30000 : 20);
    std::string one(size, '\0');
    for (char& c : one) c = static_cast<char>(draw());
    made.push_back(writer.put(one));
    kept += size == 0 ? 0 : static_cast<std::int64_t>(size) + 8;
    wanted.push_back(one);
  }
  EXPECT_EQ(writer.kept(), kept);
  EXPECT_EQ(kgtest::strings_of(made.data(), 3000), wanted);
}

TEST(text_writer, has_no_memory_for_empty_texts) {
  text_writer writer;
  EXPECT_EQ(writer.put({}).place, nullptr);
  EXPECT_EQ(writer.leave(0).made.place, nullptr);
  EXPECT_EQ(writer.kept(), 0);
  EXPECT_EQ(view(text{}), "");
}

TEST(text_writer, leaves_bytes_that_the_caller_writes) {
  text_writer writer;
  const text_writer::blank blank = writer.leave(5);
  std::memcpy(blank.bytes, "later", 5);
  writer.put("another");
  EXPECT_EQ(view(blank.made), "later");
}

TEST(text_order, compares_bytes_as_numbers_without_sign) {
  const std::string zero("a\0b", 3);
  const std::vector<std::string> ascending = {"",  std::string(1, '\0'), "A",   "a", zero, "a ", "aa", "ab",
                                              "b", "\xc3\xa4",           "\xff"};
  const kgtest::placed_texts x(ascending), again(ascending);
  for (std::int64_t i = 0; i < x.size(); ++i)
    for (std::int64_t k = 0; k < x.size(); ++k) {
      const int order = compare(x.data()[i], again.data()[k]);
      EXPECT_EQ((order > 0) - (order < 0), (i > k) - (i < k)) << i << " " << k;
      EXPECT_EQ(x.data()[i] == again.data()[k], i == k) << i << " " << k;
    }
  EXPECT_EQ(compare(x.data()[3], x.data()[3]), 0);
}

}  // namespace
