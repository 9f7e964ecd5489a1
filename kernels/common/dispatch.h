// SPDX-License-Identifier: Apache-2.0
// How an entry point finds the kernel for this CPU: every kernel has a table with its function for each target that was
// compiled, and one word says for all of them which entry of the table runs. A call reads the word and jumps.
// Highway's own HWY_DYNAMIC_DISPATCH, which kernels of authors use, computes the index from a bit set in every call.
// To include in the last pass only, inside of HWY_ONCE.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// The index in every table: 0, whose function chooses, until there was a first call; then that of the best target
/// which the CPU has, or of the pinned one.
extern std::atomic<std::uint32_t> target_index [[gnu::visibility("hidden")]];

/// Chooses the best target and writes its index; throws kg::error where the CPU has none of those compiled.
std::uint32_t choose_target();

inline constexpr std::size_t table_size = 1 + static_cast<std::size_t>(std::popcount(std::uint64_t{HWY_TARGETS}));

/// The functions of one kernel: at 0 the one that chooses, then those of the targets, the best first.
template <class F>
struct target_table {
  F at[table_size];
};

template <class F>
struct first_call;
template <class R, class... Args>
struct first_call<R (*)(Args...)> {
  template <const target_table<R (*)(Args...)>& Table>
  static R run(Args... args) {
    return Table.at[choose_target()](args...);
  }
};

/// The function that chooses, as a constant: GCC does not compile one whose address is given to table_of alone.
template <class F, const target_table<F>& Table>
inline constexpr F first_of = &first_call<F>::template run<Table>;

/// The table, of a list in Highway's order in which a target that was not compiled is null.
template <class F, std::size_t N>
consteval target_table<F> table_of(F first, const F (&targets)[N]) {
  target_table<F> table{{first}};
  std::size_t index = 1;
  for (const F target : targets)
    if (target) table.at[index++] = target;
  return table;
}

}  // namespace kerngrad::kernels

#if HWY_TARGETS & (HWY_EMU128 | HWY_SCALAR)
#define KG_LAST_TARGET(name) HWY_CHOOSE_FALLBACK(name)
#else
#define KG_LAST_TARGET(name) nullptr
#endif

/// Defines the table of a kernel, next to the namespaces of the targets.
#define KG_TARGETS_OF(name)                                                               \
  static constexpr target_table<decltype(&HWY_STATIC_DISPATCH(name))> name##_on_targets = \
      table_of<decltype(&HWY_STATIC_DISPATCH(name))>(                                     \
          first_of<decltype(&HWY_STATIC_DISPATCH(name)), name##_on_targets>,              \
          {HWY_CHOOSE_TARGET_LIST(name), KG_LAST_TARGET(name)})
/// The function of the kernel that runs here: KG_ON_TARGET(Exp_float32)(x, y, n).
#define KG_ON_TARGET(name) (name##_on_targets.at[target_index.load(std::memory_order_relaxed)])

/// The entry point of a function with SIMD kernels: its table, and the call of one of them. Nothing where abi.h
/// declares that the name is the reference's.
#define KG_DISPATCH_FUNCTION(type, name, parameters, arguments) \
  KG_IF_SIMD(type, KG_TARGETS_OF(name); void name parameters { KG_ON_TARGET(name) arguments; })
#define KG_DISPATCH_KERNEL(Name, type, ...) \
  KG_DISPATCH_FUNCTION(KG_SIMD_FOR(type, __VA_ARGS__), Name##_##type, KG_RUN_PARAMETERS, (in, out, geometry))
/// Defines the entry points of a list, which jump to the kernels of the CPU's target.
#define KG_DISPATCH_KERNELS(LIST) LIST(KG_DISPATCH_KERNEL)
