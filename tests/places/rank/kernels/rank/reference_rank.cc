// SPDX-License-Identifier: Apache-2.0
// The same from the definition, in plain C++: the backend `reference`, and the oracle of the test kit.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/rank/rank.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void SortPairs(const rank_geometry& g, const T* keys, const T* values, T* sorted_keys, T* sorted_values) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(g.count));
  for (std::int64_t row = 0; row < g.outer; ++row, keys += g.count, values += g.count) {
    std::iota(places.begin(), places.end(), std::int64_t{0});
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return keys[a] < keys[b] || (keys[a] == keys[a] && keys[b] != keys[b]);
    };
    std::sort(places.begin(), places.end(),
              [&](std::int64_t a, std::int64_t b) { return before(a, b) || (!before(b, a) && a < b); });
    for (std::int64_t i = 0; i < g.count; ++i) {
      *sorted_keys++ = keys[places[static_cast<std::size_t>(i)]];
      *sorted_values++ = values[places[static_cast<std::size_t>(i)]];
    }
  }
}

}  // namespace

// Defines the entry points that the header declares in this namespace.
KG_DEFINE_PLAIN_KERNELS(KG_RANK_KERNELS)

}  // namespace kerngrad::kernels::reference
