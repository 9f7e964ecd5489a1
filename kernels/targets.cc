// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/targets.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/targets.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <atomic>

namespace kerngrad::kernels {

HWY_EXPORT(name_of_target);

namespace {
// Better targets have lower bits in Highway.
int list(std::int64_t set, target* out, int capacity) {
  int count = 0;
  for (std::int64_t bit = 1; bit != 0 && bit <= HWY_TARGETS; bit <<= 1) {
    if ((set & bit) == 0) continue;
    if (count < capacity) out[count] = {bit, hwy::TargetName(bit)};
    ++count;
  }
  return count;
}
}  // namespace

int supported_targets(target* out, int capacity) {
  // Asked of the CPU, not of a pin that may be in force.
  static constinit std::atomic<std::int64_t> set{0};
  if (set == 0) set = hwy::SupportedTargets() & HWY_TARGETS;
  return list(set, out, capacity);
}

int compiled_targets(target* out, int capacity) { return list(HWY_TARGETS, out, capacity); }

void pin_target(std::int64_t bits) {
  target all[64];
  supported_targets(all, 64);  // remembers the CPU's own set before the first pin hides it
  hwy::SetSupportedTargetsForTest(bits);
}

void unpin_target() { hwy::SetSupportedTargetsForTest(0); }

const char* running_target() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

}  // namespace kerngrad::kernels
#endif
