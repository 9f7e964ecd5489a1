// SPDX-License-Identifier: Apache-2.0
// Element by element, in the next wider type; rounded once.
#include "kernels/norm/reference_batch.h"

#include <cmath>
#include <cstdint>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

template <class T>
void FusedBatchNorm(const void* const* in, void* const* out, const void* geometry) {
  using wide = wide_t<T>;
  const auto& g = *static_cast<const batch_norm_geometry*>(geometry);
  const wide epsilon = static_cast<T>(g.epsilon);
  std::int64_t count = 1;
  for (int axis = 0; axis < g.walk.rank; ++axis) count *= g.walk.dims[axis];
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0;
    for (int axis = g.walk.rank - 1; axis >= 0; rest /= g.walk.dims[axis--])
      at += rest % g.walk.dims[axis] * g.walk.strides[1][axis];
    const auto moment = [&](int k, T omitted) { return in[k] ? wide{get<T>(in[k], at)} : wide{omitted}; };
    const wide deviation = std::sqrt(moment(2, 0) + epsilon);
    const wide y = (wide{get<T>(in[0], i)} - moment(1, 0)) / deviation * moment(4, 1) + moment(3, 0);
    put<T>(out[0], i, static_cast<T>(y));
  }
}

}  // namespace

#define KG_DEFINE_BATCH(Name, type)                                                   \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_FLOATS(KG_DEFINE_BATCH, FusedBatchNorm)
#undef KG_DEFINE_BATCH

}  // namespace kerngrad::kernels::reference
