// SPDX-License-Identifier: Apache-2.0
module;
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;

difference_parts list_difference(const tensor& x, const tensor& y) {
  constexpr composed call{"list_difference"};
  call.rank("x", x, 1, 1);
  call.rank("y", y, 1, 1);
  if (x.type() != y.type())
    call.refuse(
        "operands x and y of dtypes " + std::string(name_of(x.type())) + " and " + std::string(name_of(y.type())),
        "one dtype", "cast one of them");
  tensor stays = ones(x.dims(), dtype::boolean);
  if (x.size() > 0 && y.size() > 0) {
    // A number that is in y has elements between its two bounds. Adding 0 makes -0, which sorts apart, equal to 0.
    const auto plain = [](const tensor& t) { return floating.has(t.type()) ? t + 0 : t; };
    const tensor sorted = sort(plain(y)), wanted = plain(x);
    stays = lower_bound(sorted, wanted) == upper_bound(sorted, wanted);
  }
  const tensor indices = squeeze(nonzero(stays), -1);
  return {gather(x, indices), indices};
}

}  // namespace kerngrad
