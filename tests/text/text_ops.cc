// SPDX-License-Identifier: Apache-2.0
// Ops on texts as programs call them: results, dtypes, and what is rejected.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
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
  EXPECT_TRUE(says(refusal([&] { return kg::string_split(blank, blank); }), {"kg::string_split", "input", "rank 1"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_split(x, x); }), {"kg::string_split", "delimiter", "rank 0"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_split(tensor({1.f}), blank); }), {"kg::string_split", "float32"}));
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
  EXPECT_TRUE(says(refused(tensor({0, 2, 1})), {"kg::string_ngrams", "dataSplits with 2 at 1", "from 0 to 1"}));
  EXPECT_TRUE(says(refused(tensor({0, 0})), {"kg::string_ngrams", "dataSplits with 0 at 1"}));
  EXPECT_TRUE(says(refused(tensor({1, 1})), {"kg::string_ngrams", "dataSplits with 1 at 0"}));
  EXPECT_TRUE(says(refused(kg::zeros({0}, dtype::int32)), {"kg::string_ngrams", "without elements"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_ngrams(one, whole, {0}); }), {"kg::string_ngrams", "nGramWidths"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_ngrams(one, whole, std::vector<std::int64_t>{}); }),
                   {"kg::string_ngrams", "nGramWidths"}));
  EXPECT_TRUE(says(refusal([&] { return kg::string_ngrams(one, whole, {2}, {.pad_width = -2}); }),
                   {"kg::string_ngrams", "padWidth"}));
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
                     {"kg::string_to_hash_bucket_fast", "numBuckets"}));
}

TEST(texts_that_ops_make, are_utf8_or_an_error) {
  // Two bytes of UTF-8 each, of which the first is the same.
  const std::string e_acute = "\xc3\xa9", c_cedilla = "\xc3\xa7";
  const tensor words({"a", "b"}), rows({0, 2});
  const auto ngrams_with = [&](const kg::ngrams_options& how) {
    return refusal([&] { return kg::string_ngrams(words, rows, {2}, how); });
  };
  const auto by_name = [&](std::string_view value) {
    return refusal(
        [&] { return kg::run_kernel("Fill", {}, {{"shape", {2}}, {"value", value}, {"dtype", dtype::text}}); });
  };
  const auto split = [](const std::string& text, const std::string& delimiters) {
    return refusal([&] { return kg::string_split(tensor({text}), tensor(delimiters)); });
  };
  struct call {
    std::string what, said;
    std::vector<std::string_view> words;
  };
  const call all[] = {
      {"Fill with one byte", by_name("\xff"), {"[Fill]", "value", "\\xff", "UTF-8"}},
      {"Fill with half a character", by_name("a\xc3"), {"[Fill]", "a\\xc3", "UTF-8"}},
      {"PadV2", refusal([&] { return kg::pad(words, {1, 0}, "\xa9"); }), {"[kg::pad]", "constantValue", "UTF-8"}},
      {"a separator", ngrams_with({.separator = "\xc3"}), {"[kg::string_ngrams]", "separator", "UTF-8"}},
      {"a left pad", ngrams_with({.left_pad = "\x80", .pad_width = 1}), {"[kg::string_ngrams]", "leftPad", "UTF-8"}},
      {"a right pad", ngrams_with({.right_pad = "\xed\xa0\x80", .pad_width = 1}), {"rightPad", "UTF-8"}},
      {"a split into bytes", split(e_acute, ""), {"[kg::string_split]", "text 0", "UTF-8"}},
      {"a split at a byte", split("a" + e_acute, c_cedilla), {"[kg::string_split]", "text 1", "UTF-8"}},
  };
  for (const call& one : all) {
    EXPECT_TRUE(one.said.starts_with("[")) << one.what << ": " << one.said;
    for (const std::string_view word : one.words) EXPECT_TRUE(says(one.said, {word})) << one.what << ": " << one.said;
  }
  EXPECT_EQ(split("abc", e_acute), kgtest::accepted);
  EXPECT_EQ(split(e_acute + c_cedilla, " "), kgtest::accepted);
  EXPECT_EQ(by_name(e_acute), kgtest::accepted);
}

TEST(an_error, is_one_line_that_a_terminal_shows) {
  const std::string op =
      "a\x1b[31m\n\x7f\xff\xc2\x9b"
      "2J\xe2\x80\xae"
      "\xc3\xa9\\";
  const std::string shown =
      "a\\x1b[31m\\n\\x7f\\xff\\xc2\\x9b"
      "2J\\xe2\\x80\\xae"
      "\xc3\xa9\\";
  const kg::error e(op, op, op, op);
  EXPECT_EQ(e.op(), shown);
  EXPECT_EQ(e.got(), shown);
  EXPECT_EQ(e.wanted(), shown);
  EXPECT_EQ(e.advice(), shown);
  EXPECT_EQ(std::string(e.what()), "[" + shown + "] got " + shown + "; wanted " + shown + "; " + shown);
  const kg::error again(e.op(), e.got(), e.wanted(), e.advice());
  EXPECT_EQ(std::string(again.what()), e.what());
  EXPECT_TRUE(says(refusal([&] { return kg::run_kernel(op, {}); }), {"a\\x1b[31m"}));
  EXPECT_EQ(kg::to_string(kg::attr_value(std::string_view("\x1b\"\xc2\x80"))), "\"\\x1b\"\\xc2\\x80\"");
  EXPECT_EQ(kg::to_string(kg::explain(op)).find('\x1b'), std::string::npos);
}

}  // namespace
