// SPDX-License-Identifier: Apache-2.0
// Fingerprint64 against values of FarmHash itself, and the kernels against each other on texts of all lengths.
#include "kernels/text/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/text/placed.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;

std::vector<std::int32_t> buckets_of(run_fn run, const std::vector<std::string>& texts, std::int64_t buckets) {
  const kgtest::placed_texts x(texts);
  kgtest::guarded<std::int32_t> y(texts.size());
  const hash_bucket_geometry g{x.size(), buckets};
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  return {y.begin(), y.end()};
}

// util::Fingerprint64 of libfarmhash 0~git20190513.0d859a8, of each way that a length takes and both of its ends.
TEST(text_hash, is_fingerprint64_of_farmhash) {
  std::string alphabets;
  for (int i = 0; i < 300; ++i) alphabets += static_cast<char>('a' + i % 26);
  const struct {
    std::string_view bytes;
    std::uint64_t hash;
  } known[] = {{"", 0x9ae16a3b2f90404f},
               {"a", 0xb3454265b6df75e3},
               {"b", 0xa3b260215ec8f116},
               {"abc", 0x24a5b3a074e7f369},
               {"hello", 0xb48be5a931380ce8},
               {"kerngrad", 0x11b97b58ce0d07f6},
               {"sixteen bytes ok", 0x25a88db6363ac32f},
               {std::string_view(alphabets).substr(0, 15), 0x687dfc2653bb2c1d},
               {std::string_view(alphabets).substr(0, 16), 0x54630bad7705cebd},
               {std::string_view(alphabets).substr(0, 17), 0x9e2106c72d7793a8},
               {std::string_view(alphabets).substr(0, 32), 0xff96b8a54087359a},
               {std::string_view(alphabets).substr(0, 33), 0x1bd257e2fc3da812},
               {std::string_view(alphabets).substr(0, 64), 0x9c4a595c23bb9bfa},
               {std::string_view(alphabets).substr(0, 65), 0x2434d8917886fe2a},
               {std::string_view(alphabets).substr(0, 128), 0xc3244d5ec8a4474a},
               {std::string_view(alphabets).substr(0, 129), 0x9b1ca0571b8cefd4},
               {alphabets, 0x93480430f4019a90}};
  for (const auto& one : known) {
    EXPECT_EQ(fingerprint64(one.bytes), one.hash) << one.bytes;
    const std::vector<std::int32_t> wanted = {static_cast<std::int32_t>(one.hash % 0x80000000u)};
    for (const run_fn run : {StringToHashBucketFast_text, reference::StringToHashBucketFast_text})
      EXPECT_EQ(buckets_of(run, {std::string(one.bytes)}, 0x80000000), wanted) << one.bytes;
  }
}

TEST(text_hash, is_the_same_by_both_kernels_for_texts_of_all_lengths) {
  std::mt19937_64 draw(2);
  std::vector<std::string> texts;
  for (std::size_t size = 0; size < 700; ++size) {
    texts.emplace_back(size, '\0');
    for (char& c : texts.back()) c = static_cast<char>(draw());
  }
  for (const std::int64_t buckets : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1000}, std::int64_t{1} << 31})
    EXPECT_EQ(buckets_of(StringToHashBucketFast_text, texts, buckets),
              buckets_of(reference::StringToHashBucketFast_text, texts, buckets));
}

TEST(text_hash, puts_texts_into_buckets_as_tensorflow_does) {
  for (const run_fn run : {StringToHashBucketFast_text, reference::StringToHashBucketFast_text}) {
    EXPECT_EQ(buckets_of(run, {"a", "b", "c", "d", "a", "b"}, 10), (std::vector<std::int32_t>{9, 2, 2, 5, 9, 2}));
    EXPECT_TRUE(buckets_of(run, {}, 0x80000000).empty());
  }
}

}  // namespace
