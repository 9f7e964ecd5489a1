// SPDX-License-Identifier: Apache-2.0
// Distinct rows of texts, against a map of what came first.
#include "kernels/count/unique.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/text/hash.h"
#include "tests/text/placed.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using strings = std::vector<std::string>;

void check(const strings& texts, std::int64_t width) {
  const kgtest::placed_texts x(texts);
  const std::int64_t count = x.size() / width;
  std::vector<std::int32_t> numbers_wanted, firsts_wanted;
  std::map<strings, std::int32_t> known;
  for (std::int64_t i = 0; i < count; ++i) {
    const strings row(texts.begin() + i * width, texts.begin() + (i + 1) * width);
    const auto [at, is_new] = known.try_emplace(row, static_cast<std::int32_t>(known.size()));
    if (is_new) firsts_wanted.push_back(static_cast<std::int32_t>(i));
    numbers_wanted.push_back(at->second);
  }
  for (const run_fn run : {Unique_text, reference::Unique_text}) {
    const auto size = static_cast<std::size_t>(count);
    kgtest::guarded<std::int32_t> numbers(size), firsts(size);
    std::int64_t found = -1;
    const unique_geometry g{count, width};
    const void* in[] = {x.data()};
    void* out[] = {numbers.data(), firsts.data(), &found};
    run(in, out, &g);
    EXPECT_TRUE(std::vector<std::int32_t>(numbers.begin(), numbers.end()) == numbers_wanted) << count << " x " << width;
    EXPECT_EQ(std::vector<std::int32_t>(firsts.begin(), firsts.begin() + found), firsts_wanted);
  }
}

TEST(text_unique, numbers_texts_in_the_order_in_which_they_come_first) {
  check({"b", "a", "", "b", std::string("a\0", 2), "", "a"}, 1);
  check({}, 1);
  std::mt19937_64 draw(7);
  for (const std::int64_t width : {1, 2, 3})
    for (const std::size_t rows : {1u, 64u, 65u, 3000u})
      for (const std::uint64_t values : {2u, 30u, 100000u}) {
        strings texts;
        for (std::size_t i = 0; i < rows * static_cast<std::size_t>(width); ++i) {
          const std::uint64_t value = draw() % values;
          texts.push_back(std::string(value % 50, '.') + std::to_string(value));
        }
        check(texts, width);
      }
}

// The table grows several times.
TEST(text_unique, finds_many_distinct_texts) {
  std::mt19937_64 draw(9);
  strings texts;
  for (int i = 0; i < 40000; ++i) texts.push_back(std::to_string(draw() % 30000));
  check(texts, 1);
}

// Texts that all want one place of the first table: the kernel gives the table up and sorts.
TEST(text_unique, finds_texts_chosen_to_collide) {
  const auto place = [](const std::string& one) {  // as kernels/count/unique.cc has it
    std::uint64_t h = fingerprint64(one) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
    return (h ^ (h >> 32)) % 4096;
  };
  strings texts;
  for (int i = 0; texts.size() < 700; ++i)
    if (const std::string one = std::to_string(i); place(one) == 0) texts.push_back(one);
  for (std::size_t i = 0; i < 700; i += 3) texts.push_back(texts[i]);
  check(texts, 1);
}

}  // namespace
