// SPDX-License-Identifier: Apache-2.0
module;
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::narrowed;
using detail::promoted;
using detail::shaped;

namespace {

void check_broadcast(const composed& call, const tensor& a, const tensor& b) {
  if (!broadcast(a.dims(), b.dims())) call.refuse(shaped("a", a) + " and " + shaped("b", b), "shapes that broadcast");
}

// Two arrays of numbers as is_close compares them.
struct compared {
  tensor distance, equal, size_of_b, b_is_finite, both_nan;
};

compared compared_reals(const tensor& a, const tensor& b, dtype type) {
  const tensor p = cast(a, type), q = cast(b, type);
  return {abs(p - q), p == q, abs(q), is_finite(q), logical_and(is_nan(p), is_nan(q))};
}

// By their parts, which every complex dtype has. A number with a NaN in either part is NaN.
compared compared_complex(const tensor& a, const tensor& b, dtype type) {
  const tensor p = cast(a, type), q = cast(b, type);
  const tensor a_real = real(p), a_imag = imag(p), b_real = real(q), b_imag = imag(q);
  const auto has_nan = [](const tensor& re, const tensor& im) { return logical_or(is_nan(re), is_nan(im)); };
  return {hypot(a_real - b_real, a_imag - b_imag), logical_and(a_real == b_real, a_imag == b_imag),
          hypot(b_real, b_imag), logical_and(is_finite(b_real), is_finite(b_imag)),
          logical_and(has_nan(a_real, a_imag), has_nan(b_real, b_imag))};
}

}  // namespace

tensor div_no_nan(const tensor& a, const tensor& b) {
  constexpr composed call{"div_no_nan"};
  call.given("a", a);
  call.given("b", b);
  check_broadcast(call, a, b);
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
  call.real("a", a);
  call.real("b", b);
  check_broadcast(call, a, b);
  const dtype type = promoted({&a, &b});
  const dtype computed = computed_in(lifted(type, lift::floats), wide_floats);
  const tensor p = cast(a, computed), q = cast(b, computed);
  // One smooth expression serves either order, so that derivatives of every order are right where the operands meet.
  const tensor first = p >= q, more = where(first, p, q), less = where(first, q, p);
  // Equal infinities have no difference.
  const tensor alike = logical_and(p == q, is_inf(p));
  const tensor base = where(alike, p * 0.5 + q * 0.5, more);
  return narrowed(base + softplus(where(alike, zeros_like(less), less - more)), type);
}

tensor is_close(const tensor& a, const tensor& b, const close_options& options) {
  constexpr composed call{"is_close"};
  call.given("a", a);
  call.given("b", b);
  for (const double tolerance : {options.rtol, options.atol})
    if (!(tolerance >= 0)) call.refuse("tolerance " + to_string(attr_value(tolerance)), "0 or more");
  constexpr dtype_set narrow = halves | only(dtype::float32) | only(dtype::complex64);
  const bool in_single = narrow.has(a.type()) && narrow.has(b.type());
  const bool is_complex = detail::is_complex(a) || detail::is_complex(b);
  const compared of = is_complex ? compared_complex(a, b, in_single ? dtype::complex64 : dtype::complex128)
                                 : compared_reals(a, b, in_single ? dtype::float32 : dtype::float64);
  const tensor near = of.distance <= of.size_of_b * options.rtol + options.atol;
  // An infinite b allows for everything: it is close to itself alone.
  const tensor close = logical_or(of.equal, logical_and(near, of.b_is_finite));
  return options.equal_nan ? logical_or(close, of.both_nan) : close;
}
bool all_close(const tensor& a, const tensor& b, const close_options& options) {
  return all(is_close(a, b, options)).item() != 0;
}

}  // namespace kerngrad
