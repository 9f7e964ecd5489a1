// SPDX-License-Identifier: Apache-2.0
// Pieces of texts, against what makes them the pieces: with the delimiters between them they are the text again, and
// none of them has a delimiter.
#include "kernels/text/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/text/placed.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using strings = std::vector<std::string>;

constexpr run_fn kernels[] = {StringSplit_text, reference::StringSplit_text};

struct split_result {
  std::vector<std::int32_t> indices;
  strings values;
  std::vector<std::int32_t> dims;
  bool operator==(const split_result&) const = default;
};

split_result split(run_fn run, const strings& texts, const split_rule& rule) {
  const kgtest::placed_texts x(texts);
  const piece_counts counts = count_pieces(x.data(), x.size(), rule);
  const auto pieces = static_cast<std::size_t>(counts.all);
  kgtest::guarded<std::int32_t> indices(2 * pieces), dims(2);
  kgtest::guarded<text> values(pieces);
  text_writer made;
  const split_geometry g{x.size(), rule, &made};
  const void* in[] = {x.data()};
  void* out[] = {indices.data(), values.data(), dims.data()};
  run(in, out, &g);
  EXPECT_EQ(dims[1], counts.most);
  return {{indices.begin(), indices.end()}, kgtest::strings_of(values.data(), counts.all), {dims.begin(), dims.end()}};
}

TEST(text_split, gives_what_tensorflow_gives) {
  const struct {
    strings texts;
    split_rule rule;
    split_result wanted;
  } cases[] = {
      {{"pigs on the wing", "animals"},
       {" ", true},
       {{0, 0, 0, 1, 0, 2, 0, 3, 1, 0}, {"pigs", "on", "the", "wing", "animals"}, {2, 4}}},
      {{"", " a", "b ", " c", " ", " d ", ". e", "f .", " .g. ", " ."},
       {" .", true},
       {{1, 0, 2, 0, 3, 0, 5, 0, 6, 0, 7, 0, 8, 0}, {"a", "b", "c", "d", "e", "f", "g"}, {10, 1}}},
      {{"hello|world", "hello world"},
       {"| ", true},
       {{0, 0, 0, 1, 1, 0, 1, 1}, {"hello", "world", "hello", "world"}, {2, 2}}},
      {{"#a", "b#", "#c#"},
       {"#", false},
       {{0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1, 2, 2}, {"", "a", "b", "", "", "c", ""}, {3, 3}}},
      {{"ab", "", "c"}, {"", true}, {{0, 0, 0, 1, 2, 0}, {"a", "b", "c"}, {3, 2}}},
      {{"", ""}, {"#", false}, {{}, {}, {2, 0}}},
      {{}, {" ", true}, {{}, {}, {0, 0}}},
  };
  for (const auto& one : cases)
    for (const run_fn run : kernels) EXPECT_TRUE(split(run, one.texts, one.rule) == one.wanted) << one.rule.delimiters;
}

// All pieces of a text, or those that are not empty.
void check_pieces(const std::string& whole, const split_rule& rule, const strings& pieces) {
  const auto is_delimiter = [&](char c) { return rule.delimiters.find(c) != std::string_view::npos; };
  for (const std::string& piece : pieces) ASSERT_TRUE(std::none_of(piece.begin(), piece.end(), is_delimiter));
  std::string again;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (rule.skips_empty) ASSERT_NE(pieces[k], "");
    else if (k > 0) again += whole.at(again.size());
    again += pieces[k];
  }
  std::string wanted = whole;
  if (rule.skips_empty) std::erase_if(wanted, is_delimiter);
  ASSERT_EQ(again, wanted);
}

TEST(text_split, has_the_text_between_delimiters) {
  std::mt19937_64 draw(4);
  const std::string_view bytes("ab#\0\xff.", 6);
  for (const std::string_view delimiters : {std::string_view("#"), std::string_view("\0", 1), std::string_view(".#"),
                                            std::string_view("\xff\0#", 3), std::string_view("z")})
    for (const bool skips : {false, true}) {
      const split_rule rule{delimiters, skips};
      strings texts;
      for (int i = 0; i < 200; ++i) {
        texts.emplace_back(draw() % 40, ' ');
        for (char& c : texts.back()) c = bytes[draw() % bytes.size()];
      }
      const split_result got = split(kernels[0], texts, rule);
      EXPECT_TRUE(got == split(kernels[1], texts, rule));
      std::vector<strings> of_text(texts.size());
      for (std::size_t k = 0; k < got.values.size(); ++k) {
        strings& mine = of_text.at(static_cast<std::size_t>(got.indices[2 * k]));
        EXPECT_EQ(got.indices[2 * k + 1], static_cast<std::int32_t>(mine.size()));
        mine.push_back(got.values[k]);
      }
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty()) EXPECT_TRUE(of_text[i].empty());
        else check_pieces(texts[i], rule, of_text[i]);
      }
    }
}

}  // namespace
