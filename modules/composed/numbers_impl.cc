// SPDX-License-Identifier: Apache-2.0
module;
#include <string>
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
  call.numbers("x", x);
  return neg(softplus(neg(x)));
}

tensor log_add_exp(const tensor& a, const tensor& b) {
  constexpr composed call{"log_add_exp"};
  call.given("a", a);
  call.given("b", b);
  // Of equal operands, infinite ones among them, the difference is taken as 0.
  const tensor same = a == b, difference = where(same, zeros_like(a - b), a - b);
  return maximum(a, b) + softplus(-abs(difference));
}

tensor is_close(const tensor& a, const tensor& b, const close_options& options) {
  constexpr composed call{"is_close"};
  call.given("a", a);
  call.given("b", b);
  for (const double tolerance : {options.rtol, options.atol})
    if (!(tolerance >= 0)) call.refuse("tolerance " + to_string(attr_value(tolerance)), "0 or more");
  const bool narrow =
      floating.has(a.type()) && floating.has(b.type()) && a.type() != dtype::float64 && b.type() != dtype::float64;
  const dtype type = narrow ? dtype::float32 : dtype::float64;
  const tensor p = cast(a, type), q = cast(b, type);
  const tensor near = abs(p - q) <= abs(q) * options.rtol + options.atol;
  // An infinite b allows for everything: it is close to itself alone.
  const tensor close = logical_or(p == q, logical_and(near, is_finite(q)));
  return options.equal_nan ? logical_or(close, logical_and(is_nan(p), is_nan(q))) : close;
}
bool all_close(const tensor& a, const tensor& b, const close_options& options) {
  return all(is_close(a, b, options)).item() != 0;
}

}  // namespace kerngrad
