// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops that count elements: what was added up at a bin is taken from there, and what stands for
// its equals takes their gradient alone.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_count;

import :std;
import :core;
import :rule;
import :call;
import :ops;

namespace kerngrad::rules {

/// The elements of dy, [..., bins], at the bins of `x`, rows of the last axis; 0 for those that were dropped, which
/// find a bin of their own after the others.
template <class T, class X>
T taken_from_bins(const T& dy, const X& x) {
  const int axis = dy.dims().rank() - 1;
  const std::int64_t bins = dy.dims()[axis];
  std::vector<std::int64_t> pairs(2 * static_cast<std::size_t>(axis) + 2);
  pairs.back() = 1;
  const dtype type = x.type() == dtype::int64 ? dtype::int64 : dtype::int32;
  const auto indices = minimum(cast(x, type), full({}, static_cast<double>(bins), type));
  return gather(pad(dy, pairs), indices, axis, axis);
}

inline constexpr auto count_rules = family_rules(rule_list{
    rule<"Bincount">(constant_operand(), wrt(keep::in0,
                                             [](const auto& c) {
                                               if (c.dims(1).size() == 0) return c.zeros(1);  // there were no weights
                                               const auto flat = reshape(c.in(0), shape{c.dims(0).size()});
                                               return reshape(taken_from_bins(c.dy(), flat), c.dims(1));
                                             })),
    rule<"DenseBincount">(constant_operand(), wrt(keep::in0,
                                                  [](const auto& c) {
                                                    if (c.dims(1).size() == 0 ||
                                                        c.template attr<"binaryOutput">().as_bool())
                                                      return c.zeros(1);
                                                    return taken_from_bins(c.dy(), c.in(0));
                                                  })),
    // The first index of each value: writing from the last one back, the first one stays.
    rule<"Unique">(wrt(keep::out1,
                       [](const auto& c) {
                         if (c.dims(0).size() == 0) return c.zeros(0);
                         const shape& x = c.dims(0);
                         const std::int64_t given = c.template attr<"axis">().as_integer();
                         const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
                         const std::int64_t count = x[axis];
                         const auto numbers = c.out(1);
                         const auto indices = arange(0, static_cast<double>(count), 1, dtype::int64);
                         const auto firsts = call<"TensorScatterUpdate">(
                             zeros(shape{c.dy(0).dims()[axis]}, dtype::int64),
                             reshape(call<"Reverse">(numbers), shape{count, 1}), call<"Reverse">(indices));
                         std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.rank()), 1);
                         sizes[static_cast<std::size_t>(axis)] = count;
                         const auto is_first = reshape(gather(firsts, numbers) == indices, shape(sizes));
                         return where(is_first, gather(c.dy(0), numbers, axis), full({}, 0, c.dy(0).type()));
                       })),
});

}  // namespace kerngrad::rules
