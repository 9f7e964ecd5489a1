// SPDX-License-Identifier: Apache-2.0
// Element by element, in the next wider type; rounded once.
#include "kernels/norm/batch.h"

#include <cmath>
#include <cstdint>

#include "kernels/elementwise/reference_maps.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void FusedBatchNorm(const batch_norm_geometry& g, const T* x, const T* mean, const T* variance, const T* offset,
                    const T* scale, T* y) {
  using wide = wide_t<T>;
  const wide epsilon = static_cast<T>(g.epsilon);
  walk<2>(g.walk, [&](const std::int64_t* at, std::int64_t i) {
    const wide factor = scale ? wide{scale[at[1]]} : wide{1}, term = offset ? wide{offset[at[1]]} : wide{0};
    const wide deviation = std::sqrt(wide{variance[at[1]]} + epsilon);
    y[i] = static_cast<T>((wide{x[i]} - wide{mean[at[1]]}) / deviation * factor + term);
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_BATCH_KERNELS)

}  // namespace kerngrad::kernels::reference
