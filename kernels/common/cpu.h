// SPDX-License-Identifier: Apache-2.0
// The targets of this CPU. One of cpu_x86.cc and cpu_highway.cc defines the functions: kernels/meson.build chooses it.
#pragma once
#include <cstdint>

namespace kerngrad::kernels {

/// Highway's bits of all targets that the CPU and the system run, compiled or not, whatever is pinned.
std::int64_t targets_of_cpu();

/// Pins Highway's own choice, which kernels of authors take, to these targets; 0 removes the pin. Nothing happens in a
/// program that has no kernels on Highway.
void pin_highway(std::int64_t bits);

}  // namespace kerngrad::kernels
