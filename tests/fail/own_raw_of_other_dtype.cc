// SPDX-License-Identifier: Apache-2.0
// The span API of a dtype that the op has no kernel for.
// error: this kernel does not take one operand without attributes: use the typed call
import kerngrad;
#include "outside_op.h"

#ifdef TWIN
void f(std::span<const float> x, std::span<float> y) { kg::kernel<Halve>(x, y); }
#else
void f(std::span<const double> x, std::span<double> y) { kg::kernel<Halve>(x, y); }
#endif
