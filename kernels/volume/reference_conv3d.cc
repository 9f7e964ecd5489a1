// SPDX-License-Identifier: Apache-2.0
#include "kernels/volume/conv3d.h"

#include <algorithm>
#include <cstddef>

#include "kernels/common/reference_scalar.h"
#include "kernels/common/scratch.h"
#include "kernels/volume/reference_volume.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void Conv3D(const volume_geometry& g, const T* x, const T* w, T* y) {
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

/// The sums of every meeting in the wider type, rounded once: to[i] is what `add` puts into element i.
template <class T, class Add>
void sum_up(std::int64_t count, T* to, Add add) {
  scratch<wide_t<T>> room(count);
  wide_t<T>* sums = room.data();
  std::fill_n(sums, count, wide_t<T>{0});
  add(sums);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(sums[i]);
}

template <dtype Type, class T = storage_t<Type>>
void Conv3DBackpropInputV2(const volume_geometry& g, const T* dy, const T* w, T* dx) {
  sum_up(g.batch * g.depth.in * g.in_slice(), dx, [&](wide_t<T>* sums) {
    for_each_output(g, [&](const volume_position& at) {
      for_each_inside(g, at, [&](const volume_position& p) {
        for (std::int64_t ci = 0; ci < g.in_c; ++ci)
          for (std::int64_t co = 0; co < g.out_c; ++co)
            sums[p.input(g) + ci] += wide_t<T>{dy[p.output(g) + co]} * w[(p.tap(g) * g.in_c + ci) * g.out_c + co];
      });
    });
  });
}

template <dtype Type, class T = storage_t<Type>>
void Conv3DBackpropFilterV2(const volume_geometry& g, const T* x, const T* dy, T* dw) {
  sum_up(g.depth.filter * g.filter_slice(), dw, [&](wide_t<T>* sums) {
    for_each_output(g, [&](const volume_position& at) {
      for_each_inside(g, at, [&](const volume_position& p) {
        for (std::int64_t ci = 0; ci < g.in_c; ++ci)
          for (std::int64_t co = 0; co < g.out_c; ++co)
            sums[(p.tap(g) * g.in_c + ci) * g.out_c + co] += wide_t<T>{x[p.input(g) + ci]} * dy[p.output(g) + co];
      });
    });
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_CONV3D_KERNELS)

}  // namespace kerngrad::kernels::reference
