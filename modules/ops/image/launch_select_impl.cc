// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops on images that choose: rotations, which take whole pixels, and boxes that are taken by their
// scores.
module;
#include <cmath>
#include <cstring>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/image/rotate.h"
#include "kernels/image/suppress.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;

namespace {

void run_rotation(const launch_call& c, attr_place radians, attr_place center, const void* fill) {
  const shape& x = c.in[0].dims;
  const double angle = c.call.attr(radians).as_number();
  const std::array<double, 2> at = shapes::rotation_center(c.call, center);
  run_kernel_of(c, kernels::rotate_geometry{.batch = x[0],
                                            .height = x[1],
                                            .width = x[2],
                                            .channels = x[3],
                                            .sine = std::sin(angle),
                                            .cosine = std::cos(angle),
                                            .center_x = static_cast<double>(x[2]) * at[0],
                                            .center_y = static_cast<double>(x[1]) * at[1],
                                            .fill = fill});
}

// How many boxes were taken; the scores that they were taken with go to `scores` unless that is null.
std::int64_t run_suppression(const launch_call& c, double sigma, void* scores) {
  const auto number = [&](attr_place at) { return c.call.attr(at).as_number(); };
  std::int64_t selected = 0;
  const kernels::suppress_geometry g{.boxes = c.in[1].dims[0],
                                     .most = c.call.attr(place_in(attributes::suppress, "maxOutputSize")).as_integer(),
                                     .capacity = c.out[0].dims[0],
                                     .iou_threshold = number(place_in(attributes::suppress, "iouThreshold")),
                                     .score_threshold = number(place_in(attributes::suppress, "scoreThreshold")),
                                     .sigma = sigma,
                                     .selected = &selected};
  const void* in[] = {c.in[0].data, c.in[1].data};
  void* out[] = {c.out[0].data, scores};
  c.kernel.run(in, out, &g);
  return selected;
}

}  // namespace

void rotate(const launch_call& c) {
  const std::int64_t channels = c.in[0].dims[3], size = static_cast<std::int64_t>(size_of(c.out[0].type));
  kernels::scratch<std::byte> pixel(kernels::product_of(channels, size));
  for (std::int64_t i = 0; i < channels; ++i) {
    const element_of value(shapes::rotation_fill(c.call, i), c.out[0].type);
    std::memcpy(pixel.data() + i * size, value.bytes, static_cast<std::size_t>(size));
  }
  run_rotation(c, place_in(attributes::rotate, "radians"), place_in(attributes::rotate, "center"), pixel.data());
}
void rotate_grad(const launch_call& c) {
  run_rotation(c, place_in(attributes::rotate_grad, "radians"), place_in(attributes::rotate_grad, "center"), nullptr);
}

void suppress(const launch_call& c) { made(c, 0, {run_suppression(c, 0, nullptr)}); }
void suppress_padded(const launch_call& c) {
  const std::int64_t selected = run_suppression(c, 0, nullptr);
  *static_cast<std::int32_t*>(c.out[1].data) = static_cast<std::int32_t>(selected);
  if (!c.call.attr(place_in(attributes::suppress_padded, "padToMaxOutputSize")).as_bool()) made(c, 0, {selected});
}
void suppress_scored(const launch_call& c) {
  const double sigma = c.call.attr(place_in(attributes::suppress_scored, "softNmsSigma")).as_number();
  const std::int64_t selected = run_suppression(c, sigma, c.out[1].data);
  made(c, 0, {selected});
  made(c, 1, {selected});
}

}  // namespace kerngrad::launch
