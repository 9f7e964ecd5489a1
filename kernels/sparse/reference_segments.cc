// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/reference_segments.h"

#include <limits>
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

template <class T>
void EmbeddingBag(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const bag_geometry*>(geometry);
  const T *x = static_cast<const T*>(in[0]), *weights = static_cast<const T*>(in[3]);
  const auto *indices = static_cast<const std::int32_t*>(in[1]), *offsets = static_cast<const std::int32_t*>(in[2]);
  for (std::int64_t n = 0; n < g.bags * g.inner; ++n) {
    const std::int64_t bag = n / g.inner, end = bag + 1 < g.bags ? offsets[bag + 1] : g.count;
    wide_t<T> sum = 0, most = -std::numeric_limits<wide_t<T>>::infinity();
    for (std::int64_t k = offsets[bag]; k < end; ++k) {
      const wide_t<T> element = x[indices[k] * g.inner + n % g.inner];
      sum += weights ? weights[k] * element : element;
      if (!(element <= most)) most = most != most ? most : element;
    }
    const std::int64_t rows = end - offsets[bag];
    if (g.how == bag_geometry::combined::max) sum = rows > 0 ? most : 0;
    else if (g.how == bag_geometry::combined::mean && rows > 0) sum /= static_cast<wide_t<T>>(rows);
    static_cast<T*>(out[0])[n] = static_cast<T>(sum);
  }
}

}  // namespace

#define KG_DEFINE_BAG(Name, type)                                                     \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_EMBEDDING_KERNELS(KG_DEFINE_BAG)
#undef KG_DEFINE_BAG
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
