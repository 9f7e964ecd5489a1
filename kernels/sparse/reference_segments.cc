// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/segments.h"

#include <limits>
#include <type_traits>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// Every element of the result looks at all indices; floats are added in the next wider type.
template <bool Mean, class T>
void add_segments(const sparse_segment_geometry& g, const T* x, const std::int32_t* indices, const std::int32_t* ids,
                  T* y) {
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

template <dtype Type, class T = storage_t<Type>>
void SparseSegmentSum(const sparse_segment_geometry& g, const T* x, const std::int32_t* indices,
                      const std::int32_t* ids, T* y) {
  add_segments<false>(g, x, indices, ids, y);
}
template <dtype Type, class T = storage_t<Type>>
void SparseSegmentMean(const sparse_segment_geometry& g, const T* x, const std::int32_t* indices,
                       const std::int32_t* ids, T* y) {
  add_segments<true>(g, x, indices, ids, y);
}

template <dtype Type, class T = storage_t<Type>>
void EmbeddingBag(const bag_geometry& g, const T* x, const std::int32_t* indices, const std::int32_t* offsets,
                  const T* weights, T* y) {
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
    y[n] = static_cast<T>(sum);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SPARSE_SEGMENT_KERNELS)

}  // namespace kerngrad::kernels::reference
