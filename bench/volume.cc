// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings of volumes, and their gradients: one cube of n elements in all its channels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/geometry.h"

namespace kgbench {
namespace {

// Eight channels for small volumes, 32 for large ones; an even side.
kg::shape volume_of(std::int64_t n) {
  const std::int64_t channels = n < 16384 ? 8 : 32;
  const std::int64_t side =
      std::max<std::int64_t>(std::llround(std::cbrt(static_cast<double>(n / channels)) / 2) * 2, 4);
  return {1, side, side, side, channels};
}

}  // namespace

geometries volume_convolution(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = volume_of(n), filter = {3, 3, 3, x[4], x[4]};
  std::vector<kg::named_attribute> attrs = {{"pad", "same"}};
  if (row.attr_index("inputShape") >= 0) attrs.push_back({"inputShape", x});
  if (row.attr_index("filterShape") >= 0) attrs.push_back({"filterShape", filter});
  std::vector<kg::shape> dims;
  for (const kg::operand& o : row.operands) dims.push_back(o.name == "filter" ? filter : x);  // dy is as large as x
  // A row's cost is that of a 3x3x3 filter for one channel of the operand and one of the result.
  return {{"", call_of(row, dims, attrs), static_cast<double>(x.size() * x[4]), {}}};
}

geometries volume_pooling(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = volume_of(n), y = {1, x[1] / 2, x[2] / 2, x[3] / 2, x[4]};
  std::vector<kg::shape> dims;
  for (const kg::operand& o : row.operands) dims.push_back(o.name == "dy" || o.name == "output" ? y : x);
  // As for images: the gradient of the maximum finds it again in the volume, that of the mean needs neither.
  std::vector<std::string> unread;
  if (row.operand_index("output") >= 0) unread = {"output"};
  else if (row.operand_index("dy") >= 0) unread = {"input"};
  const kg::testkit::sample call = call_of(row, dims, {{"filterSize", 2}, {"strides", 2}, {"pad", "valid"}});
  return {{"", call, static_cast<double>(y.size()), unread}};
}

}  // namespace kgbench
