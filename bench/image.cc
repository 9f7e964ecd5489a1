// SPDX-License-Identifier: Apache-2.0
// Resized images and crops, and their gradients: square images, results of about n elements.
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

// The side of a square image of n elements, even.
std::int64_t side_of(std::int64_t n, std::int64_t channels) {
  return std::max<std::int64_t>(2, std::llround(std::sqrt(static_cast<double>(n / channels)) / 2) * 2);
}

}  // namespace

geometries resized(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t channels : {3, 64}) {
    const std::int64_t side = side_of(n, channels);
    const kg::shape y = {1, side, side, channels}, x = {1, side / 2, side / 2, channels};
    std::vector<kg::shape> dims = {x};
    std::vector<std::string> unread;
    if (row.operand_index("dy") >= 0) {
      dims.insert(dims.begin(), y);
      unread = {"images"};
    }
    all.push_back({"channels:" + std::to_string(channels),
                   call_of(row, dims, {{"size", side}, {"halfPixelCenters", true}}), static_cast<double>(y.size()),
                   unread});
  }
  return all;
}

geometries cropped(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = side_of(n / 4, 3);
  const kg::shape x = {1, side, side, 3}, y = {4, side, side, 3};
  const bool back = row.operand_index("dy") >= 0;
  std::vector<kg::named_attribute> attrs = {{"cropSize", side}};
  if (back) attrs = {{"inputShape", x}};
  kg::testkit::sample call = call_of(row, {back ? y : x, {4, 4}, {4}}, attrs);
  call.operands[1].values =
      kg::tensor({0.1f, 0.1f, 0.6f, 0.6f, 0.f, 0.f, 1.f, 1.f, 0.3f, 0.2f, 0.9f, 0.8f, 0.5f, 0.9f, 0.1f, 0.2f}, {4, 4});
  call.operands[2].values = kg::tensor({0, 0, 0, 0}, {4});
  return {{"", call, static_cast<double>(y.size()), {}}};
}

geometries transformed(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = side_of(n, 3);
  const kg::shape x = {1, side, side, 3};
  std::vector<kg::named_attribute> attrs = {{"interpolation", "bilinear"}};
  if (row.operand_index("dy") >= 0) attrs.push_back({"inputShape", x});
  kg::testkit::sample call = call_of(row, {x, {1, 8}}, attrs);
  call.operands[1].values = kg::tensor({0.9f, -0.2f, 1.5f, 0.2f, 0.9f, -1.5f, 0.f, 0.f}, {1, 8});
  return {{"", call, static_cast<double>(x.size()), {}}};
}

}  // namespace kgbench
