// SPDX-License-Identifier: Apache-2.0
module;
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;

tensor div_no_nan(const tensor& a, const tensor& b) {
  constexpr composed call{"div_no_nan"};
  call.given("a", a);
  call.given("b", b);
  if (!broadcast(a.dims(), b.dims())) call.refuse(shaped("a", a) + " and " + shaped("b", b), "shapes that broadcast");
  // The divisor is replaced before the division, too, whose gradient would be NaN there.
  const tensor nothing = b == 0;
  const tensor quotient = a / where(nothing, ones_like(b), b);
  return where(nothing, zeros_like(quotient), quotient);
}

tensor log_sigmoid(const tensor& x) {
  constexpr composed call{"log_sigmoid"};
  call.given("x", x);
  return neg(softplus(neg(x)));
}

}  // namespace kerngrad
