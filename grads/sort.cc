// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops that order elements: they take elements at indices that do not change as x does a little,
// so that their gradients are sums at these indices, linear in dy, whose own rules take from there again.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_sort;

import :std;
import :core;
import :rule;
import :call;
import :ops;

namespace kerngrad::rules {

/// dy [..., k] added up at indices [..., k] along the last axis of zeros of a shape.
template <class T, class I>
auto at_indices(const T& dy, const I& indices, const shape& dims) {
  const std::int64_t count = dims[dims.rank() - 1], k = dy.dims()[dims.rank() - 1];
  const std::int64_t rows = k == 0 ? 0 : dy.size() / k;
  return reshape(call<"GatherGrad">(reshape(dy, shape{rows, k}), reshape(indices, shape{rows, k}), attr<"axis">(1),
                                    attr<"batchDims">(1), attr<"inputShape">(shape{rows, count})),
                 dims);
}

/// The permutation that swaps an axis with the last one, which is its own inverse.
inline std::vector<std::int64_t> axis_with_last(int axis, int rank) {
  std::vector<std::int64_t> swapped;
  for (int i = 0; i < rank; ++i) swapped.push_back(i);
  std::swap(swapped[static_cast<std::size_t>(axis)], swapped.back());
  return swapped;
}

inline constexpr auto sort_rules = family_rules(rule_list{
    rule<"Sort">(wrt(keep::in0,
                     [](const auto& c) {
                       const int rank = c.dims(0).rank();
                       if (c.dims(0).size() == 0 || rank == 0) return reshape(c.dy(), c.dims(0));
                       const int given = static_cast<int>(c.template attr<"axis">().as_integer());
                       const auto swapped = axis_with_last(given < 0 ? given + rank : given, rank);
                       const auto x = transpose(c.in(0), swapped);
                       const auto indices = call<"ArgSort">(x, attr<"descending">(c.template attr<"descending">()));
                       return transpose(at_indices(transpose(c.dy(), swapped), indices, x.dims()), swapped);
                     })),
    rule<"TopK">(
        wrt(keep::out1,
            [](const auto& c) { return c.dy().size() == 0 ? c.zeros(0) : at_indices(c.dy(), c.out(1), c.dims(0)); })),
});

}  // namespace kerngrad::rules
