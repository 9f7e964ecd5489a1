// SPDX-License-Identifier: Apache-2.0
// A row's indices are sorted by their elements; what lies together then is one bin. Sums in long double, of integers in
// 128 bits.
#include "kernels/count/bincount.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace kerngrad::kernels::reference {
namespace {

__extension__ using wide = __int128;  // holds every sum of int64

template <class T>
T sum_of_bin(const T* weights, std::vector<std::int64_t>::const_iterator first,
             std::vector<std::int64_t>::const_iterator last) {
  if (!weights) return static_cast<T>(last - first);
  if constexpr (std::is_floating_point_v<T>) {
    long double sum = 0;
    for (; first != last; ++first) sum += weights[*first];
    return static_cast<T>(sum);
  } else {
    wide sum = 0;
    for (; first != last; ++first) sum += weights[*first];
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(sum));
  }
}

template <class T, class E>
void count_elements(const E* x, const T* weights, T* y, const bincount_geometry& g) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(g.count));
  for (std::int64_t r = 0; r < g.rows; ++r, x += g.count, y += g.size) {
    std::iota(indices.begin(), indices.end(), std::int64_t{0});
    std::sort(indices.begin(), indices.end(),
              [x](std::int64_t a, std::int64_t b) { return x[a] < x[b] || (x[a] == x[b] && a < b); });
    auto at = indices.cbegin();
    for (std::int64_t bin = 0; bin < g.size; ++bin) {
      const auto first = at;
      while (at != indices.cend() && static_cast<std::int64_t>(x[*at]) == bin) ++at;
      if (g.binary) y[bin] = static_cast<T>(first != at ? 1 : 0);
      else y[bin] = sum_of_bin<T>(weights ? weights + r * g.count : nullptr, first, at);
    }
  }
}

template <dtype Type, class T = storage_t<Type>>
void DenseBincount(const bincount_geometry& g, const void* x, const T* given, T* y) {
  const T* weights = g.weighted ? given : nullptr;
  with_counted_elements(g.elements, x, [&](const auto* elements) { count_elements(elements, weights, y, g); });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_BINCOUNT_KERNELS)

}  // namespace kerngrad::kernels::reference
