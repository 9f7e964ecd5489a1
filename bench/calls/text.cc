// SPDX-License-Identifier: Apache-2.0
// Texts that are split, joined and hashed. Words have 3 to 9 bytes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

using strings = std::vector<std::string>;

std::string word(kg::testkit::stream& draw) {
  std::string made(3 + draw.below(7), 'a');
  for (char& c : made) c = static_cast<char>('a' + draw.below(26));
  return made;
}

kg::testkit::sample of_values(const kg::op_row& row, const std::vector<kg::tensor>& values,
                              std::vector<kg::named_attribute> attrs) {
  kg::testkit::sample call;
  for (std::size_t i = 0; i < values.size(); ++i) call.operands.emplace_back(row.operands[i].name, values[i]);
  call.attrs = std::move(attrs);
  return call;
}

// Four words in each text.
geometries split_texts(const kg::op_row& row, kg::dtype, std::int64_t n) {
  kg::testkit::stream draw(5);
  strings texts;
  for (std::int64_t i = 0; i < n; ++i)
    texts.push_back(word(draw) + " " + word(draw) + "," + word(draw) + " " + word(draw));
  geometries all;
  for (const auto& [variant, delimiter] : {std::pair("one", " "), std::pair("several", " ,")}) {
    const kg::testkit::sample call = of_values(row, {kg::tensor(texts), kg::tensor(delimiter)}, {});
    all.push_back({variant, call, static_cast<double>(n), {}});
  }
  return all;
}

// Words in rows of 16, two and three at a time.
geometries joined_texts(const kg::op_row& row, kg::dtype, std::int64_t n) {
  kg::testkit::stream draw(5);
  strings words;
  for (std::int64_t i = 0; i < n; ++i) words.push_back(word(draw));
  std::vector<std::int32_t> splits;
  for (std::int64_t i = 0; i < n; i += 16) splits.push_back(static_cast<std::int32_t>(i));
  splits.push_back(static_cast<std::int32_t>(n));
  const kg::testkit::sample call = of_values(
      row, {kg::tensor(words), kg::tensor(splits)},
      {{"separator", " "}, {"nGramWidths", std::vector<std::int64_t>{2, 3}}, {"leftPad", ""}, {"rightPad", ""}});
  return {{"", call, static_cast<double>(n), {}}};
}

// Texts of 8 and of 100 bytes.
geometries hashed_texts(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::size_t size : {std::size_t{8}, std::size_t{100}}) {
    kg::testkit::stream draw(5);
    strings texts;
    for (std::int64_t i = 0; i < n; ++i) {
      texts.push_back(word(draw));
      texts.back().resize(size, '.');
    }
    const kg::testkit::sample call = of_values(row, {kg::tensor(texts)}, {{"numBuckets", 1000}});
    all.push_back({"bytes:" + std::to_string(size), call, static_cast<double>(n), {}});
  }
  return all;
}

}  // namespace

geometries calls::text(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  static constexpr maker makers[] = {
      {"delimiter", split_texts}, {"nGramWidths", joined_texts}, {"numBuckets", hashed_texts}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
