// SPDX-License-Identifier: Apache-2.0
// By the standard library's binary searches, NaN after all numbers.
#include "kernels/sort/reference_search.h"

#include <algorithm>
#include <cstdint>

#include "kernels/sort/reference_order.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type>
void SearchSorted(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<Type>;
  const auto& g = *static_cast<const search_geometry*>(geometry);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const T* sequence = static_cast<const T*>(in[0]) + row * g.count;
    for (std::int64_t i = row * g.values; i < (row + 1) * g.values; ++i) {
      const T value = static_cast<const T*>(in[1])[i];
      const T* at = g.right ? std::upper_bound(sequence, sequence + g.count, value, comes_before<T>)
                            : std::lower_bound(sequence, sequence + g.count, value, comes_before<T>);
      static_cast<std::int32_t*>(out[0])[i] = static_cast<std::int32_t>(at - sequence);
    }
  }
}

}  // namespace

#define KG_DEFINE(Name, type)                                                         \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<dtype::type>(in, out, geometry);                                             \
  }
KG_SEARCH_KERNELS(KG_DEFINE)

}  // namespace kerngrad::kernels::reference
