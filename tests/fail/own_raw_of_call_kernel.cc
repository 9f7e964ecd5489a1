// SPDX-License-Identifier: Apache-2.0
// The span API of a kernel that takes whole calls.
// error: this kernel does not take one operand without attributes: use the typed call
import kerngrad;
#include "outside_op.h"

struct Own : Halve {
#ifndef TWIN
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>([](const kg::launch_call&) {}));
#endif
};
void f(std::span<const float> x, std::span<float> y) { kg::kernel<Own>(x, y); }
