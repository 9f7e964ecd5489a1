// SPDX-License-Identifier: Apache-2.0
// Rows for tests of ops that order elements, and the order by its definition: what a number is greater than, NaN after
// all of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/common/abi.h"

namespace kgtest {

/// f(dtype_constant<type>{}) for a dtype that can be put in order.
template <class F>
void visit_ordered(kerngrad::dtype type, const F& f) {
  switch (type) {
#define KG_VISIT_ORDERED(f, type) \
  case kerngrad::dtype::type: return f(kerngrad::dtype_constant<kerngrad::dtype::type>{});
    KG_ORDERED(KG_VISIT_ORDERED, f)
#undef KG_VISIT_ORDERED
    default: return;
  }
}

/// Elements of a row.
struct row_of {
  const char* name;
  enum { any, few_values, special, rising, falling, equal, organ_pipe, saw, nearly_rising } what;
};
inline constexpr row_of rows[] = {{"any numbers", row_of::any},
                                  {"three numbers", row_of::few_values},
                                  {"special values", row_of::special},
                                  {"rising", row_of::rising},
                                  {"falling", row_of::falling},
                                  {"equals", row_of::equal},
                                  {"rising and falling", row_of::organ_pipe},
                                  {"rising again and again", row_of::saw},
                                  {"rising but for the last", row_of::nearly_rising}};

template <class T>
T special_value(std::uint64_t i) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T nan = limits::quiet_NaN();
    const T all[] = {nan,
                     std::copysign(nan, T{-1}),
                     T{0},
                     -T{0},
                     limits::infinity(),
                     -limits::infinity(),
                     limits::denorm_min(),
                     -limits::denorm_min(),
                     limits::max(),
                     limits::lowest(),
                     limits::min(),
                     T{1},
                     T{-1}};
    return all[i % std::size(all)];
  } else {
    const T all[] = {limits::max(), limits::min(), T{0}, T{1}, static_cast<T>(-1), static_cast<T>(limits::max() - 1)};
    return all[i % std::size(all)];
  }
}

template <kerngrad::dtype Type>
std::vector<kerngrad::kernels::storage_t<Type>> make_row(const row_of& of, std::size_t n) {
  using T = kerngrad::kernels::storage_t<Type>;
  std::mt19937_64 random(n + 1);
  std::vector<T> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double step = static_cast<double>(i) / 3;
    switch (of.what) {
      case row_of::any:
        if constexpr (std::is_floating_point_v<T>) row[i] = static_cast<T>(std::ldexp(random(), -60)) - T{8};
        else row[i] = static_cast<T>(random());
        break;
      case row_of::few_values: row[i] = static_cast<T>(random() % 3 * 5); break;
      case row_of::special: row[i] = special_value<T>(random()); break;
      case row_of::rising: row[i] = static_cast<T>(static_cast<std::int64_t>(step)); break;
      case row_of::falling: row[i] = static_cast<T>(-static_cast<std::int64_t>(step)); break;
      case row_of::equal: row[i] = T{1}; break;
      case row_of::organ_pipe: row[i] = static_cast<T>(std::min(i, n - i)); break;
      case row_of::saw: row[i] = static_cast<T>(i % 17); break;
      case row_of::nearly_rising: row[i] = static_cast<T>(i + 1 < n ? i + 1 : 0); break;
    }
  }
  return row;
}

/// a comes before b and is not equal to it.
template <kerngrad::dtype Type, class T>
bool less_in_order(T a, T b) {
  if constexpr (Type == kerngrad::dtype::boolean) return a == 0 && b != 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return b > a;
}
template <kerngrad::dtype Type, class T>
bool equal_in_order(T a, T b) {
  return !less_in_order<Type>(a, b) && !less_in_order<Type>(b, a);
}

}  // namespace kgtest
