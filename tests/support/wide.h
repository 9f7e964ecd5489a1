// SPDX-License-Identifier: Apache-2.0
// Cost of the oracles' long double.
#pragma once
#include <limits>

namespace kgtest {

/// True if the machine has no instructions for it, as 64-bit ARM: what an oracle computes in it takes a hundred times
/// as long there, and samples are to be smaller.
inline constexpr bool slow_long_double = std::numeric_limits<long double>::digits > 64;

}  // namespace kgtest
