// SPDX-License-Identifier: Apache-2.0
// Ops on texts as programs call them: results, dtypes, and what is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using texts = std::vector<std::string>;
using list = std::vector<double>;

TEST(string_split, gives_a_sparse_tensor_of_the_pieces) {
  const auto [indices, values, dims] = kg::string_split(tensor({"pigs on the wing", "", "animals"}), tensor(" "));
  EXPECT_EQ(values.to_texts(), (texts{"pigs", "on", "the", "wing", "animals"}));
  EXPECT_EQ(indices.signature(), (kg::signature{{5, 2}, dtype::int32}));
  EXPECT_EQ(indices.to_doubles(), (list{0, 0, 0, 1, 0, 2, 0, 3, 2, 0}));
  EXPECT_EQ(dims.to_doubles(), (list{3, 4}));
}

TEST(string_split, keeps_empty_pieces_where_it_is_asked_to) {
  const auto [indices, values, dims] = kg::string_split(tensor({"#a", "b#"}), tensor("#"), false);
  EXPECT_EQ(values.to_texts(), (texts{"", "a", "b", ""}));
  EXPECT_EQ(indices.to_doubles(), (list{0, 0, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(dims.to_doubles(), (list{2, 2}));
}

TEST(string_split, gives_pieces_that_outlive_the_texts) {
  tensor values;
  {
    const tensor x(texts{std::string(3000, 'a') + " " + std::string(5000, 'b')});
    values = kg::string_split(x, tensor(" "))[1];
  }
  EXPECT_EQ(values.to_texts(), (texts{std::string(3000, 'a'), std::string(5000, 'b')}));
}

TEST(string_split, refuses_what_is_no_list_of_texts_with_one_delimiter) {
  const tensor x({"a b"}), blank(" ");
  EXPECT_TRUE(says(refusal([&] { return kg::string_split(blank, blank); }), {"StringSplit", "input", "rank 1"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_split(x, x); }), {"StringSplit", "delimiter", "rank 0"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_split(tensor({1.f}), blank); }), {"StringSplit", "float32"}));
}

TEST(string_ngrams, joins_neighbours_in_each_row) {
  const tensor data({"a", "b", "c", "d", "e", "f"}), splits({0, 4, 6});
  const auto [ngrams, rows] =
      kg::string_ngrams(data, splits, {3}, {.separator = "|", .left_pad = "LP", .right_pad = "RP", .pad_width = -1});
  EXPECT_EQ(ngrams.to_texts(), (texts{"LP|LP|a", "LP|a|b", "a|b|c", "b|c|d", "c|d|RP", "d|RP|RP", "LP|LP|e", "LP|e|f",
                                      "e|f|RP", "f|RP|RP"}));
  EXPECT_EQ(rows.to_doubles(), (list{0, 6, 10}));
  EXPECT_EQ(rows.type(), dtype::int32);
  const auto [pairs, wide_rows] = kg::string_ngrams(data, kg::cast(splits, dtype::int64), {2});
  EXPECT_EQ(pairs.to_texts(), (texts{"a b", "b c", "c d", "e f"}));
  EXPECT_EQ(wide_rows.type(), dtype::int64);
}

TEST(string_ngrams, keeps_short_rows_where_it_is_asked_to) {
  const tensor data({"a", "b", "c"}), splits({0, 1, 1, 3});
  const auto [ngrams, rows] = kg::string_ngrams(data, splits, {3}, {.preserve_short_sequences = true});
  EXPECT_EQ(ngrams.to_texts(), (texts{"a", "b c"}));
  EXPECT_EQ(rows.to_doubles(), (list{0, 1, 1, 2}));
}

TEST(string_ngrams, refuses_splits_and_widths_that_make_no_rows) {
  const tensor one({"a"}), whole({0, 1});
  const auto refused = [&](const tensor& splits) {
    return refusal([&] { return kg::string_ngrams(one, splits, {3}); });
  };
  EXPECT_TRUE(says(refused(tensor({0, 2, 1})), {"StringNGrams", "dataSplits with 2 at 1", "from 0 to 1"}));
  EXPECT_TRUE(says(refused(tensor({0, 0})), {"StringNGrams", "dataSplits with 0 at 1"}));
  EXPECT_TRUE(says(refused(tensor({1, 1})), {"StringNGrams", "dataSplits with 1 at 0"}));
  EXPECT_TRUE(says(refused(kg::zeros({0}, dtype::int32)), {"StringNGrams", "without elements"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_ngrams(one, whole, {0}); }), {"StringNGrams", "nGramWidths"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_ngrams(one, whole, std::vector<std::int64_t>{}); }),
                   {"StringNGrams", "nGramWidths"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_ngrams(one, whole, {2}, {.pad_width = -2}); }),
                   {"StringNGrams", "padWidth"}));
}

TEST(string_to_hash_bucket_fast, puts_texts_into_the_buckets_that_tensorflow_puts_them_into) {
  const tensor x({"a", "b", "c", "d", "a", "b"}, {3, 2, 1});
  const tensor y = kg::string_to_hash_bucket_fast(x, 10);
  EXPECT_EQ(y.signature(), (kg::signature{{3, 2, 1}, dtype::int32}));
  EXPECT_EQ(y.to_doubles(), (list{9, 2, 2, 5, 9, 2}));
  EXPECT_EQ(kg::string_to_hash_bucket_fast(tensor(texts{}), std::int64_t{1} << 31).dims(), (shape{0}));
}

TEST(string_to_hash_bucket_fast, is_the_same_by_several_threads) {
  texts many;
  for (int i = 0; i < 100000; ++i) many.push_back(std::to_string(i));
  const list y = kg::string_to_hash_bucket_fast(tensor(many), 1000).to_doubles();
  kg::set_num_threads(3);
  EXPECT_EQ(kg::string_to_hash_bucket_fast(tensor(many), 1000).to_doubles(), y);
  kg::set_num_threads(1);
}

TEST(string_to_hash_bucket_fast, refuses_numbers_of_buckets_that_int32_does_not_count) {
  const tensor x({"a"});
  for (const std::int64_t buckets : {std::int64_t{-1}, std::int64_t{0}, (std::int64_t{1} << 31) + 1})
    EXPECT_TRUE(says(refusal([&] { return kg::string_to_hash_bucket_fast(x, buckets); }),
                     {"StringToHashBucketFast", "numBuckets"}));
}

}  // namespace
