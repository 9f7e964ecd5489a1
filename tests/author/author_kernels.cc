// SPDX-License-Identifier: Apache-2.0
// Kernels as users of the library write them: every form, every dtype.
#define KERNGRAD_FILE "author_kernels.cc"
#include <kerngrad/kernel.h>

#include <limits>

#include "tests/author/kernels.h"

KERNGRAD_BEGIN(my::more)

KERNGRAD_MAP1(Cube, d, x) { return math::Product(d, x, math::Product(d, x, x)); }
KERNGRAD_UNARY(Cube, float32)
KERNGRAD_UNARY(Cube, float64)
KERNGRAD_UNARY(Cube, int32)
KERNGRAD_UNARY(Cube, int64)
KERNGRAD_UNARY(Cube, uint8)

KERNGRAD_LONG_MAP1(Mish, d, x) { return hn::Mul(x, math::Tanh(d, math::Softplus(d, x))); }
KERNGRAD_UNARY(Mish, float32)
KERNGRAD_UNARY(Mish, float64)

// Highway's bit of the target that the body was compiled for.
KERNGRAD_MAP1(RunningTarget, d, x) { return hn::Set(d, static_cast<T>(HWY_TARGET)); }
KERNGRAD_UNARY(RunningTarget, float64)

KERNGRAD_MAP1_WITH_PARAMS(Shift, d, x, params) { return hn::Add(x, hn::Set(d, params[1])); }
KERNGRAD_UNARY_WITH_PARAMS(Shift, int32)
KERNGRAD_UNARY_WITH_PARAMS(Shift, int64)

KERNGRAD_END

// A second block adds to the same namespace.
KERNGRAD_BEGIN(my::more)

// |a - b|; integers wrap. The lambda is there to be compiled for every target.
KERNGRAD_MAP2(Distance, d, a, b) {
  const auto minus = [](V left, V right) { return hn::Sub(left, right); };
  return hn::IfThenElse(hn::Gt(a, b), minus(a, b), minus(b, a));
}
KERNGRAD_BINARY(Distance, float32)
KERNGRAD_BINARY(Distance, float64)
KERNGRAD_BINARY(Distance, int32)
KERNGRAD_BINARY(Distance, int64)
KERNGRAD_BINARY(Distance, uint8)

struct SumOfSquares {
  template <class T>
  static T identity() {
    return 0;
  }
  template <class D, class V>
  static V map(D d, V x) {
    return math::Product(d, x, x);
  }
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::Add(a, b);
  }
};
KERNGRAD_REDUCTION(SumOfSquares, float32)
KERNGRAD_REDUCTION(SumOfSquares, float64)
KERNGRAD_REDUCTION(SumOfSquares, int32)
KERNGRAD_REDUCTION(SumOfSquares, int64)
KERNGRAD_REDUCTION(SumOfSquares, uint8)

// The greatest |x|; NaN if one is NaN.
struct MaxMagnitude {
  template <class T>
  static T identity() {
    return 0;
  }
  template <class D, class V>
  static V map(D, V x) {
    return hn::Abs(x);
  }
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};
KERNGRAD_REDUCTION(MaxMagnitude, float32)
KERNGRAD_REDUCTION(MaxMagnitude, float64)

// The lowest |x|; NaN if one is NaN. Its map of 0 is not the identity.
struct MinMagnitude {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::infinity();
  }
  template <class D, class V>
  static V map(D, V x) {
    return hn::Abs(x);
  }
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};
KERNGRAD_REDUCTION(MinMagnitude, float32)
KERNGRAD_REDUCTION(MinMagnitude, float64)

// The lowest element, without a map; the identity is not 0.
struct Lowest {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::max();
  }
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::Min(a, b);
  }
};
KERNGRAD_REDUCTION(Lowest, int32)

KERNGRAD_END
