// SPDX-License-Identifier: Apache-2.0
#include "bench/stencils.h"

namespace kgbench {

namespace {

// cell(row above, row, row below, column before, column, column after): the inner columns in one loop without
// conditions, which the compiler vectorises.
template <class Cell>
inline void for_each_cell(std::int64_t rows, std::int64_t columns, const Cell& cell) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = i * columns, above = (i == 0 ? rows - 1 : i - 1) * columns,
                       below = (i == rows - 1 ? 0 : i + 1) * columns;
    cell(above, row, below, columns - 1, std::int64_t{0}, std::int64_t{1});
    for (std::int64_t j = 1; j < columns - 1; ++j) cell(above, row, below, j - 1, j, j + 1);
    cell(above, row, below, columns - 2, columns - 1, std::int64_t{0});
  }
}

}  // namespace

void jacobi_by_hand(const float* __restrict u, float* __restrict to, std::int64_t rows, std::int64_t columns) {
  for_each_cell(rows, columns,
                [=](std::int64_t above, std::int64_t row, std::int64_t below, std::int64_t a, std::int64_t j,
                    std::int64_t b) { to[row + j] = (u[above + j] + u[below + j] + u[row + a] + u[row + b]) * 0.25f; });
}

void shallow_water_by_hand(const water& from, const next_water& to, std::int64_t rows, std::int64_t columns, float c) {
  const float* __restrict h = from.h;
  const float* __restrict u = from.u;
  const float* __restrict v = from.v;
  float* __restrict h2 = to.h;
  float* __restrict u2 = to.u;
  float* __restrict v2 = to.v;
  for_each_cell(
      rows, columns,
      [=](std::int64_t above, std::int64_t row, std::int64_t below, std::int64_t a, std::int64_t j, std::int64_t b) {
        const std::int64_t at = row + j, w = row + a, e = row + b, n = above + j, s = below + j;
        h2[at] = h[at] - c * (h[e] * u[e] - h[w] * u[w] + h[s] * v[s] - h[n] * v[n]);
        u2[at] = u[at] - c * (u[at] * (u[e] - u[w]) + v[at] * (u[s] - u[n]) + 9.81f * (h[e] - h[w]));
        v2[at] = v[at] - c * (u[at] * (v[e] - v[w]) + v[at] * (v[s] - v[n]) + 9.81f * (h[s] - h[n]));
      });
}

}  // namespace kgbench
