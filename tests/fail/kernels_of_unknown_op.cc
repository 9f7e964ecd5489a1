// SPDX-License-Identifier: Apache-2.0
// Kernels for a name that no row has.
// error: kernels for an op that has no row: correct the name
import kerngrad;
#include "outside_op.h"

struct Mine {
#ifdef TWIN
  static constexpr auto kernels = std::tuple(kg::kernels_of<"Neg">(halved));
#else
  static constexpr auto kernels = std::tuple(kg::kernels_of<"Nag">(halved));
#endif
};
kg::tensor f(const kg::tensor& x) { return kg::call_on<"Neg", Mine>(x); }
