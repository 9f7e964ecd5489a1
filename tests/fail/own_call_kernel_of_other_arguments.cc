// SPDX-License-Identifier: Apache-2.0
// A kernel on a call that takes an element.
// error: a kernel on a call must take a const launch_call& and give nothing
import kerngrad;
#include "outside_op.h"

kg::dtype f() {
#ifdef TWIN
  constexpr auto kernel = kg::on_call<float>([](const kg::launch_call&) {});
#else
  constexpr auto kernel = kg::on_call<float>([](float x) { return x; });
#endif
  return kernel.type;
}
