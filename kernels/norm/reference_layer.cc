// SPDX-License-Identifier: Apache-2.0
// Row by row from the definition, in the next wider type; rounded once.
#include "kernels/norm/reference_layer.h"

#include <cmath>
#include <cstdint>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

template <class T>
void LayerNorm(const void* const* in, void* const* out, const void* geometry) {
  using wide = wide_t<T>;
  const auto& g = *static_cast<const layer_norm_geometry*>(geometry);
  const wide count = static_cast<wide>(g.count), epsilon = static_cast<wide>(g.epsilon);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const auto x = [&](std::int64_t i) { return wide{get<T>(in[0], row * g.count + i)}; };
    wide sum = 0, squares = 0;
    for (std::int64_t i = 0; i < g.count; ++i) sum += x(i);
    const wide mean = sum / count;
    for (std::int64_t i = 0; i < g.count; ++i) squares += (x(i) - mean) * (x(i) - mean);
    const wide deviation = std::sqrt(squares / count + epsilon);
    for (std::int64_t i = 0; i < g.count; ++i) {
      const wide scale = in[1] ? wide{get<T>(in[1], i)} : wide{1}, offset = in[2] ? wide{get<T>(in[2], i)} : wide{0};
      put<T>(out[0], row * g.count + i, static_cast<T>((x(i) - mean) / deviation * scale + offset));
    }
  }
}

}  // namespace

#define KG_DEFINE_LAYER(Name, type)                                                   \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_FLOATS(KG_DEFINE_LAYER, LayerNorm)
#undef KG_DEFINE_LAYER

}  // namespace kerngrad::kernels::reference
