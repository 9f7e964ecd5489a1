// SPDX-License-Identifier: Apache-2.0
// The span API with two operands for an op of one.
// error: this kernel does not take two operands: use the typed call
import kerngrad;
#include "outside_op.h"

void f(std::span<const float> x, std::span<float> y) {
#ifdef TWIN
  kg::kernel<Halve>(x, y);
#else
  kg::kernel<Halve>(x, x, y);
#endif
}
