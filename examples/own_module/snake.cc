// SPDX-License-Identifier: Apache-2.0
#define KERNGRAD_FILE "snake.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
// x + sin(params[0] * x)^2 / params[0].
KERNGRAD_LONG_MAP1_WITH_PARAMS(Snake, d, x, params) {
  const V frequency = hn::Set(d, params[0]);
  const V sine = math::Sin(d, hn::Mul(frequency, x));
  return hn::Add(x, hn::Div(hn::Mul(sine, sine), frequency));
}
KERNGRAD_UNARY_WITH_PARAMS(Snake, float32)
KERNGRAD_UNARY_WITH_PARAMS(Snake, float64)
KERNGRAD_END
