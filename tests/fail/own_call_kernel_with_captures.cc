// SPDX-License-Identifier: Apache-2.0
// The same for whole calls.
// error: a kernel on a call must be a lambda without captures or an empty functor
import kerngrad;
#include "outside_op.h"

kg::dtype f() {
  constexpr float by = 2;
#ifdef TWIN
  static_cast<void>(by);
  constexpr auto kernel = kg::on_call<float>([](const kg::launch_call&) {});
#else
  constexpr auto kernel = kg::on_call<float>([by](const kg::launch_call&) { static_cast<void>(by); });
#endif
  return kernel.type;
}
