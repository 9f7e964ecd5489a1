// SPDX-License-Identifier: Apache-2.0
#include "kernels/volume/reference_pool3d.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/volume/reference_volume.h"

namespace kerngrad::kernels::reference {
namespace {

std::int64_t input_count(const volume_geometry& g) { return g.batch * g.depth.in * g.in_slice(); }

/// Calls visit(output index, position, channel) for every element of the result.
template <class Visit>
void for_each_element(const volume_geometry& g, Visit visit) {
  for_each_output(g, [&](const volume_position& at) {
    for (std::int64_t c = 0; c < g.in_c; ++c) visit(at.output(g) + c, at, c);
  });
}

/// Where the first maximum of the window is, -1 when no element inside is a number.
template <class T>
std::int64_t first_maximum(const volume_geometry& g, const T* x, const volume_position& at, std::int64_t c) {
  std::int64_t best = -1;
  for_each_inside(g, at, [&](const volume_position& p) {
    const std::int64_t here = p.input(g) + c;
    if (x[here] == x[here] && (best < 0 || x[here] > x[best])) best = here;
  });
  return best;
}

template <class T>
void MaxPool3D(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  const T nothing = std::numeric_limits<T>::has_infinity ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::lowest();
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    const std::int64_t best = first_maximum(g, x, at, c);
    y[index] = best < 0 ? nothing : x[best];
  });
}

template <class T>
void MaxPool3DGrad(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    const std::int64_t best = first_maximum(g, x, at, c);
    if (best >= 0) dx[best] += dy[index];
  });
}

template <class T>
void MaxPool3DGather(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* source = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out[0]);
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    const std::int64_t best = first_maximum(g, x, at, c);
    z[index] = best < 0 ? T{0} : source[best];
  });
}

template <class T>
void AvgPool3D(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    long double sum = 0;
    std::int64_t count = 0;
    for_each_inside(g, at, [&](const volume_position& p) { sum += x[p.input(g) + c], ++count; });
    y[index] = count == 0 ? T{0} : static_cast<T>(sum / count);
  });
}

template <class T>
void AvgPool3DGrad(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  T* dx = static_cast<T*>(out[0]);
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    std::int64_t count = 0;
    for_each_inside(g, at, [&](const volume_position&) { ++count; });
    for_each_inside(g, at, [&](const volume_position& p) { dx[p.input(g) + c] += dy[index] / static_cast<T>(count); });
  });
}

}  // namespace

#define KG_DEFINE_POOL3D(Name, type)                                                  \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_POOL3D_KERNELS(KG_DEFINE_POOL3D)
#undef KG_DEFINE_POOL3D

}  // namespace kerngrad::kernels::reference
