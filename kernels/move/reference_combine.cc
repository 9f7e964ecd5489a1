// SPDX-License-Identifier: Apache-2.0
// From the definition: every element of the result looks at all indices. Floats are carried in the next wider type and
// rounded once, integers modulo 2^64, of which the lower bits are those of narrower ones.
#include "kernels/move/combine.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// First value of a fresh element.
template <class T>
T started(combination how) {
  using limits = std::numeric_limits<T>;
  switch (how) {
    case combination::mul: return 1;
    case combination::max: return is_float<T> ? -limits::infinity() : limits::lowest();
    case combination::min: return is_float<T> ? limits::infinity() : limits::max();
    default: return 0;
  }
}

template <dtype Type, class T = storage_t<Type>>
void CombineRows(const combine_geometry& g, const T* x, const std::int32_t* indices, T* y) {
  using A = std::conditional_t<is_float<T>, wide_t<T>, std::uint64_t>;
  for (std::int64_t n = 0; n < g.y_rows * g.inner; ++n) {
    T extreme = g.fresh ? started<T>(g.how) : y[n];
    A total = static_cast<A>(extreme);
    std::int64_t rows = 0;
    for (std::int64_t r = 0; r < g.rows; ++r) {
      if (indices[r] - g.first != n / g.inner) continue;
      const T value = x[r * g.step + n % g.inner];
      total = g.how == combination::mul ? total * static_cast<A>(value) : total + static_cast<A>(value);
      const bool beyond = g.how == combination::max ? extreme < value : value < extreme;
      if (beyond || value != value) extreme = value;
      ++rows;
    }
    const bool extremes = g.how == combination::max || g.how == combination::min;
    if (g.how != combination::mean || rows == 0) y[n] = extremes ? extreme : static_cast<T>(total);
    else if constexpr (is_float<T>) y[n] = static_cast<T>(total / static_cast<A>(rows));
    else y[n] = static_cast<T>(static_cast<T>(total) / rows);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_COMBINE_KERNELS)

}  // namespace kerngrad::kernels::reference
