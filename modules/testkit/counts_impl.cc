// SPDX-License-Identifier: Apache-2.0
// Samples of the ops that count elements: with and without weights, elements beyond the bins, slices along every axis.
module;
#include <cstdint>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

// Enough of them for the copies that kernels keep of few bins.
std::vector<std::int32_t> many_elements() {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i < 67; ++i) all.push_back(i * i % 7);
  return all;
}

std::vector<sample> bin_samples(const op_row& row, bool long_ones) {
  struct counting {
    shape x;
    std::vector<std::int32_t> elements;
    std::int64_t size;
    bool weighted;
  };
  std::vector<counting> all = {{{4}, {1, 1, 1, 2}, 3, true},
                               {{4}, {1, 3, 1, 2}, 2, true},
                               {{2, 3}, {0, 2, 2, 4, 1, 9}, 5, true},
                               {{2, 3}, {0, 2, 2, 4, 1, 9}, 5, false},
                               {{2, 2, 1}, {3, 0, 0, 3}, 4, true},
                               {{2, 0}, {}, 3, false},
                               {{3}, {0, 1, 0}, 0, true}};
  if (long_ones) all.insert(all.end(), {{{67}, many_elements(), 7, true}, {{67}, many_elements(), 5, false}});
  std::vector<sample> made;
  for (const bool binary : {false, true}) {
    if (binary && row.attr_index("binaryOutput") < 0) break;
    for (const counting& c : all) {
      attributes attrs = {{"size", c.size}};
      if (binary) attrs.push_back({"binaryOutput", true});
      sample s = make_sample(row, c.weighted ? shapes{c.x, c.x} : shapes{c.x}, std::move(attrs));
      s.operands[0].values = tensor(c.elements, c.x);
      made.push_back(std::move(s));
    }
  }
  made.push_back(make_sample(row, {{3}, {0}}, {{"size", 3}}));  // a list of weights without any
  made.back().operands[0].values = tensor(std::vector<std::int32_t>{2, 0, 2}, {3});
  return made;
}

}  // namespace

std::vector<sample> count_samples(const op_row& row, bool long_ones) {
  if (row.attr_index("size") >= 0) return bin_samples(row, long_ones);
  std::vector<sample> all = {make_sample(row, {{7}}),
                             make_sample(row, {{1}}),
                             make_sample(row, {{4, 3}}),
                             make_sample(row, {{3, 4}}, {{"axis", 1}}),
                             make_sample(row, {{2, 5, 2}}, {{"axis", -2}}),
                             make_sample(row, {{6}}, {{"sorted", true}}),
                             make_sample(row, {{2, 4}}, {{"axis", 1}, {"sorted", true}}),
                             make_sample(row, {{0, 2}}),
                             make_sample(row, {{3, 0}})};
  // Elements that are close would be swapped in a difference.
  all[5].operands[0].values = tensor(std::vector<std::int32_t>{4, 1, 5, 0, 3, 2}, {6});
  all[6].operands[0].values = tensor(std::vector<std::int32_t>{3, 1, 2, 0, 5, 6, 4, 7}, {2, 4});
  if (long_ones) all.insert(all.end(), {make_sample(row, {{131}}), make_sample(row, {{3, 67}}, {{"axis", -1}})});
  return all;
}

}  // namespace kerngrad::testkit::detail
