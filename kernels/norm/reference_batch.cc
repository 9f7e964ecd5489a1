// SPDX-License-Identifier: Apache-2.0
// Element by element, in the next wider type; rounded once.
#include "kernels/norm/batch.h"

#include <cmath>
#include <cstdint>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void FusedBatchNorm(const batch_norm_geometry& g, const T* x, const T* mean, const T* variance, const T* offset,
                    const T* scale, T* y) {
  using wide = wide_t<T>;
  const wide epsilon = static_cast<T>(g.epsilon);
  std::int64_t count = 1;
  for (int axis = 0; axis < g.walk.rank; ++axis) count *= g.walk.dims[axis];
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0;
    for (int axis = g.walk.rank - 1; axis >= 0; rest /= g.walk.dims[axis--])
      at += rest % g.walk.dims[axis] * g.walk.strides[1][axis];
    const wide factor = scale ? wide{scale[at]} : wide{1}, term = offset ? wide{offset[at]} : wide{0};
    const wide deviation = std::sqrt(wide{variance[at]} + epsilon);
    y[i] = static_cast<T>((wide{x[i]} - wide{mean[at]}) / deviation * factor + term);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_BATCH_KERNELS)

}  // namespace kerngrad::kernels::reference
