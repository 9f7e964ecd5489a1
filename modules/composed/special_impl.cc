// SPDX-License-Identifier: Apache-2.0
module;
#include <string>
#include <tuple>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :tape;

namespace kerngrad {

using detail::composed;

namespace {

bool is_recorded(const tensor& x) { return detail::this_tape().tracks(x); }

// Sums over the axes that an operand was broadcast on.
tensor to_shape_of(tensor g, const tensor& x) {
  const int more = g.rank() - x.rank();
  std::vector<std::int64_t> axes;
  for (int i = 0; i < g.rank(); ++i)
    if (i < more || (x.dims()[i - more] == 1 && g.dims()[i] != 1)) axes.push_back(i);
  return axes.empty() ? g : reshape(sum(g, axes), x.dims());
}

// Derivative of P(a, x) for x: x^(a - 1) e^-x / gamma(a). xlogy makes it 1 at a = 1 and x = 0.
tensor gamma_density(const tensor& a, const tensor& x) { return exp(xlogy(a - 1, x) - x - lgamma(a)); }
// Derivative of I_x(a, b) for x: x^(a - 1) (1 - x)^(b - 1) / B(a, b).
tensor beta_density(const tensor& a, const tensor& b, const tensor& x) {
  return exp(xlogy(a - 1, x) + xlogy(b - 1, 1 - x)) / beta(a, b);
}

constexpr auto lower_gamma =
    custom_gradient<[](const tensor& a, const tensor& x) { return saved(call<"Gammainc">(a, x), a, x); },
                    [](const tensor& dy, const tensor& a, const tensor& x) {
                      return std::tuple(tensor(), to_shape_of(dy * gamma_density(a, x), x));
                    }>;
constexpr auto upper_gamma =
    custom_gradient<[](const tensor& a, const tensor& x) { return saved(call<"Gammaincc">(a, x), a, x); },
                    [](const tensor& dy, const tensor& a, const tensor& x) {
                      return std::tuple(tensor(), to_shape_of(-dy * gamma_density(a, x), x));
                    }>;
constexpr auto incomplete_beta =
    custom_gradient<[](const tensor& a, const tensor& b, const tensor& x) {
      return saved(call<"Betainc">(a, b, x), a, b, x);
    },
                    [](const tensor& dy, const tensor& a, const tensor& b, const tensor& x) {
                      return std::tuple(tensor(), tensor(), to_shape_of(dy * beta_density(a, b, x), x));
                    }>;

}  // namespace

// A recorded order takes the op itself, whose missing rule throws. The function's rule would give 0 without a word.
tensor gammainc(const tensor& a, const tensor& x) {
  return is_recorded(a) ? call<"Gammainc">(a, x) : lower_gamma(a, x);
}
tensor gammaincc(const tensor& a, const tensor& x) {
  return is_recorded(a) ? call<"Gammaincc">(a, x) : upper_gamma(a, x);
}
tensor betainc(const tensor& a, const tensor& b, const tensor& x) {
  return is_recorded(a) || is_recorded(b) ? call<"Betainc">(a, b, x) : incomplete_beta(a, b, x);
}

tensor logit(const tensor& given) {
  constexpr composed call{"logit"};
  call.given("x", given);
  const tensor x = detail::widened(given);
  // 2 x - 1 is exact from 1/4 to 3/4, and the quotient has no cancellation outside. Each side gets operands of its own,
  // so that neither gives an infinite gradient to the other.
  const tensor middle = abs(x - 0.5) <= 0.25;
  const tensor near = where(middle, x, 0.5), far = where(middle, 0.25, x);
  return detail::narrowed(where(middle, 2 * atanh(2 * near - 1), log(far / (1 - far))), given.type());
}

tensor mish(const tensor& given) {
  constexpr composed call{"mish"};
  call.given("x", given);
  const tensor x = detail::widened(given);
  // The quotient n / (n + 2) with n = e^x (e^x + 2) has the same value, but the terms of its derivative cancel.
  return detail::narrowed(x * tanh(softplus(x)), given.type());
}

tensor hard_swish(const tensor& given) {
  constexpr composed call{"hard_swish"};
  call.given("x", given);
  const tensor x = detail::widened(given);
  return detail::narrowed(x * (relu6(x + 3) / 6), given.type());
}

}  // namespace kerngrad
