// SPDX-License-Identifier: Apache-2.0
// Samples of the ops that order elements: every axis and direction, rows shorter and longer than what is sorted in
// registers, sequences in order.
module;
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

std::vector<sample> along_axes(const op_row& row, bool long_ones) {
  std::vector<sample> all = {make_sample(row, {{7}}),
                             make_sample(row, {{7}}, {{"descending", true}}),
                             make_sample(row, {{2, 3, 4}}, {{"axis", 0}}),
                             make_sample(row, {{2, 3, 4}}, {{"axis", -2}, {"descending", true}}),
                             make_sample(row, {{2, 3, 4}}, {{"axis", 2}}),
                             make_sample(row, {{2, 1, 3, 2}}, {{"axis", 1}}),
                             make_sample(row, {{}}),
                             make_sample(row, {{1}}),
                             make_sample(row, {{0, 3}}),
                             make_sample(row, {{3, 0}}, {{"axis", 0}})};
  if (long_ones)
    all.insert(all.end(), {make_sample(row, {{5, 67}}), make_sample(row, {{67, 5}}, {{"axis", 0}}),
                           make_sample(row, {{2, 700}}, {{"descending", true}})});
  return all;
}

std::vector<sample> top_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all = {
      make_sample(row, {{7}}),
      make_sample(row, {{2, 5}}, {{"k", 3}}),
      make_sample(row, {{2, 2, 4}}, {{"k", 4}, {"sorted", false}}),
      make_sample(row, {{3, 1}}),
      make_sample(row, {{5}}, {{"k", 0}}),
      make_sample(row, {{0, 3}}, {{"k", 2}}),
      make_sample(row, {{2, 0}}, {{"k", 0}}),
  };
  if (long_ones)
    all.insert(all.end(), {make_sample(row, {{5, 67}}, {{"k", 3}}), make_sample(row, {{2, 1000}}, {{"k", 10}}),
                           make_sample(row, {{700}}, {{"k", 500}})});
  return all;
}

struct searched {
  shape sequences, values;
};

std::vector<sample> search_samples(const op_row& row, bool long_ones) {
  std::vector<searched> all = {{{5}, {7}}, {{2, 4}, {2, 3}}, {{3, 2, 1}, {3, 2, 2}}, {{6}, {2, 3}},   {{4}, {}},
                               {{0}, {3}}, {{2, 0}, {2, 3}}, {{2, 3}, {2, 0}},       {{0, 3}, {0, 2}}};
  if (long_ones) all.insert(all.end(), {{{67}, {5, 33}}, {{3, 131}, {3, 67}}});
  std::vector<sample> samples;
  for (const searched& s : all) {
    sample one = make_sample(row, {s.sequences, s.values});
    std::vector<double> numbers;
    const std::int64_t count = s.sequences[s.sequences.rank() - 1];
    for (std::int64_t i = 0; i < s.sequences.size(); ++i)  // from -2 to 2, pairs of equals among them
      numbers.push_back(static_cast<double>(4 * (i % count / 3)) / static_cast<double>(count / 3 + 1) - 2);
    one.operands[0].values = tensor(numbers, s.sequences);
    samples.push_back(one);
    if (row.attrs.empty()) continue;
    one.attrs = {{"side", "right"}};
    samples.push_back(std::move(one));
  }
  return samples;
}

}  // namespace

std::vector<sample> sort_samples(const op_row& row, bool long_ones) {
  if (row.operand_index("sortedSequence") >= 0) return search_samples(row, long_ones);
  return row.attr_index("k") >= 0 ? top_samples(row, long_ones) : along_axes(row, long_ones);
}

}  // namespace kerngrad::testkit::detail
