// SPDX-License-Identifier: Apache-2.0
// The span API on a user-defined backend for a kernel that needs attributes.
// error: this kernel does not take one operand without attributes: use the typed call
import kerngrad;
#include "outside_op.h"

struct Mine {
  static constexpr auto kernels = std::tuple(kg::kernels_of<"Neg">(halved));
};
void f(std::span<const float> x, std::span<float> y) {
#ifdef TWIN
  kg::kernel<"Neg", Mine>(x, y);
#else
  kg::kernel<"LeakyRelu", Mine>(x, y);
#endif
}
