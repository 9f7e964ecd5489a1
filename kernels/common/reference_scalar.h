// SPDX-License-Identifier: Apache-2.0
// Parts that the scalar definitions share: elements that may be unaligned, the next wider type.
#pragma once
#include <cstring>
#include <type_traits>

#include "kernels/common/abi.h"

namespace kerngrad::kernels::reference {

template <class T> using wide_t = std::conditional_t<std::is_same_v<T, float>, double, long double>;
template <class T> constexpr bool is_float = std::is_floating_point_v<T>;

template <class T>
T get(const void* p, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(p) + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void put(void* p, std::int64_t i, T value) {
  std::memcpy(static_cast<std::byte*>(p) + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace kerngrad::kernels::reference
