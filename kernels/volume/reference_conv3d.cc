// SPDX-License-Identifier: Apache-2.0
#include "kernels/volume/reference_conv3d.h"

#include <algorithm>
#include <cstddef>

#include "kernels/common/reference_scalar.h"
#include "kernels/common/scratch.h"
#include "kernels/volume/reference_volume.h"

namespace kerngrad::kernels::reference {
namespace {

template <class T>
void Conv3D(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  for_each_output(g, [&](const volume_position& at) {
    for (std::int64_t co = 0; co < g.out_c; ++co) {
      wide_t<T> sum = 0;
      for_each_inside(g, at, [&](const volume_position& p) {
        for (std::int64_t ci = 0; ci < g.in_c; ++ci)
          sum += wide_t<T>{x[p.input(g) + ci]} * w[(p.tap(g) * g.in_c + ci) * g.out_c + co];
      });
      y[at.output(g) + co] = static_cast<T>(sum);
    }
  });
}

/// The sums of every meeting in the wider type, rounded once: to[i] is what `add` puts into place i.
template <class T, class Add>
void sum_up(std::int64_t count, T* to, Add add) {
  scratch<wide_t<T>> room(count);
  wide_t<T>* sums = room.data();
  std::fill_n(sums, count, wide_t<T>{0});
  add(sums);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(sums[i]);
}

template <class T>
void Conv3DBackpropInputV2(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  sum_up(g.batch * g.depth.in * g.in_slice(), static_cast<T*>(out[0]), [&](wide_t<T>* dx) {
    for_each_output(g, [&](const volume_position& at) {
      for_each_inside(g, at, [&](const volume_position& p) {
        for (std::int64_t ci = 0; ci < g.in_c; ++ci)
          for (std::int64_t co = 0; co < g.out_c; ++co)
            dx[p.input(g) + ci] += wide_t<T>{dy[p.output(g) + co]} * w[(p.tap(g) * g.in_c + ci) * g.out_c + co];
      });
    });
  });
}

template <class T>
void Conv3DBackpropFilterV2(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const volume_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* dy = static_cast<const T*>(in[1]);
  sum_up(g.depth.filter * g.filter_slice(), static_cast<T*>(out[0]), [&](wide_t<T>* dw) {
    for_each_output(g, [&](const volume_position& at) {
      for_each_inside(g, at, [&](const volume_position& p) {
        for (std::int64_t ci = 0; ci < g.in_c; ++ci)
          for (std::int64_t co = 0; co < g.out_c; ++co)
            dw[(p.tap(g) * g.in_c + ci) * g.out_c + co] += wide_t<T>{x[p.input(g) + ci]} * dy[p.output(g) + co];
      });
    });
  });
}

}  // namespace

#define KG_DEFINE_CONV3D(Name, type)                                                  \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_CONV3D_KERNELS(KG_DEFINE_CONV3D)
#undef KG_DEFINE_CONV3D

}  // namespace kerngrad::kernels::reference
