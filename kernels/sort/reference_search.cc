// SPDX-License-Identifier: Apache-2.0
// By the standard library's binary searches, NaN after all numbers.
#include "kernels/sort/search.h"

#include <algorithm>
#include <cstdint>

#include "kernels/sort/reference_order.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void SearchSorted(const search_geometry& g, const T* sequences, const T* values, std::int32_t* y) {
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const T* sequence = sequences + row * g.count;
    for (std::int64_t i = row * g.values; i < (row + 1) * g.values; ++i) {
      const T value = values[i];
      const T* at = g.right ? std::upper_bound(sequence, sequence + g.count, value, comes_before<T>)
                            : std::lower_bound(sequence, sequence + g.count, value, comes_before<T>);
      y[i] = static_cast<std::int32_t>(at - sequence);
    }
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SEARCH_KERNELS)

}  // namespace kerngrad::kernels::reference
