// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/reference_segments.h"

#include <type_traits>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// Every element of the result looks at all indices; floats are added in the next wider type.
template <class T, bool Mean>
void add_segments(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const sparse_segment_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const auto* indices = static_cast<const std::int32_t*>(in[1]);
  const auto* ids = static_cast<const std::int32_t*>(in[2]);
  T* y = static_cast<T*>(out[0]);
  for (std::int64_t s = 0; s < g.segments; ++s)
    for (std::int64_t i = 0; i < g.inner; ++i) {
      std::conditional_t<is_float<T>, wide_t<T>, std::uint64_t> sum = 0;
      std::int64_t rows = 0;
      for (std::int64_t k = 0; k < g.count; ++k) {
        if (ids[k] != s) continue;
        sum += static_cast<decltype(sum)>(x[indices[k] * g.inner + i]);
        ++rows;
      }
      if constexpr (is_float<T>) y[s * g.inner + i] = static_cast<T>(Mean && rows > 0 ? sum / rows : sum);
      else y[s * g.inner + i] = static_cast<T>(Mean && rows > 0 ? static_cast<T>(sum) / rows : static_cast<T>(sum));
    }
}

}  // namespace

#define KG_DEFINE_SUM(Name, type)                                                     \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    add_segments<storage_t<dtype::type>, false>(in, out, geometry);                   \
  }
KG_SIGNED(KG_DEFINE_SUM, SparseSegmentSum)
#undef KG_DEFINE_SUM
#define KG_DEFINE_MEAN(Name, type)                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    add_segments<storage_t<dtype::type>, true>(in, out, geometry);                    \
  }
KG_SIGNED(KG_DEFINE_MEAN, SparseSegmentMean)
#undef KG_DEFINE_MEAN

}  // namespace kerngrad::kernels::reference
