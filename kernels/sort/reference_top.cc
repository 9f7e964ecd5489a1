// SPDX-License-Identifier: Apache-2.0
// By a partial sort of indices.
#include "kernels/sort/top.h"

#include <algorithm>
#include <cstdint>

#include "kernels/common/scratch.h"
#include "kernels/sort/reference_order.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void TopK(const top_geometry& g, const T* x, T* values, std::int32_t* indices) {
  scratch<std::int32_t> order(g.count);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const T* row_x = x + row * g.count;
    std::int32_t* first = order.data();
    count_up(first, g.count);
    std::partial_sort(first, first + g.k, first + g.count, by_element<Type>(row_x, true));
    std::copy_n(first, g.k, indices + row * g.k);
    for (std::int64_t i = 0; i < g.k; ++i) {
      const T value = row_x[first[i]];
      values[row * g.k + i] = Type == dtype::boolean ? plain<Type>(value) : value;
    }
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TOP_KERNELS)

}  // namespace kerngrad::kernels::reference
