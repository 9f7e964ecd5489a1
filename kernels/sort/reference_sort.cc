// SPDX-License-Identifier: Apache-2.0
// By comparing the elements themselves, NaN after all numbers.
#include "kernels/sort/reference_sort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/sort/reference_order.h"

namespace kerngrad::kernels::reference {
namespace {

// Zeros that are equal come by their signs.
template <class T>
bool negative_first(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == 0 && b == 0) return std::signbit(a) && !std::signbit(b);
  }
  return comes_before(a, b);
}

template <dtype Type>
void Sort(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<Type>;
  const auto& g = *static_cast<const sort_geometry*>(geometry);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const T* x = static_cast<const T*>(in[0]) + row * g.count;
    T* y = static_cast<T*>(out[0]) + row * g.count;
    std::transform(x, x + g.count, y, plain<Type, T>);
    std::sort(y, y + g.count, [&](T a, T b) { return g.descending ? negative_first(b, a) : negative_first(a, b); });
  }
}

template <dtype Type>
void ArgSort(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const sort_geometry*>(geometry);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    std::int32_t* y = static_cast<std::int32_t*>(out[0]) + row * g.count;
    count_up(y, g.count);
    const auto* x = static_cast<const storage_t<Type>*>(in[0]) + row * g.count;
    std::sort(y, y + g.count, by_element<Type>(x, g.descending));
  }
}

}  // namespace

#define KG_DEFINE(Name, type)                                                         \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<dtype::type>(in, out, geometry);                                             \
  }
KG_SORT_KERNELS(KG_DEFINE)

}  // namespace kerngrad::kernels::reference
