// SPDX-License-Identifier: Apache-2.0
#define KERNGRAD_FILE "softshrink.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
// x moved towards 0 by params[0], 0 within it; NaN passes.
KERNGRAD_MAP1_WITH_PARAMS(Softshrink, d, x, params) {
  const V lambda = hn::Set(d, params[0]);
  const V moved = hn::Sub(x, hn::CopySign(lambda, x));
  return hn::IfThenZeroElse(hn::Le(hn::Abs(x), lambda), moved);
}
KERNGRAD_UNARY_WITH_PARAMS(Softshrink, float32)
KERNGRAD_UNARY_WITH_PARAMS(Softshrink, float64)
KERNGRAD_END
