// SPDX-License-Identifier: Apache-2.0
// Convolutions, as layers with bias and relu too, poolings and dilations, and their gradients: one square image of n
// elements in all its channels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// Sixteen channels for small images, 64 for large ones; an even side.
kg::shape image_of(std::int64_t n) {
  const std::int64_t channels = n < 16384 ? 16 : 64;
  const std::int64_t side = std::llround(std::sqrt(static_cast<double>(n / channels)) / 2) * 2;
  return {1, std::max<std::int64_t>(side, 4), std::max<std::int64_t>(side, 4), channels};
}

geometries dilation(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = image_of(n);
  return {{"", call_of(row, {x, {3, 3, x[3]}}, {{"pad", "same"}}), static_cast<double>(x.size()), {}}};
}

// 3x3, "same", up to 64 channels.
geometries convolution(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = image_of(n), filter = {3, 3, x[3], row.depthwise ? 1 : x[3]};
  std::vector<kg::named_attribute> attrs = {{"pad", "same"}};
  std::vector<kg::shape> dims = {x, filter};
  if (row.attr_index("activation") >= 0) {
    attrs.push_back({"activation", "relu"});
    dims.push_back({x[3]});  // the bias
  }
  // A row's cost is that of a 3x3 filter for one channel of the operand and one of the result.
  const double work = static_cast<double>(x.size() * (row.depthwise ? 1 : x[3]));
  return {{"", call_of(row, dims, attrs), work, {}}};
}

// 2x2, stride 2, up to 64 channels.
geometries pooling(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = image_of(n);
  const double work = static_cast<double>(x.size()) / 4;
  return {{"", call_of(row, {x}, {{"filterSize", 2}, {"strides", 2}, {"pad", "valid"}}), work, {}}};
}

}  // namespace

geometries calls::window(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  if (row.attr_index("filterSize") >= 0) return pooling(row, type, n);
  return row.kinks == kg::kink::ties ? dilation(row, type, n) : convolution(row, type, n);
}

}  // namespace kgbench
