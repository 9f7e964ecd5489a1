// SPDX-License-Identifier: Apache-2.0
// Samples of the Fourier transforms: every radix and several together, primes, every norm, rows that are cut and
// padded.
module;
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {

std::vector<sample> fft_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  shapes dims = {{8}, {2, 3}, {1, 2, 5}, {1}, {3, 4}, {2, 7}, {12}, {0, 4}, {2, 2}};
  const bool of_reals = row.attr_index("fftLength") >= 0;
  if (!of_reals) dims.push_back({2, 0});
  if (long_ones) dims.insert(dims.end(), {{3, 67}, {2, 256}, {1, 1000}, {5, 90}, {2, 4096}});
  for (const shape& d : dims) all.push_back(make_sample(row, {d}));
  for (const char* norm : {"ortho", "forward"}) all.push_back(make_sample(row, {{2, 6}}, {{"norm", norm}}));
  if (!of_reals) return all;
  for (const std::int64_t length : {1, 2, 5, 8, 14})
    all.push_back(make_sample(row, {{2, 6}}, {{"fftLength", length}, {"norm", length == 5 ? "ortho" : "backward"}}));
  all.push_back(make_sample(row, {{2, 0}}, {{"fftLength", 4}}));
  return all;
}

}  // namespace kerngrad::testkit::detail
