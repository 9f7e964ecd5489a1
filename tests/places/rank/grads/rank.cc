// SPDX-License-Identifier: Apache-2.0
// The gradient rule of SortPairs: what the pairs' places were sorted to brings each gradient back.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_rank;

import :std;
import :core;
import :rule;
import :call;
import :ops;

namespace kerngrad::rules {

/// The gradient of a result, in the order that its operand has.
inline constexpr auto brought_back = [](const auto& c, const auto& dy) {
  const shape& dims = c.dims(0);
  const std::int64_t count = dims[dims.rank() - 1];
  const auto places = broadcast_to(arange(0, static_cast<double>(count), 1, c.type(0)), dims);
  const auto from = sort_pairs(c.in(0), places)[1];
  return sort_pairs(from, dy)[1];
};

inline constexpr auto rank_rules = family_rules(rule_list{
    rule<"SortPairs">(wrt(keep::in0, [](const auto& c) { return brought_back(c, c.dy(0)); }),
                      wrt(keep::in0, [](const auto& c) { return brought_back(c, c.dy(1)); })),
});

}  // namespace kerngrad::rules
