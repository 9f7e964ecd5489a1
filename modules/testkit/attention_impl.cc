// SPDX-License-Identifier: Apache-2.0
// Samples of attention: heads that broadcast, masks of both kinds, no keys, no queries.
module;
#include <cstdint>
#include <optional>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

struct attended {
  shape query, key, value;
  std::optional<shape> bias = {}, seen = {};
  bool causal = false;
};

sample call_of(const op_row& row, const attended& a) {
  sample s = make_sample(row, {a.query, a.key, a.value}, {{"scale", 0.5}, {"causal", a.causal}});
  if (a.bias) s.operands.emplace_back("bias", *a.bias);
  if (a.seen) s.operands.emplace_back("seen", *a.seen);
  return s;
}

}  // namespace

std::vector<sample> attention_samples(const op_row& row, bool long_ones) {
  std::vector<attended> all = {
      {{3, 4}, {5, 4}, {5, 2}},
      {{3, 4}, {3, 4}, {3, 2}, {}, {}, true},
      {{2, 3, 4}, {2, 5, 4}, {2, 5, 2}, shape{3, 5}, shape{2, 1, 5}},
      {{2, 2, 2, 3}, {2, 1, 3, 3}, {2, 3, 1}, shape{2, 1, 1, 3}, {}, true},
      {{1, 1}, {1, 1}, {1, 1}, {}, shape{}},
      {{0, 3}, {2, 3}, {2, 2}},
      {{2, 3}, {0, 3}, {0, 2}},
      {{0, 2, 3}, {1, 4, 3}, {4, 2}},
  };
  if (long_ones)
    all.insert(all.end(), {{{140, 7}, {150, 7}, {150, 33}, {}, {}, true},
                           {{2, 5, 40}, {2, 300, 40}, {2, 300, 3}, shape{300}, shape{5, 1}}});
  std::vector<sample> samples;
  for (const attended& a : all) samples.push_back(call_of(row, a));
  return samples;
}

}  // namespace kerngrad::testkit::detail
