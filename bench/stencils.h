// SPDX-License-Identifier: Apache-2.0
// Stencils by hand: plain loops over float32, compiled for the machine that they run on. Axes are periodic.
#pragma once
#include <cstdint>

namespace kgbench {

/// The mean of the four neighbours of each cell.
void jacobi_by_hand(const float* u, float* to, std::int64_t rows, std::int64_t columns);

/// One step of the shallow-water equations with central differences; c is the time step over twice the cell size.
struct water {
  const float *h, *u, *v;
};
struct next_water {
  float *h, *u, *v;
};
void shallow_water_by_hand(const water& from, const next_water& to, std::int64_t rows, std::int64_t columns, float c);

}  // namespace kgbench
