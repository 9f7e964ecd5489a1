// SPDX-License-Identifier: Apache-2.0
// A call on a user-defined backend, of a name that no row has.
// clang: fixed_string<4>{"Nag"} does not satisfy 'known_op'
import kerngrad;
#include "outside_op.h"

struct Mine {
  static constexpr auto kernels = std::tuple(kg::kernels_of<"Neg">(halved));
};
kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call_on<"Neg", Mine>(x);
#else
  return kg::call_on<"Nag", Mine>(x);
#endif
}
