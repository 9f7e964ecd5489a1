// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/pool.h"

#include <cmath>
#include <cstddef>
#include <limits>

namespace kerngrad::kernels::reference {
namespace {

/// Calls body(output index, channel) for every output element, in row-major order of the windows.
template <class Body>
void for_each_output(const window_geometry& g, Body body) {
  std::int64_t index = 0;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t ox = 0; ox < g.out_w; ++ox)
        for (std::int64_t c = 0; c < g.in_c; ++c, ++index) body(index, b, oy, ox, c);
}

/// Calls visit(input index) for every element of a window inside the image, row by row.
template <class Visit>
void for_each_inside(const window_geometry& g, std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t c,
                     Visit visit) {
  for (std::int64_t ky = 0; ky < g.filter_h; ++ky)
    for (std::int64_t kx = 0; kx < g.filter_w; ++kx) {
      const std::int64_t iy = oy * g.stride_h - g.pad_top + ky * g.dilation_h;
      const std::int64_t ix = ox * g.stride_w - g.pad_left + kx * g.dilation_w;
      if (iy < 0 || iy >= g.in_h || ix < 0 || ix >= g.in_w) continue;
      visit(((b * g.in_h + iy) * g.in_w + ix) * g.in_c + c);
    }
}

std::int64_t input_count(const window_geometry& g) { return g.batch * g.in_h * g.in_w * g.in_c; }

/// Where the first maximum of the window is, -1 when no element inside is a number.
template <class T>
std::int64_t first_maximum(const window_geometry& g, const T* x, std::int64_t b, std::int64_t oy, std::int64_t ox,
                           std::int64_t c) {
  std::int64_t best = -1;
  for_each_inside(g, b, oy, ox, c, [&](std::int64_t at) {
    if (x[at] != x[at]) return;
    if (best < 0 || x[at] > x[best]) best = at;
  });
  return best;
}

template <class T>
void MaxPool(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  const T nothing = std::numeric_limits<T>::has_infinity ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::lowest();
  for_each_output(g, [&](std::int64_t index, auto... where) {
    const std::int64_t best = first_maximum(g, x, where...);
    y[index] = best < 0 ? nothing : x[best];
  });
}

template <class T>
void MaxPoolGrad(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_output(g, [&](std::int64_t index, auto... where) {
    const std::int64_t best = first_maximum(g, x, where...);
    if (best >= 0) dx[best] += dy[index];
  });
}

template <class T>
void MaxPoolGather(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* source = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out[0]);
  for_each_output(g, [&](std::int64_t index, auto... where) {
    const std::int64_t best = first_maximum(g, x, where...);
    z[index] = best < 0 ? T{0} : source[best];
  });
}

template <class T>
void AvgPool(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  for_each_output(g, [&](std::int64_t index, auto... where) {
    long double sum = 0;
    std::int64_t count = 0;
    for_each_inside(g, where..., [&](std::int64_t at) { sum += x[at], ++count; });
    y[index] = count == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(sum / count);
  });
}

template <class T>
void AvgPoolGrad(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  T* dx = static_cast<T*>(out[0]);
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_output(g, [&](std::int64_t index, auto... where) {
    std::int64_t count = 0;
    for_each_inside(g, where..., [&](std::int64_t) { ++count; });
    for_each_inside(g, where..., [&](std::int64_t at) { dx[at] += dy[index] / static_cast<T>(count); });
  });
}

}  // namespace

#define KG_DEFINE_POOL(Name, type)                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_POOL_KERNELS(KG_DEFINE_POOL)
#undef KG_DEFINE_POOL

}  // namespace kerngrad::kernels::reference
