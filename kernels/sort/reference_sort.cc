// SPDX-License-Identifier: Apache-2.0
// By comparing the elements themselves, NaN after all numbers.
#include "kernels/sort/sort.h"

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

template <dtype Type, class T = storage_t<Type>>
void Sort(const sort_geometry& g, const T* x, T* y) {
  for (std::int64_t row = 0; row < g.rows; ++row, x += g.count, y += g.count) {
    std::transform(x, x + g.count, y, plain<Type, T>);
    std::sort(y, y + g.count, [&](T a, T b) { return g.descending ? negative_first(b, a) : negative_first(a, b); });
  }
}

template <dtype Type, class T = storage_t<Type>>
void ArgSort(const sort_geometry& g, const T* x, std::int32_t* y) {
  for (std::int64_t row = 0; row < g.rows; ++row, x += g.count, y += g.count) {
    count_up(y, g.count);
    std::sort(y, y + g.count, by_element<Type>(x, g.descending));
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SORT_KERNELS)

}  // namespace kerngrad::kernels::reference
