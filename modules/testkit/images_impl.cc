// SPDX-License-Identifier: Apache-2.0
// Samples of the ops on images: larger and smaller ones, every way to lay pixels, boxes inside, outside and turned
// over, images turned, boxes that overlap.
module;
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

struct resizing {
  shape x;
  integers size;
  attributes attrs;
};

std::vector<sample> resize_samples(const op_row& row, bool long_ones) {
  const attributes corners = {{"alignCorners", true}}, centers = {{"halfPixelCenters", true}};
  std::vector<resizing> cases = {
      {{1, 2, 3, 1}, {4, 5}, {}},       {{2, 3, 2, 2}, {5, 4}, centers}, {{1, 2, 3, 3}, {4, 7}, corners},
      {{1, 5, 7, 4}, {2, 3}, {}},       {{1, 5, 6, 3}, {3, 2}, centers}, {{1, 5, 4, 5}, {3, 3}, corners},
      {{1, 4, 4, 1}, {1, 1}, corners},  {{1, 1, 1, 2}, {3, 2}, centers}, {{1, 3, 4, 2}, {3, 4}, {}},
      {{1, 2, 19, 3}, {3, 4}, centers}, {{0, 2, 2, 2}, {3, 3}, {}},      {{1, 2, 2, 0}, {3, 3}, {}}};
  if (long_ones) cases.insert(cases.end(), {{{2, 5, 7, 37}, {9, 4}, centers}, {{1, 9, 40, 3}, {7, 35}, corners}});
  std::vector<sample> all;
  for (resizing& c : cases) {
    c.attrs.push_back({"size", c.size});
    all.push_back(make_sample(row, {c.x}, c.attrs));
  }
  return all;
}

struct cropping {
  shape x;
  integers size;
  std::vector<double> boxes;
  std::vector<std::int32_t> images;
  attributes attrs;
};

// No sample lies near a pixel or an edge, where the derivative jumps.
std::vector<cropping> croppings(bool long_ones) {
  const std::vector<double> inside = {0.1, 0.2, 0.8, 0.9}, beyond = {-0.35, 0.15, 0.6, 1.3};
  std::vector<double> both = inside;
  for (double corner : {0.9, 0.8, 0.2, 0.1}) both.push_back(corner);  // turned over
  std::vector<cropping> all = {{{1, 4, 5, 1}, {3, 2}, inside, {0}, {}},
                               {{2, 4, 5, 3}, {3, 2}, both, {1, 0}, {}},
                               {{2, 4, 5, 2}, {3, 4}, beyond, {1}, {}},
                               {{1, 4, 5, 2}, {1, 1}, {0.1, 0.2, 0.7, 0.5}, {0}, {}},
                               {{1, 4, 5, 2}, {3, 2}, both, {0, 0}, {{"method", "nearest"}}},
                               {{1, 1, 5, 2}, {2, 2}, {0, 0.2, 0, 0.9}, {0}, {{"method", "nearest"}}},
                               {{2, 4, 5, 2}, {3, 2}, both, {0, 1}, {{"slopes", "height"}}},
                               {{2, 4, 5, 2}, {3, 4}, beyond, {1}, {{"slopes", "width"}}},
                               {{1, 4, 5, 2}, {3, 2}, inside, {0}, {{"slopes", "both"}}},
                               {{2, 4, 5, 2}, {3, 2}, {}, {}, {}}};
  if (long_ones) all.push_back({{2, 4, 5, 37}, {3, 2}, both, {1, 1}, {}});
  return all;
}

std::vector<sample> crop_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  for (cropping& c : croppings(long_ones)) {
    const auto count = static_cast<std::int64_t>(c.images.size());
    c.attrs.push_back({"cropSize", c.size});
    if (all.size() % 2 == 0) c.attrs.push_back({"extrapolationValue", -1.5});
    sample one = make_sample(row, {c.x, {count, 4}, {count}}, c.attrs);
    one.operands[1].values = tensor(c.boxes, {count, 4});
    one.operands[2].values = tensor(c.images, {count});
    all.push_back(std::move(one));
  }
  return all;
}

struct warping {
  shape x;
  integers size;
  std::vector<double> maps;  // no sample lies near a pixel or in the middle of two
  attributes attrs;
};

std::vector<warping> warpings(bool long_ones) {
  const std::vector<double> mild = {0.98, 0.15, 2.25, -0.01, 0.52, 1.3, 0, 0.04};
  const std::vector<double> turned = {-1.53, -0.01, 0.72, 0.02, 0.54, 0.76, 0.01, 0.02};
  const std::vector<double> left_below = {-0.08, 0.06, -3.72, -0.33, 0.89, 4.23, 0.03, -0.02};
  const std::vector<double> above = {-1, 0, 2.29, -0.22, -1.2, -5.27, 0.04, 0.03};
  std::vector<double> both = mild;
  both.insert(both.end(), turned.begin(), turned.end());
  const auto linear = [](attributes more) {
    more.push_back({"interpolation", "bilinear"});
    return more;
  };
  const attributes reflect = linear({{"fillMode", "reflect"}}), wrap = linear({{"fillMode", "wrap"}});
  std::vector<warping> all = {{{1, 3, 5, 1}, {2, 3}, mild, linear({})},
                              {{2, 3, 5, 3}, {2, 3}, both, linear({{"fillValue", 1.5}})},
                              {{2, 3, 4, 2}, {2, 3}, turned, reflect},
                              {{1, 3, 4, 2}, {3, 2}, left_below, reflect},
                              {{1, 3, 4, 1}, {2, 2}, above, reflect},
                              {{1, 3, 4, 2}, {2, 3}, turned, wrap},
                              {{1, 3, 3, 1}, {3, 2}, left_below, wrap},
                              {{1, 4, 3, 1}, {2, 2}, above, wrap},
                              {{1, 3, 4, 2}, {3, 2}, left_below, linear({{"fillMode", "nearest"}})},
                              {{1, 3, 5, 2}, {2, 3}, mild, linear({{"slopes", "height"}, {"fillValue", 1.5}})},
                              {{1, 3, 4, 2}, {2, 3}, turned, linear({{"slopes", "width"}, {"fillMode", "reflect"}})},
                              {{1, 3, 5, 1}, {2, 3}, mild, linear({{"slopes", "both"}})},
                              {{1, 3, 5, 2}, {2, 3}, mild, {}},
                              {{2, 3, 4, 1}, {3, 2}, left_below, {{"fillMode", "wrap"}}},
                              {{1, 1, 1, 2}, {2, 2}, above, reflect},
                              {{0, 3, 4, 2}, {2, 2}, mild, {}}};
  if (long_ones) all.push_back({{1, 3, 5, 37}, {2, 3}, mild, linear({})});
  return all;
}

std::vector<sample> transform_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  for (warping& w : warpings(long_ones)) {
    w.attrs.push_back({"outputShape", w.size});
    const auto maps = static_cast<std::int64_t>(w.maps.size() / 8);
    sample one = make_sample(row, {w.x, {maps, 8}}, w.attrs);
    one.operands[1].values = tensor(w.maps, {maps, 8});
    all.push_back(std::move(one));
  }
  return all;
}

// No pixel of a result lies near the middle of two of the image. The numbers to fill with are ones of every dtype.
std::vector<sample> rotation_samples(const op_row& row, bool long_ones) {
  struct turning {
    shape x;
    double radians;
    std::vector<double> fill, center;
  };
  std::vector<turning> cases = {{{1, 3, 4, 1}, 0.7, {}, {}},
                                {{2, 4, 3, 3}, -1.3, {1.5}, {0.3}},
                                {{1, 5, 4, 4}, 2.1, {1, 2, 3}, {}},
                                {{1, 4, 4, 2}, 3.3, {1, 2}, {0.2, 0.9}},
                                {{1, 3, 3, 5}, 9.1, {0.5}, {1.3, 0.1}},
                                {{0, 3, 4, 2}, 0.4, {}, {}}};
  if (long_ones) cases.push_back({{2, 5, 41, 37}, 0.6, {1}, {0.4, 0.6}});
  std::vector<sample> all;
  for (const turning& t : cases) {
    attributes attrs = {{"radians", t.radians}};
    if (!t.fill.empty()) attrs.push_back({"fillValue", t.fill});
    if (!t.center.empty()) attrs.push_back({"center", t.center});
    all.push_back(make_sample(row, {t.x}, attrs));
  }
  return all;
}

// Boxes in a row, each of which overlaps those next to it, in an order that is not that of their scores.
std::vector<sample> suppression_samples(const op_row& row, bool long_ones) {
  struct choice {
    std::int64_t boxes, most;
    attributes attrs;
  };
  std::vector<choice> cases = {{7, 3, {}},
                               {7, 7, {{"iouThreshold", 0.3}, {"scoreThreshold", 0.3}}},
                               {7, 9, {{"iouThreshold", 1.0}, {"scoreThreshold", 0.05}}},
                               {5, 5, {{"iouThreshold", 0.0}}},
                               {4, 0, {}},
                               {0, 2, {}}};
  if (long_ones) cases.push_back({67, 60, {{"iouThreshold", 0.7}}});
  std::vector<sample> all;
  for (choice& c : cases) {
    std::vector<double> corners, scores;
    for (std::int64_t i = 0; i < c.boxes; ++i) {
      const double at = 0.375 * static_cast<double>(i), turned = i % 3 == 1 ? 1 : 0;
      corners.insert(corners.end(), {turned, at + 1, 1 - turned, at});
      scores.push_back(static_cast<double>(1 + i * 5 % 11) / 12);
    }
    for (const bool other : {false, true}) {
      attributes attrs = c.attrs;
      attrs.push_back({"maxOutputSize", c.most});
      if (row.attr_index("padToMaxOutputSize") >= 0) attrs.push_back({"padToMaxOutputSize", other});
      else if (row.attr_index("softNmsSigma") >= 0) attrs.push_back({"softNmsSigma", other ? 0.5 : 0.0});
      else if (other) continue;
      sample one = make_sample(row, {{c.boxes, 4}, {c.boxes}}, attrs);
      one.operands[0].values = tensor(corners, {c.boxes, 4});
      one.operands[1].values = tensor(scores, {c.boxes});
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace

std::vector<sample> image_samples(const op_row& row, bool long_ones) {
  if (row.attr_index("radians") >= 0) return rotation_samples(row, long_ones);
  if (row.operand_index("scores") >= 0) return suppression_samples(row, long_ones);
  if (row.attr_index("size") >= 0) return resize_samples(row, long_ones);
  if (row.operand_index("boxes") >= 0) return crop_samples(row, long_ones);
  if (row.operand_index("transforms") >= 0) return transform_samples(row, long_ones);
  std::vector<sample> all;
  for (const shape& dims : shapes{{1, 2, 3, 1}, {2, 3, 4, 3}, {2, 1, 5, 4}, {0, 2, 2, 1}, {1, 2, 0, 2}})
    all.push_back(make_sample(row, {dims}));
  if (long_ones) all.push_back(make_sample(row, {{2, 3, 67, 3}}));
  return all;
}

}  // namespace kerngrad::testkit::detail
