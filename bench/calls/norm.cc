// SPDX-License-Identifier: Apache-2.0
// Normalizations: of pixels of 64 channels, of rows; n elements in all.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

kg::shape pixels_of(std::int64_t n) {
  const std::int64_t channels = std::min<std::int64_t>(n, 64);
  return {1, 1, n / channels, channels};
}

// Moments by channel, by element.
geometries batch_normalized(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = pixels_of(n);
  const auto call = [&](const kg::shape& moments) { return call_of(row, {x, moments, moments, moments, moments}); };
  const double work = static_cast<double>(x.size());
  return {{"channels", call({x[3]}), work, {}}, {"elements", call(x), work, {}}};
}

// Along the last axis.
geometries layer_normalized(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = matrix(n).dims(), last = {x[1]};
  return {{"", call_of(row, {x, last, last}), static_cast<double>(x.size()), {}}};
}

// With a short exponent and another.
geometries response_normalized(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = pixels_of(n);
  const double work = static_cast<double>(x.size());
  return {{"root", call_of(row, {x}, {{"beta", 0.5}}), work, {}},
          {"power", call_of(row, {x}, {{"beta", 0.6}}), work, {}}};
}

}  // namespace

geometries calls::norm(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  static constexpr maker makers[] = {
      {"variance", batch_normalized}, {"scale", layer_normalized}, {"depthRadius", response_normalized}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
