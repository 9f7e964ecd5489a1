// SPDX-License-Identifier: Apache-2.0
// By a partial sort of places.
#include "kernels/sort/reference_top.h"

#include <algorithm>
#include <cstdint>

#include "kernels/common/scratch.h"
#include "kernels/sort/reference_order.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type>
void TopK(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<Type>;
  const auto& g = *static_cast<const top_geometry*>(geometry);
  scratch<std::int32_t> places(g.count);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const T* x = static_cast<const T*>(in[0]) + row * g.count;
    std::int32_t* first = places.data();
    count_up(first, g.count);
    std::partial_sort(first, first + g.k, first + g.count, by_element<Type>(x, true));
    std::copy_n(first, g.k, static_cast<std::int32_t*>(out[1]) + row * g.k);
    for (std::int64_t i = 0; i < g.k; ++i) {
      const T value = x[first[i]];
      static_cast<T*>(out[0])[row * g.k + i] = Type == dtype::boolean ? plain<Type>(value) : value;
    }
  }
}

}  // namespace

#define KG_DEFINE(Name, type)                                                         \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<dtype::type>(in, out, geometry);                                             \
  }
KG_TOP_KERNELS(KG_DEFINE)

}  // namespace kerngrad::kernels::reference
