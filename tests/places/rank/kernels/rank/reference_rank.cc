// SPDX-License-Identifier: Apache-2.0
#include "kernels/rank/reference_rank.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/rank/rank.h"

namespace kerngrad::kernels::reference {
namespace {

template <class T>
void sort_pairs(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const rank_geometry*>(geometry);
  std::vector<std::int64_t> places(static_cast<std::size_t>(g.count));
  for (std::int64_t row = 0; row < g.outer; ++row) {
    const T* keys = static_cast<const T*>(in[0]) + row * g.count;
    const T* values = static_cast<const T*>(in[1]) + row * g.count;
    std::iota(places.begin(), places.end(), std::int64_t{0});
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return keys[a] < keys[b] || (keys[a] == keys[a] && keys[b] != keys[b]);
    };
    std::sort(places.begin(), places.end(),
              [&](std::int64_t a, std::int64_t b) { return before(a, b) || (!before(b, a) && a < b); });
    for (std::int64_t i = 0; i < g.count; ++i) {
      static_cast<T*>(out[0])[row * g.count + i] = keys[places[static_cast<std::size_t>(i)]];
      static_cast<T*>(out[1])[row * g.count + i] = values[places[static_cast<std::size_t>(i)]];
    }
  }
}

}  // namespace

#define KG_DEFINE(Name, type)                                                         \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    sort_pairs<storage_t<dtype::type>>(in, out, geometry);                            \
  }
KG_FLOATS(KG_DEFINE, SortPairs)

}  // namespace kerngrad::kernels::reference
