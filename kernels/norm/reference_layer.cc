// SPDX-License-Identifier: Apache-2.0
// Row by row from the definition, in the next wider type; rounded once.
#include "kernels/norm/layer.h"

#include <cmath>
#include <cstdint>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void LayerNorm(const layer_norm_geometry& g, const T* x, const T* scale, const T* offset, T* y) {
  using wide = wide_t<T>;
  const wide count = static_cast<wide>(g.count), epsilon = static_cast<wide>(g.epsilon);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const auto element = [&](std::int64_t i) { return wide{x[row * g.count + i]}; };
    wide sum = 0, squares = 0;
    for (std::int64_t i = 0; i < g.count; ++i) sum += element(i);
    const wide mean = sum / count;
    for (std::int64_t i = 0; i < g.count; ++i) squares += (element(i) - mean) * (element(i) - mean);
    const wide deviation = std::sqrt(squares / count + epsilon);
    for (std::int64_t i = 0; i < g.count; ++i) {
      const wide factor = scale ? wide{scale[i]} : wide{1}, term = offset ? wide{offset[i]} : wide{0};
      y[row * g.count + i] = static_cast<T>((element(i) - mean) / deviation * factor + term);
    }
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_LAYER_KERNELS)

}  // namespace kerngrad::kernels::reference
