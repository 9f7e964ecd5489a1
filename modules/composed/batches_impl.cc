// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad::detail {

batch_plan plan_batches(std::span<const tensor> xs, const batch_options& options) {
  constexpr composed call{"batches"};
  if (options.size < 1) call.refuse("batches of " + std::to_string(options.size), "1 example or more");
  for (const tensor& x : xs) {
    call.rank("x", x, 1);
    if (x.dims()[0] != xs[0].dims()[0])
      call.refuse(
          "operands of " + std::to_string(xs[0].dims()[0]) + " and " + std::to_string(x.dims()[0]) + " examples",
          "as many examples of each");
  }
  const std::int64_t examples = xs[0].dims()[0], whole = examples / options.size;
  const bool rest = examples % options.size != 0 && !options.drop_last;
  return {.examples = examples,
          .size = options.size,
          .batches = whole + rest,
          .order = options.shuffle ? options.shuffle->permutation(examples) : tensor()};
}

tensor batch_part(const tensor& x, const batch_plan& plan, std::int64_t batch) {
  constexpr composed call{"batches"};
  if (batch < 0 || batch >= plan.batches)
    call.refuse("batch " + std::to_string(batch), "one of " + std::to_string(plan.batches) + ", counted from 0");
  const std::int64_t begin = batch * plan.size, count = std::min(plan.size, plan.examples - begin);
  if (plan.order.defined()) return gather(x, slice(plan.order, {begin}, {count}));
  std::vector<std::int64_t> from(static_cast<std::size_t>(x.rank())), sizes(x.dims().begin(), x.dims().end());
  from[0] = begin;
  sizes[0] = count;
  return slice(x, from, sizes);
}

}  // namespace kerngrad::detail
