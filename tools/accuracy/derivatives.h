// SPDX-License-Identifier: Apache-2.0
// The derivatives of the elementwise ops from their definitions, and where they are asked: shared by
// `./dev accuracy --gradients` and tests/elementwise/gradients.cc.
#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "kernels/common/accuracy.h"
#include "tools/accuracy/number.h"
#include "tools/accuracy/oracle.h"

namespace kgaccuracy {

/// Derivatives of an op of one operand. At a kink they are the ones that the op's row states.
struct derivative_of_one {
  const char* op;
  number (*first)(const number& x);
  double (*estimate)(double x);       ///< the first in double precision, right to `estimate_margin`; null: unknown
  number (*second)(const number& x);  ///< null: not tested
  double least = -std::numeric_limits<double>::infinity(), most = -least;  ///< where the op is defined
};
/// The derivative of an op of two operands for one of them, and the derivatives of that.
struct derivative_of_two {
  const char* op;
  int operand;
  number (*first)(const number& a, const number& b);
  number (*second_a)(const number& a, const number& b);  ///< null: not tested
  number (*second_b)(const number& a, const number& b);
};
extern const std::span<const derivative_of_one> derivatives_of_one;
extern const std::span<const derivative_of_two> derivatives_of_two;

/// True if the bound of a gradient holds for an operand.
template <class T>
bool is_in_domain(const kerngrad::kernels::gradient_domain& domain, T x) {
  if (!std::isfinite(x) || (domain.squares && !std::isfinite(x * x))) return false;
  if (!(x > domain.above && x < domain.below)) return false;
  return domain.distance == 0 || std::fabs(x - domain.zero) >= domain.distance;
}

/// Operands of an op of two of all sizes in a domain and of all signs. Every fourth b is close to a, if the sizes are
/// those of a.
template <class T>
pairs<T> pairs_in_domain(const kerngrad::kernels::gradient_domain& domain, std::size_t count) {
  words next;
  pairs<T> all;
  const auto draw = [&](int powers) { return std::exp2((2 * next.unit() - 1) * powers); };
  for (std::size_t i = 0; i < count; ++i) {
    const double a = draw(domain.powers[0]), b = draw(domain.powers[1]), near = a * (1 + (next.unit() - 0.5) * 0.25);
    const bool is_near = i % 4 == 0 && domain.powers[0] == domain.powers[1];
    all.a.push_back(static_cast<T>(next.unit() < 0.5 ? a : -a));
    all.b.push_back(static_cast<T>(std::copysign(is_near ? near : b, next.unit() - 0.5)));
  }
  return all;
}

}  // namespace kgaccuracy
