// SPDX-License-Identifier: Apache-2.0
// Sweeps that are long. Include before any import.
#pragma once
#include <cstdlib>

namespace kgtest {

/// True if whole sweeps are asked for, not samples of them. tests/meson.build gives each program that includes this
/// file a second entry where that is so.
inline bool full() { return std::getenv("KERNGRAD_FULL") != nullptr; }

}  // namespace kgtest
