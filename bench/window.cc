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
#include "bench/geometry.h"

namespace kgbench {
namespace {

// Sixteen channels for small images, 64 for large ones; an even side.
kg::shape image_of(std::int64_t n) {
  const std::int64_t channels = n < 16384 ? 16 : 64;
  const std::int64_t side = std::llround(std::sqrt(static_cast<double>(n / channels)) / 2) * 2;
  return {1, std::max<std::int64_t>(side, 4), std::max<std::int64_t>(side, 4), channels};
}

// A dilation. Its `source`, if there is one, is as large as the image or the filter.
geometries dilation(const kg::op_row& row, std::int64_t n, bool of_filter) {
  const kg::shape x = image_of(n), filter = {3, 3, x[3]};
  std::vector<kg::shape> dims;
  for (const kg::operand& o : row.operands)
    dims.push_back(o.name == "filter" || (of_filter && o.name == "source") ? filter : x);  // dy is as large as x
  return {{"", call_of(row, dims, {{"pad", "same"}}), static_cast<double>(x.size()), {}}};
}

}  // namespace

geometries convolution(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const bool depthwise = row.depthwise;
  const kg::shape x = image_of(n);
  const kg::shape filter = {3, 3, x[3], depthwise ? 1 : x[3]};
  std::vector<kg::named_attribute> attrs = {{"pad", "same"}};
  if (row.attr_index("inputShape") >= 0) attrs.push_back({"inputShape", x});
  if (row.attr_index("filterShape") >= 0) attrs.push_back({"filterShape", filter});
  if (row.attr_index("activation") >= 0) attrs.push_back({"activation", "relu"});
  std::vector<kg::shape> dims;
  for (const kg::operand& o : row.operands) {
    if (o.name == "preluActivationWeights") break;
    dims.push_back(o.name == "filter" ? filter : o.name == "bias" ? kg::shape{x[3]} : x);  // dy is as large as x
  }
  // A row's cost is that of a 3x3 filter for one channel of the operand and one of the result.
  const double work = static_cast<double>(x.size() * (depthwise ? 1 : x[3]));
  return {{"", call_of(row, dims, attrs), work, {}}};
}

geometries pooling(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = image_of(n), y = {1, x[1] / 2, x[2] / 2, x[3]};
  std::vector<kg::shape> dims;
  for (const kg::operand& o : row.operands) dims.push_back(o.name == "dy" || o.name == "output" ? y : x);
  // As kernels/window/pool.h says: the gradient of the maximum finds it again in the image, that of the mean needs
  // neither.
  std::vector<std::string> unread;
  if (row.operand_index("output") >= 0) unread = {"output"};
  else if (row.operand_index("dy") >= 0) unread = {"input"};
  const kg::testkit::sample call = call_of(row, dims, {{"filterSize", 2}, {"strides", 2}, {"pad", "valid"}});
  return {{"", call, static_cast<double>(y.size()), unread}};
}

geometries dilated(const kg::op_row& row, kg::dtype, std::int64_t n) { return dilation(row, n, false); }
geometries dilated_of_filters(const kg::op_row& row, kg::dtype, std::int64_t n) { return dilation(row, n, true); }

}  // namespace kgbench
