// SPDX-License-Identifier: Apache-2.0
// The targets of a CPU as Highway's library finds them.
#include "hwy/highway.h"
#include "kernels/common/cpu.h"

namespace kerngrad::kernels {

std::int64_t targets_of_cpu() {
#if defined(HWY_COMPILE_ONLY_STATIC) && defined(__riscv)
  return HWY_STATIC_TARGET;  // all of the program needs it, and Highway's library of Debian 13 does not know of it
#else
  static const std::int64_t found = hwy::SupportedTargets();
  return found;
#endif
}

void pin_highway(std::int64_t bits) {
  targets_of_cpu();  // Highway knows no other targets after a pin
  hwy::SetSupportedTargetsForTest(bits);
}

}  // namespace kerngrad::kernels
