// SPDX-License-Identifier: Apache-2.0
// Samples of the ops on texts: empty ones, rows that are too short for an n-gram, pads, splits of both dtypes.
module;
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

using strings = std::vector<std::string>;

sample of_two(const op_row& row, const tensor& first, const tensor& second, attributes attrs) {
  sample one;
  one.operands.emplace_back(row.operands[0].name, first);
  one.operands.emplace_back(row.operands[1].name, second);
  one.attrs = std::move(attrs);
  return one;
}

std::vector<sample> splittings(const op_row& row, bool long_ones) {
  struct splitting {
    strings input;
    std::string_view delimiter;
  };
  std::vector<splitting> cases = {
      {{"pigs on  the wing", "", " ", "animals"}, " "}, {{"a.b c", ". d"}, " ."}, {{"abc", ""}, ""}, {{}, " "}};
  if (long_ones) cases.push_back({{std::string(67, 'x') + ',' + std::string(131, 'y'), ",,"}, ","});
  std::vector<sample> all;
  for (const splitting& c : cases)
    for (const bool skips : {true, false})
      all.push_back(of_two(row, tensor(c.input), tensor(c.delimiter), {{"skipEmpty", skips}}));
  return all;
}

std::vector<sample> ngram_rows(const op_row& row, bool long_ones) {
  struct ngrams {
    strings data;
    std::vector<std::int32_t> splits;
    integers widths;
    std::int64_t pad;
    bool keeps_short;
  };
  const strings six = {"a", "b", "", "cd", "e", "f"};
  std::vector<ngrams> cases = {{six, {0, 4, 6}, {3}, -1, false},  {six, {0, 1, 1, 6}, {2, 3}, 0, false},
                               {six, {0, 1, 4, 6}, {5}, 1, true}, {six, {0, 6}, {1}, 3, false},
                               {{}, {0, 0}, {2}, -1, false},      {{}, {}, {1}, 0, true}};
  if (long_ones) cases.push_back({strings(67, "word"), {0, 60, 67}, {9, 1}, -1, false});
  std::vector<sample> all;
  for (const ngrams& c : cases)
    for (const dtype type : {dtype::int32, dtype::int64})
      all.push_back(of_two(row, tensor(c.data), cast(tensor(c.splits), type),
                           {{"separator", "|"},
                            {"nGramWidths", c.widths},
                            {"leftPad", "L"},
                            {"rightPad", ""},
                            {"padWidth", c.pad},
                            {"preserveShortSequences", c.keeps_short}}));
  return all;
}

std::vector<sample> hashings(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  for (const std::int64_t buckets : {std::int64_t{10}, std::int64_t{1}, std::int64_t{1} << 31})
    for (const shape& dims : shapes{{7}, {}, {2, 3}, {0, 3}})
      all.push_back(make_sample(row, {dims}, {{"numBuckets", buckets}}));
  if (long_ones) all.push_back(make_sample(row, {{5, 33}}, {{"numBuckets", 1000}}));
  return all;
}

}  // namespace

std::vector<sample> text_samples(const op_row& row, bool long_ones) {
  static constexpr sample_maker makers[] = {
      {"delimiter", splittings}, {"nGramWidths", ngram_rows}, {"numBuckets", hashings}};
  return made_by(makers, row, long_ones);
}

}  // namespace kerngrad::testkit::detail
