// SPDX-License-Identifier: Apache-2.0
// Sweeps that are long. Include before any import.
#pragma once
#include <cstdlib>
#include <limits>

namespace kgtest {

/// Whether whole sweeps are asked for, not samples of them. tests/meson.build gives each program that includes this
/// file a second entry where that is so.
inline bool full() { return std::getenv("KERNGRAD_FULL") != nullptr; }

/// Whether the machine has no long double of its own, as 64-bit ARM: what an oracle sums in it takes a hundred times as
/// long there, and samples are to be smaller.
inline constexpr bool slow_long_double = std::numeric_limits<long double>::digits > 64;

}  // namespace kgtest
