// SPDX-License-Identifier: Apache-2.0
// Resized, moved and turned images and crops, and their gradients: square images, results of about n elements. Boxes
// that are taken by their scores.
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

// The side of a square image of n elements, even.
std::int64_t side_of(std::int64_t n, std::int64_t channels) {
  return std::max<std::int64_t>(2, std::llround(std::sqrt(static_cast<double>(n / channels)) / 2) * 2);
}

// To twice the size, 3 and 64 channels.
geometries resized(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t channels : {3, 64}) {
    const std::int64_t side = side_of(n, channels);
    all.push_back({"channels:" + std::to_string(channels),
                   call_of(row, {{1, side / 2, side / 2, channels}}, {{"size", side}, {"halfPixelCenters", true}}),
                   static_cast<double>(side * side * channels),
                   {}});
  }
  return all;
}

// Four boxes at the image's size, 3 channels.
geometries cropped(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = side_of(n / 4, 3);
  kg::testkit::sample call = call_of(row, {{1, side, side, 3}, {4, 4}, {4}}, {{"cropSize", side}});
  call.operands[1].values =
      kg::tensor({0.1f, 0.1f, 0.6f, 0.6f, 0.f, 0.f, 1.f, 1.f, 0.3f, 0.2f, 0.9f, 0.8f, 0.5f, 0.9f, 0.1f, 0.2f}, {4, 4});
  call.operands[2].values = kg::tensor({0, 0, 0, 0}, {4});
  return {{"", call, static_cast<double>(4 * side * side * 3), {}}};
}

// Turned a little, 3 channels.
geometries transformed(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = side_of(n, 3);
  const kg::shape x = {1, side, side, 3};
  kg::testkit::sample call = call_of(row, {x, {1, 8}}, {{"interpolation", "bilinear"}});
  call.operands[1].values = kg::tensor({0.9f, -0.2f, 1.5f, 0.2f, 0.9f, -1.5f, 0.f, 0.f}, {1, 8});
  return {{"", call, static_cast<double>(x.size()), {}}};
}

// By half a radian, 3 channels.
geometries turned(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = side_of(n, 3);
  const kg::shape x = {1, side, side, 3};
  return {{"", call_of(row, {x}, {{"radians", 0.5}}), static_cast<double>(x.size()), {}}};
}

// At most 1000, some overlap.
geometries scattered_boxes(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t count = std::clamp<std::int64_t>(n, 1, 1000);
  std::vector<float> corners, scores;
  std::uint32_t draw = 1;
  const auto next = [&] { return static_cast<float>((draw = draw * 1664525u + 1013904223u) >> 8) / 16777216.f; };
  for (std::int64_t i = 0; i < count; ++i) {
    const float y = next(), x = next();
    corners.insert(corners.end(), {y, x, y + 0.02f + 0.1f * next(), x + 0.02f + 0.1f * next()});
    scores.push_back(next());
  }
  kg::testkit::sample call = call_of(row, {{count, 4}, {count}}, {{"maxOutputSize", count}});
  call.operands[0].values = kg::tensor(corners, {count, 4});
  call.operands[1].values = kg::tensor(scores, {count});
  // A box is compared with about half of those that are taken, most of them.
  return {{"", call, static_cast<double>(count) * static_cast<double>(count) / 2, {}}};
}

geometries flipped(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const matrix m(n);
  return {{"", call_of(row, {{1, m.rows, m.columns, 1}}), 0, {}}};
}

}  // namespace

geometries calls::image(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  static constexpr maker makers[] = {{"size", resized},   {"boxInd", cropped},         {"transforms", transformed},
                                     {"radians", turned}, {"scores", scattered_boxes}, {"image", flipped}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
