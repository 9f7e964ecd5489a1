// SPDX-License-Identifier: Apache-2.0
// SearchSorted: binary searches without branches, several values at once, so that their loads overlap.
#include "kernels/sort/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/common/chunks.h"
#include "kernels/common/sizes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sort/search.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// True if an element belongs before a value that is no NaN; an element that is one does not.
template <bool kRight, class T>
HWY_INLINE bool belongs_before(T element, T value) {
  return kRight ? element <= value : element < value;
}

// The positions of kCount values in a sequence that is not empty. The position of a search is one of `length` elements.
template <bool kRight, int kCount, class T>
HWY_INLINE void search_several(const T* sequence, std::size_t count, const T* values, std::int32_t* y) {
  std::size_t at[kCount] = {};
  for (std::size_t length = count; length > 1;) {
    const std::size_t half = length / 2;
    for (int i = 0; i < kCount; ++i) at[i] += belongs_before<kRight>(sequence[at[i] + half - 1], values[i]) ? half : 0;
    length -= half;
  }
  for (int i = 0; i < kCount; ++i)
    y[i] = static_cast<std::int32_t>(at[i] + (belongs_before<kRight>(sequence[at[i]], values[i]) ? 1 : 0));
}

// The number of elements before the first NaN: those before infinity and those equal to it.
template <class T>
HWY_INLINE std::int32_t numbers_in(const T* sequence, std::size_t count) {
  if (!std::isnan(sequence[count - 1])) return static_cast<std::int32_t>(count);
  std::int32_t y = 0;
  const T infinity = std::numeric_limits<T>::infinity();
  search_several<true, 1>(sequence, count, &infinity, &y);
  return y;
}

template <bool kRight, class T>
HWY_INLINE void search_row(const T* sequence, std::size_t count, const T* values, std::size_t wanted, std::int32_t* y) {
  if (count == 0) {
    std::fill_n(y, wanted, 0);
    return;
  }
  constexpr std::size_t several = 8;
  std::size_t i = 0;
  for (; i + several <= wanted; i += several) search_several<kRight, several>(sequence, count, values + i, y + i);
  for (; i < wanted; ++i) search_several<kRight, 1>(sequence, count, values + i, y + i);
  if constexpr (std::is_floating_point_v<T>) {
    const std::int32_t of_nan = kRight ? static_cast<std::int32_t>(count) : numbers_in(sequence, count);
    for (i = 0; i < wanted; ++i)
      if (std::isnan(values[i])) y[i] = of_nan;
  }
}

// Values in a chunk; what finding one costs, in products.
constexpr std::int64_t values_of_chunk = 1 << 14, products_of_search = 16;

/// SearchSorted. Exact. Reference: kernels/sort/reference_search.cc.
template <dtype Type, class T = storage_t<Type>>
HWY_INLINE void SearchSorted(const search_geometry& g, const T* sequences, const T* values, std::int32_t* y) {
  // Pieces of a row's values, or several rows.
  const std::int64_t pieces = std::max(std::int64_t{1}, (g.values + values_of_chunk - 1) / values_of_chunk);
  const std::int64_t rows = std::max(std::int64_t{1}, values_of_chunk / std::max(std::int64_t{1}, g.values));
  const std::int64_t chunks = product_of((g.rows + rows - 1) / rows, pieces);
  run_in_chunks(static_cast<std::ptrdiff_t>(chunks), saturated_product(g.rows, g.values, products_of_search),
                [&](std::ptrdiff_t chunk) HWY_ATTR {
                  const std::int64_t first = static_cast<std::int64_t>(chunk) / pieces * rows;
                  const std::int64_t begin = static_cast<std::int64_t>(chunk) % pieces * values_of_chunk;
                  const auto wanted = static_cast<std::size_t>(std::min(values_of_chunk, g.values - begin));
                  for (std::int64_t row = first; row < std::min(first + rows, g.rows); ++row) {
                    const T* sequence = sequences + row * g.count;
                    const std::int64_t at = row * g.values + begin;
                    const auto count = static_cast<std::size_t>(g.count);
                    if (g.right) search_row<true>(sequence, count, values + at, wanted, y + at);
                    else search_row<false>(sequence, count, values + at, wanted, y + at);
                  }
                });
}

}  // namespace

KG_DEFINE_KERNELS(KG_SEARCH_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_SEARCH_KERNELS)

}  // namespace kerngrad::kernels
#endif
