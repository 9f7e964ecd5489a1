// SPDX-License-Identifier: Apache-2.0
#include "kernels/image/crop.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// Weights of two pixels along one side in a sample; nothing outside of the image.
template <class W>
struct weights {
  std::int64_t low = 0, high = 0;
  W of_low = 0, of_high = 0;
};
template <class W>
weights<W> weights_of(const crop_geometry& g, double position, std::int64_t pixels, bool slope) {
  if (!(position >= 0 && position <= static_cast<double>(pixels - 1))) return {};
  if (g.nearest) {
    const auto pixel = static_cast<std::int64_t>(std::floor(position + 0.5));
    return {pixel, pixel, W(slope ? 0 : 1), 0};
  }
  const std::int64_t low = std::min(static_cast<std::int64_t>(position), std::max<std::int64_t>(pixels - 2, 0));
  const std::int64_t high = std::min(low + 1, pixels - 1);
  if (slope) return {low, high, W(high > low ? -1 : 0), W(high > low ? 1 : 0)};
  const W share = W(position) - W(low);
  return {low, high, 1 - share, share};
}

/// Calls body(index of an element of y, index of an element of x, weight) for each element of x that one of y takes.
template <class W, class Body>
void for_each_share(const crop_geometry& g, Body body) {
  std::int64_t index = 0;
  for (std::int64_t k = 0; k < g.crops; ++k)
    for (std::int64_t i = 0; i < g.out_h; ++i)
      for (std::int64_t j = 0; j < g.out_w; ++j)
        for (std::int64_t c = 0; c < g.channels; ++c, ++index) {
          const double* box = g.boxes + 4 * k;
          const auto down = weights_of<W>(g, crop_position(box[0], box[2], g.in_h, g.out_h, i), g.in_h, g.slope_down);
          const auto across =
              weights_of<W>(g, crop_position(box[1], box[3], g.in_w, g.out_w, j), g.in_w, g.slope_across);
          const auto take = [&](std::int64_t row, std::int64_t column, W weight) {
            if (weight != 0) body(index, ((g.images[k] * g.in_h + row) * g.in_w + column) * g.channels + c, weight);
          };
          take(down.low, across.low, down.of_low * across.of_low);
          take(down.low, across.high, down.of_low * across.of_high);
          take(down.high, across.low, down.of_high * across.of_low);
          take(down.high, across.high, down.of_high * across.of_high);
        }
}

template <dtype Type, class T = storage_t<Type>>
void CropAndResize(const crop_geometry& g, const T* x, T* y) {
  using W = wide_t<T>;
  const bool slope = g.slope_down || g.slope_across;
  std::fill_n(y, g.crops * g.out_h * g.out_w * g.channels, slope ? T{0} : static_cast<T>(g.outside));
  std::int64_t started = -1;
  W sum = 0;
  for_each_share<W>(g, [&](std::int64_t index, std::int64_t from, W weight) {
    sum = (index == started ? sum : 0) + weight * W(x[from]);
    started = index;
    y[index] = static_cast<T>(sum);
  });
}

template <dtype Type, class T = storage_t<Type>>
void CropAndResizeGrad(const crop_geometry& g, const T* dy, T* dx) {
  using W = wide_t<T>;
  std::fill_n(dx, g.batch * g.in_h * g.in_w * g.channels, T{0});
  for_each_share<W>(g, [&](std::int64_t index, std::int64_t to, W weight) {
    dx[to] = static_cast<T>(W(dx[to]) + weight * W(dy[index]));
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_CROP_KERNELS)

}  // namespace kerngrad::kernels::reference
