// SPDX-License-Identifier: Apache-2.0
// A call on something that is no backend.
// error: a user-defined backend needs a member `static constexpr auto kernels = std::tuple(kernels_of...)`
import kerngrad;
#include "outside_op.h"

struct Mine {
  static constexpr auto kernels = std::tuple(kg::kernels_of<"Neg">(halved));
};
kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call_on<"Neg", Mine>(x);
#else
  return kg::call_on<"Neg", Halve>(x);
#endif
}
