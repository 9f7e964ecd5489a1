// SPDX-License-Identifier: Apache-2.0
// Images of other sizes: weights along each axis, which depend on the sizes alone.
module;
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_interpolation;

namespace kerngrad {

using detail::axis_taps;
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

axis_taps cubic_taps(std::int64_t in, std::int64_t out, const bicubic_options& options) {
  const double n = static_cast<double>(in), m = static_cast<double>(out), a = options.a;
  const auto near = [&](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const auto far = [&](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  axis_taps at{out, 4, {}, {}};
  for (std::int64_t i = 0; i < out; ++i) {
    const double place = static_cast<double>(i);
    const double x = options.align_corners ? (out > 1 ? place * (n - 1) / (m - 1) : 0) : (place + 0.5) * n / m - 0.5;
    const double below = std::floor(x), f = x - below;
    for (int k = -1; k <= 2; ++k) at.indices.push_back(static_cast<std::int32_t>(std::clamp(below + k, 0.0, n - 1)));
    at.weights.insert(at.weights.end(), {far(f + 1), near(f), near(1 - f), far(2 - f)});
  }
  return at;
}

// Means of windows; the taps of a narrower window that it lacks have no element.
axis_taps area_taps(std::int64_t in, std::int64_t out) {
  const auto begin = [&](std::int64_t i) { return i * in / out; };
  const auto end = [&](std::int64_t i) { return ((i + 1) * in + out - 1) / out; };
  axis_taps at{out, 0, {}, {}};
  for (std::int64_t i = 0; i < out; ++i) at.taps = std::max(at.taps, end(i) - begin(i));
  for (std::int64_t i = 0; i < out; ++i)
    for (std::int64_t k = begin(i); k < begin(i) + at.taps; ++k) {
      at.indices.push_back(k < end(i) ? static_cast<std::int32_t>(k) : -1);
      at.weights.push_back(1 / static_cast<double>(end(i) - begin(i)));
    }
  return at;
}

tensor along_both(const tensor& images, const axis_taps& rows, const axis_taps& columns) {
  const tensor wide = detail::widened(images);
  return detail::narrowed(detail::interpolated_axis(detail::interpolated_axis(wide, 1, rows), 2, columns),
                          images.type());
}

}  // namespace

tensor resize_bicubic(const tensor& images, extent size, const bicubic_options& options) {
  constexpr composed call{"resize_bicubic"};
  check_resize(call, images, size);
  if (!std::isfinite(options.a)) call.refuse("a " + to_string(attr_value(options.a)), "a finite number");
  return along_both(images, cubic_taps(images.dims()[1], size.height, options),
                    cubic_taps(images.dims()[2], size.width, options));
}

tensor resize_area(const tensor& images, extent size) {
  constexpr composed call{"resize_area"};
  check_resize(call, images, size);
  return along_both(images, area_taps(images.dims()[1], size.height), area_taps(images.dims()[2], size.width));
}

}  // namespace kerngrad
