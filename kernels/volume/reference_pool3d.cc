// SPDX-License-Identifier: Apache-2.0
#include "kernels/volume/pool3d.h"

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

/// Index of the first maximum of the window, -1 if no element inside is a number.
template <class T>
std::int64_t first_maximum(const volume_geometry& g, const T* x, const volume_position& at, std::int64_t c) {
  std::int64_t best = -1;
  for_each_inside(g, at, [&](const volume_position& p) {
    const std::int64_t here = p.input(g) + c;
    if (x[here] == x[here] && (best < 0 || x[here] > x[best])) best = here;
  });
  return best;
}

template <dtype Type, class T = storage_t<Type>>
void MaxPool3D(const volume_geometry& g, const T* x, T* y) {
  const T nothing = std::numeric_limits<T>::has_infinity ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::lowest();
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    const std::int64_t best = first_maximum(g, x, at, c);
    y[index] = best < 0 ? nothing : x[best];
  });
}

template <dtype Type, class T = storage_t<Type>>
void MaxPool3DGrad(const volume_geometry& g, const T* dy, const T* x, const T* /*y*/, T* dx) {
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    const std::int64_t best = first_maximum(g, x, at, c);
    if (best >= 0) dx[best] += dy[index];
  });
}

template <dtype Type, class T = storage_t<Type>>
void MaxPool3DGather(const volume_geometry& g, const T* source, const T* x, T* z) {
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    const std::int64_t best = first_maximum(g, x, at, c);
    z[index] = best < 0 ? T{0} : source[best];
  });
}

template <dtype Type, class T = storage_t<Type>>
void AvgPool3D(const volume_geometry& g, const T* x, T* y) {
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    long double sum = 0;
    std::int64_t count = 0;
    for_each_inside(g, at, [&](const volume_position& p) { sum += x[p.input(g) + c], ++count; });
    y[index] = count == 0 ? T{0} : static_cast<T>(sum / count);
  });
}

template <dtype Type, class T = storage_t<Type>>
void AvgPool3DGrad(const volume_geometry& g, const T* dy, const T* /*x*/, T* dx) {
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_element(g, [&](std::int64_t index, const volume_position& at, std::int64_t c) {
    std::int64_t count = 0;
    for_each_inside(g, at, [&](const volume_position&) { ++count; });
    for_each_inside(g, at, [&](const volume_position& p) { dx[p.input(g) + c] += dy[index] / static_cast<T>(count); });
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_POOL3D_KERNELS)

}  // namespace kerngrad::kernels::reference
