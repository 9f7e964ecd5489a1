// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings of volumes, and their gradients: one cube of n elements in all its channels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// Eight channels for small volumes, 32 for large ones; an even side.
kg::shape volume_of(std::int64_t n) {
  const std::int64_t channels = n < 16384 ? 8 : 32;
  const std::int64_t side =
      std::max<std::int64_t>(std::llround(std::cbrt(static_cast<double>(n / channels)) / 2) * 2, 4);
  return {1, side, side, side, channels};
}

// 3x3x3, "same", up to 32 channels.
geometries volume_convolution(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = volume_of(n), filter = {3, 3, 3, x[4], x[4]};
  // A row's cost is that of a 3x3x3 filter for one channel of the operand and one of the result.
  return {{"", call_of(row, {x, filter}, {{"pad", "same"}}), static_cast<double>(x.size() * x[4]), {}}};
}

// 2x2x2, stride 2, up to 32 channels.
geometries volume_pooling(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = volume_of(n);
  const double work = static_cast<double>(x.size()) / 8;
  return {{"", call_of(row, {x}, {{"filterSize", 2}, {"strides", 2}, {"pad", "valid"}}), work, {}}};
}

}  // namespace

geometries calls::volume(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.attr_index("filterSize") >= 0 ? volume_pooling(row, type, n) : volume_convolution(row, type, n);
}

}  // namespace kgbench
