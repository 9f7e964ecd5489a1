// SPDX-License-Identifier: Apache-2.0
// Images of other sizes: weights along each axis, which depend on the sizes alone.
module;
#include <algorithm>
#include <cmath>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_interpolation;

namespace kerngrad {

using detail::axis_tap;
using detail::composed;
using detail::shaped;

namespace {

void check_resize(const composed& call, const tensor& images, extent size) {
  call.rank("images", images, 4, 4);
  call.floating("images", images);
  constexpr std::int64_t most = 1 << 28;
  if (size.height < 1 || size.width < 1 || size.height > most || size.width > most)
    call.refuse("size " + to_string(size.value()), "1 to 2^28 pixels each");
  const shape& dims = images.dims();
  if (dims[1] == 0 || dims[2] == 0 || dims[1] > most || dims[2] > most)
    call.refuse(shaped("images", images), "images with 1 to 2^28 pixels in each direction");
}

tensor cubic_along(const tensor& x, int axis, std::int64_t out, const bicubic_options& options) {
  const double n = static_cast<double>(x.dims()[axis]), m = static_cast<double>(out), a = options.a;
  const auto near = [&](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const auto far = [&](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  return detail::interpolated_axis(x, axis, out, 4, [&](std::int64_t i, std::int64_t k) -> axis_tap {
    const double point = static_cast<double>(i);
    const double at = options.align_corners ? (out > 1 ? point * (n - 1) / (m - 1) : 0) : (point + 0.5) * n / m - 0.5;
    const double below = std::floor(at), from_below = at - below;
    const double distance = std::fabs(static_cast<double>(k - 1) - from_below);
    const double index = std::clamp(below + static_cast<double>(k - 1), 0.0, n - 1);
    return {static_cast<std::int64_t>(index), k == 1 || k == 2 ? near(distance) : far(distance)};
  });
}

// Means of windows; the taps of a narrower window that it lacks have no element.
tensor area_along(const tensor& x, int axis, std::int64_t out) {
  const std::int64_t in = x.dims()[axis];
  const auto begin = [&](std::int64_t i) { return i * in / out; };
  const auto end = [&](std::int64_t i) { return ((i + 1) * in + out - 1) / out; };
  std::int64_t taps = 0;
  for (std::int64_t i = 0; i < out; ++i) taps = std::max(taps, end(i) - begin(i));
  return detail::interpolated_axis(x, axis, out, taps, [&](std::int64_t i, std::int64_t k) -> axis_tap {
    const std::int64_t size = end(i) - begin(i);
    return {k < size ? begin(i) + k : -1, 1 / static_cast<double>(size)};
  });
}

// Rows and columns of images, each by `along`.
template <class Along>
tensor along_both(const tensor& images, extent size, const Along& along) {
  return detail::narrowed(along(along(detail::widened(images), 1, size.height), 2, size.width), images.type());
}

}  // namespace

tensor resize_bicubic(const tensor& images, extent size, const bicubic_options& options) {
  constexpr composed call{"resize_bicubic"};
  check_resize(call, images, size);
  if (!std::isfinite(options.a)) call.refuse("a " + to_string(attr_value(options.a)), "a finite number");
  return along_both(images, size,
                    [&](const tensor& x, int axis, std::int64_t out) { return cubic_along(x, axis, out, options); });
}

tensor resize_area(const tensor& images, extent size) {
  constexpr composed call{"resize_area"};
  check_resize(call, images, size);
  return along_both(images, size, area_along);
}

}  // namespace kerngrad
