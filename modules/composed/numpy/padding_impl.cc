// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::detail {

// Each round reflects as much as there is: the end of the array so far is a point of reflection of the whole border,
// so further rounds continue the same periodic array, and their number is the logarithm of the border's width.
tensor mirrored(const tensor& x, std::span<const std::int64_t> pairs, kerngrad::mirror how) {
  const auto fits = [&] {
    if (std::ranges::any_of(pairs, [](std::int64_t pad) { return pad < 0; })) return true;  // the op says what is wrong
    return std::ssize(pairs) != 2 * x.rank() || x.size() == 0;
  };
  if (!x.defined() || fits()) return mirror_pad(x, pairs, how);
  const std::int64_t skipped = how == kerngrad::mirror::reflect ? 1 : 0;
  std::vector<std::int64_t> rest(pairs.begin(), pairs.end()), repeated(rest.size(), 0), now(rest.size(), 0);
  for (std::size_t i = 0; i < rest.size() && skipped; ++i)
    if (x.dims()[static_cast<int>(i / 2)] == 1) repeated[i] = std::exchange(rest[i], 0);
  tensor y =
      std::ranges::any_of(repeated, [](std::int64_t pad) { return pad > 0; }) ? pad(x, repeated, pad_mode::edge) : x;
  do {
    for (std::size_t i = 0; i < rest.size(); ++i) {
      now[i] = std::min(rest[i], std::max<std::int64_t>(y.dims()[static_cast<int>(i / 2)] - skipped, 0));
      rest[i] -= now[i];
    }
    y = mirror_pad(y, now, how);
  } while (std::ranges::any_of(rest, [](std::int64_t pad) { return pad > 0; }));
  return y;
}

}  // namespace kerngrad::detail
