// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/targets.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/common/targets.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <atomic>
#include <bit>

#include "kernels/common/cpu.h"
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_TARGETS_OF(name_of_target);

constinit std::atomic<std::uint32_t> target_index{0};

namespace {
// 0: none is active.
constinit std::atomic<std::int64_t> pinned{0};

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

// Index in the tables of the best target of a set; 0 for a set that has none.
std::uint32_t index_of_best(std::int64_t set) {
  const std::uint64_t all = HWY_TARGETS, some = static_cast<std::uint64_t>(set) & all;
  return some == 0 ? 0 : 1 + static_cast<std::uint32_t>(std::popcount(all & ((some & -some) - 1)));
}
}  // namespace

int supported_targets(target* out, int capacity) { return list(targets_of_cpu() & HWY_TARGETS, out, capacity); }
int compiled_targets(target* out, int capacity) { return list(HWY_TARGETS, out, capacity); }

std::uint32_t choose_target() {
  const std::int64_t pin = pinned.load(std::memory_order_relaxed);
  const std::uint32_t best = index_of_best(pin != 0 ? pin : targets_of_cpu());
  if (best == 0) refuse_cpu();
  std::uint32_t none = 0;  // a pin that came meanwhile stays
  return target_index.compare_exchange_strong(none, best, std::memory_order_relaxed) ? best : none;
}

void require_target() {
  if (target_index.load(std::memory_order_relaxed) == 0) choose_target();
}

void pin_target(std::int64_t bits) {
  pin_highway(bits);
  pinned.store(bits, std::memory_order_relaxed);
  target_index.store(index_of_best(bits), std::memory_order_relaxed);
}

void unpin_target() {
  pin_highway(0);
  pinned.store(0, std::memory_order_relaxed);
  target_index.store(0, std::memory_order_relaxed);
}

const char* running_target() { return KG_ON_TARGET(name_of_target)(); }

}  // namespace kerngrad::kernels
#endif
