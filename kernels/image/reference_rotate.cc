// SPDX-License-Identifier: Apache-2.0
#include "kernels/image/rotate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/reference_scalar.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"

namespace kerngrad::kernels::reference {
namespace {

/// Calls body(pixel of y, pixel of x or -1 outside), for all pixels of all images in their order.
template <class Body>
void for_each_pixel(const rotate_geometry& g, Body body) {
  const auto in_reach = [](double at, std::int64_t size) { return at >= 0 && at < static_cast<double>(size); };
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t i = 0; i < g.height; ++i)
      for (std::int64_t j = 0; j < g.width; ++j) {
        const double across = static_cast<double>(j) - g.center_x, down = static_cast<double>(i) - g.center_y;
        const double at_column = across * g.cosine - down * g.sine + g.center_x;
        const double at_row = across * g.sine + down * g.cosine + g.center_y;
        // A half goes upwards; adding it first would round numbers just below it, too.
        const auto rounded = [](double v) { return v - std::floor(v) >= 0.5 ? std::floor(v) + 1 : std::floor(v); };
        const double column = rounded(at_column), row = rounded(at_row);
        const bool inside = in_reach(column, g.width) && in_reach(row, g.height);
        body((b * g.height + i) * g.width + j,
             inside ? (b * g.height + static_cast<std::int64_t>(row)) * g.width + static_cast<std::int64_t>(column)
                    : -1);
      }
}

template <dtype Type>
void RotateWithOffset(const rotate_geometry& g, const char* x, char* y) {
  const std::size_t bytes = sizeof(storage_t<Type>) * static_cast<std::size_t>(g.channels);
  const auto pixel = [&](std::int64_t at) { return static_cast<std::size_t>(at) * bytes; };
  for_each_pixel(g, [&](std::int64_t to, std::int64_t from) {
    std::memcpy(y + pixel(to), from < 0 ? g.fill : x + pixel(from), bytes);
  });
}

template <dtype Type, class T = storage_t<Type>>
void RotateWithOffsetGrad(const rotate_geometry& g, const T* dy, T* dx) {
  using W = wide_t<T>;
  const std::int64_t count = product_of(g.batch, g.height, g.width, g.channels);
  scratch<W> sums(count);
  std::fill_n(sums.data(), count, W{0});
  for_each_pixel(g, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t c = 0; c < g.channels && to >= 0; ++c)
      sums.data()[to * g.channels + c] += dy[from * g.channels + c];
  });
  for (std::int64_t i = 0; i < count; ++i) dx[i] = static_cast<T>(sums.data()[i]);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_ROTATE_KERNELS)

}  // namespace kerngrad::kernels::reference
