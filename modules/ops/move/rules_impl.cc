// SPDX-License-Identifier: Apache-2.0
// Parts of the gradient rules of grads/move.cc that need tensors alone.
module;
#include <span>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::rules {

namespace {

// Products of the `reach` elements before or after each one, by doubling: x is [count, inner], reach [count] and at
// most `most`. Products alone, so that zeros among the factors do no harm and every order is right.
tensor products_of_neighbours(const tensor& x, const tensor& reach, std::int64_t most, bool behind) {
  const std::int64_t count = x.dims()[0], inner = x.dims()[1];
  const tensor one = ones({}, x.type());
  const auto moved_by = [&](const tensor& v, std::int64_t step) {
    const tensor part = slice(v, {behind ? step : 0, 0}, {count - step, inner});
    const tensor moved = behind ? pad(part, {0, step, 0, 0}) : pad(part, {step, 0, 0, 0});
    return moved;
  };
  const auto factor = [&](const tensor& v, std::int64_t step, std::int64_t passed) {
    return where(reshape(reach > passed, shape{count, 1}), moved_by(v, step), one);
  };
  tensor product = factor(x, 1, 0);
  for (std::int64_t step = 1; step < most; step *= 2) product = product * factor(product, step, step);
  return product;
}

}  // namespace

std::vector<std::int64_t> inverted(const attr_value& perm, int rank) {
  std::vector<std::int64_t> inverse(static_cast<std::size_t>(rank));
  const std::span<const std::int64_t> list = perm.as_list();
  for (int i = 0; i < rank; ++i) {
    const std::int64_t from = perm.given() ? list[static_cast<std::size_t>(i)] : rank - 1 - i;
    inverse[static_cast<std::size_t>(from < 0 ? from + rank : from)] = i;
  }
  return inverse;
}

tensor slices_that_stayed(const tensor& dy, const tensor& rows) {
  const std::int64_t count = rows.dims()[0], depth = rows.dims()[1];
  const shape leading(dy.dims().dims().first(static_cast<std::size_t>(depth)));
  const tensor order = arange(0, static_cast<double>(count), 1, dtype::int64);
  const tensor last = tensor_scatter_update(zeros(leading, dtype::int64), rows, order);
  const tensor stayed = gather_nd(last, rows) == order;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(dy.rank() - depth + 1), 1);
  sizes[0] = count;
  return where(reshape(stayed, shape(sizes)), gather_nd(dy, rows), zeros({}, dy.type()));
}

tensor products_of_others(const tensor& x, const tensor& indices) {
  if (x.size() == 0) return x;
  const tensor order = argsort(indices), sorted = gather(indices, order), rows = gather(x, order);
  const tensor at = arange(0, static_cast<double>(x.dims()[0]), 1, dtype::int64);
  const tensor before = at - cast(lower_bound(sorted, sorted), dtype::int64),
               behind = cast(upper_bound(sorted, sorted), dtype::int64) - at - 1;
  const std::int64_t most = max(before).item<std::int64_t>();
  return gather(products_of_neighbours(rows, before, most, false) * products_of_neighbours(rows, behind, most, true),
                argsort(order));
}

tensor numbered(const shape& dims) {
  return reshape(arange(0, static_cast<double>(dims.size()), 1, dtype::int64), dims);
}

}  // namespace kerngrad::rules
