// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows: of a power of two, of mixed radices, and of a prime number of points.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {

geometries calls::fft(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  geometries all;
  for (const std::int64_t points : {1024, 1000, 1021}) {
    const std::int64_t length = std::min(points, n), rows = std::max<std::int64_t>(1, n / length);
    const bool of_reals = row.attr_index("fftLength") >= 0, of_bins = of_reals && type == kg::dtype::complex64;
    std::vector<kg::named_attribute> attrs;
    if (of_reals) attrs.push_back({"fftLength", length});
    // The row states what a butterfly of two points costs.
    const double levels = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(length)) - 1);
    const double work = static_cast<double>(rows * length) * levels / (of_reals ? 2 : 1);
    all.push_back({"points:" + std::to_string(points),
                   call_of(row, {{rows, of_bins ? length / 2 + 1 : length}}, attrs),
                   work,
                   {}});
  }
  return all;
}

}  // namespace kgbench
