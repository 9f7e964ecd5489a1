// SPDX-License-Identifier: Apache-2.0
// The roofs of the machine, measured, and how long a kernel has to take at least under them: for the benchmarks and for
// profiles. The library does not have them.
#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "kernels/common/targets.h"

namespace kerngrad::kernels {

/// Level of the memory that holds a working set.
enum class level { l1, l2, l3, dram };
inline constexpr int level_count = 4;
/// "L1", "L2", "L3", "DRAM".
const char* name_of(level where);
/// The smallest level that holds that many bytes, by the caches that one core of this machine can fill.
level level_of(double bytes);
/// Bytes of it that one core can fill.
double capacity(level where);

/// Upper bounds of one core on one target.
struct roofs {
  double flops32 = 0, flops64 = 0;                          ///< fused multiply-adds in registers, two operations each
  double quotients32 = 0, quotients64 = 0;                  ///< divisions in registers
  double roots32 = 0, roots64 = 0;                          ///< square roots in registers
  std::array<double, level_count> read{}, write{}, copy{};  ///< bytes a second; a copy counts both sides
};
/// The roofs of a target, measured at the first call and remembered. Pins the target.
const roofs& roofs_of(const target& target);

/// The least work of a kernel, however it is written.
struct duty {
  double items;          ///< elements, for the rate
  double operations;     ///< arithmetic operations
  double read, written;  ///< bytes of operands and results
  double footprint;      ///< bytes that are touched: less than the sum of the two where a result replaces an operand
  std::size_t width;     ///< bytes of an element
  bool is_floating;
  double quotients = 0, roots = 0;  ///< for the divider
  bool divides_doubles = false;     ///< it computes them as float64, else as float32
};
/// The shortest time that the roofs allow for it, in seconds, and what limits it: "fma", "divider" or a level.
struct floor_time {
  double seconds;
  std::string limit;
};
floor_time floor_of(const duty& what, const roofs& at);

}  // namespace kerngrad::kernels
