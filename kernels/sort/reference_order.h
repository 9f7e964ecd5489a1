// SPDX-License-Identifier: Apache-2.0
// The order of elements by comparing them: NaN after all numbers. For the references alone.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/common/abi.h"

namespace kerngrad::kernels::reference {

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  else return false;
}
template <class T>
bool comes_before(T a, T b) {
  return is_nan(b) ? !is_nan(a) : a < b;
}

// Stored form of an element: one NaN stands for all, and true is 1.
template <dtype Type, class T>
T plain(T x) {
  if constexpr (std::is_floating_point_v<T>) return is_nan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
  else return Type == dtype::boolean ? x != 0 : x;
}

// Orders the indices of a row by their elements, smaller indices first where elements are equal.
template <dtype Type, class T>
auto by_element(const T* x, bool descending) {
  return [x, descending](std::int32_t a, std::int32_t b) {
    const T of_a = plain<Type>(x[a]), of_b = plain<Type>(x[b]);
    if (descending ? comes_before(of_b, of_a) : comes_before(of_a, of_b)) return true;
    if (descending ? comes_before(of_a, of_b) : comes_before(of_b, of_a)) return false;
    return a < b;
  };
}
inline void count_up(std::int32_t* indices, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) indices[i] = static_cast<std::int32_t>(i);
}

}  // namespace kerngrad::kernels::reference
