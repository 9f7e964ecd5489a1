// SPDX-License-Identifier: Apache-2.0
// Samples of the normalizations: moments of every shape, with and without offset and scale; windows of channels within
// a pixel and beyond it.
module;
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

namespace views = ranges::views;

struct moments {
  shape x, of;
};

std::vector<sample> batch_samples(const op_row& row, bool long_ones) {
  const auto with = [&](const moments& m, bool offset, bool scale) {
    sample s = make_sample(row, {m.x, m.of, m.of});
    if (offset) s.operands.emplace_back(row.operands[3].name, m.of);
    if (scale) s.operands.emplace_back(row.operands[4].name, m.of);
    return s;
  };
  std::vector<sample> all;
  constexpr bool either[] = {true, false};
  for (const auto& [offset, scale] : views::cartesian_product(either, either))
    all.push_back(with({{2, 3, 4}, {4}}, offset, scale));
  std::vector<moments> more = {{{2, 3}, {2, 3}},
                               {{1, 2, 1, 2}, {2, 1, 2}},
                               {{2, 3, 2, 2}, {3, 1, 1}},
                               {{3, 2}, {3, 1}},
                               {{5}, {}},
                               {{}, {}},
                               {{2, 1}, {1}},
                               {{0, 3}, {3}},
                               {{2, 0}, {0}},
                               {{2, 3, 2, 2}, {2, 1, 2, 1}}};
  if (long_ones) more.insert(more.end(), {{{5, 67}, {67}}, {{131, 9}, {9}}, {{3, 1100}, {1100}}, {{2, 67}, {2, 1}}});
  for (const moments& m : more) all.push_back(with(m, true, true));
  for (const bool scale : either) all.push_back(with({{2, 3, 2, 2}, {2, 3, 1, 1}}, false, scale));
  all.push_back(all[0]);
  all.back().attrs = {{"varianceEpsilon", 0.25}};
  return all;
}

std::vector<sample> layer_samples(const op_row& row, bool long_ones) {
  constexpr bool either[] = {true, false};
  const auto with = [&](const shape& x, bool scale, bool offset) {
    const shape last{x[x.rank() - 1]};
    sample s = make_sample(row, {x});
    if (scale) s.operands.emplace_back(row.operands[1].name, last);
    if (offset) s.operands.emplace_back(row.operands[2].name, last);
    return s;
  };
  std::vector<sample> all;
  for (const auto& [scale, offset] : views::cartesian_product(either, either))
    all.push_back(with({2, 2, 5}, scale, offset));
  std::vector<shape> more = {{6}, {3, 4}, {2, 1}, {0, 3}, {2, 0}};
  if (long_ones) more.insert(more.end(), {{3, 67}, {2, 700}, {131, 9}, {1, 5000}});
  for (const shape& x : more) all.push_back(with(x, true, true));
  all.push_back(all[0]);
  all.back().attrs = {{"epsilon", 0.25}};
  return all;
}

struct pixels {
  shape x;
  attributes attrs;
};

std::vector<sample> response_samples(const op_row& row, bool long_ones) {
  std::vector<pixels> all = {
      {{2, 2, 4}, {{"depthRadius", 1}}},
      {{1, 2, 2, 5}, {{"depthRadius", 2}, {"alpha", 0.5}, {"beta", 0.75}}},
      {{1, 1, 7}, {{"depthRadius", 1}, {"bias", 2}, {"alpha", 0.25}, {"beta", 1}}},
      {{2, 1, 2, 3}, {{"beta", 0.3}}},
      {{1, 2, 3}, {{"depthRadius", 0}, {"beta", 2}}},
      {{2, 1, 1}, {}},
      {{0, 2, 2, 3}, {}},
      {{2, 2, 0}, {}},
  };
  if (long_ones)
    all.insert(all.end(), {{{2, 3, 67}, {{"depthRadius", 3}}},
                           {{1, 131, 9}, {{"beta", 0.6}}},
                           {{1, 2, 1100}, {{"depthRadius", 40}, {"beta", 0.75}}}});
  std::vector<sample> samples;
  for (const pixels& p : all) samples.push_back(make_sample(row, {p.x}, p.attrs));
  return samples;
}

}  // namespace

std::vector<sample> norm_samples(const op_row& row, bool long_ones) {
  if (row.operand_index("variance") >= 0) return batch_samples(row, long_ones);
  if (row.operand_index("scale") >= 0) return layer_samples(row, long_ones);
  return response_samples(row, long_ones);
}

}  // namespace kerngrad::testkit::detail
