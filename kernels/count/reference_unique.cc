// SPDX-License-Identifier: Apache-2.0
// Indices are sorted by their rows, in an order that calls equal what the definition does. The first index of each
// group stands for it, and groups are numbered by those indices.
#include "kernels/count/unique.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kerngrad::kernels::reference {
namespace {

// NaN comes after all numbers; booleans are whatever is not 0, and 0.
template <class T, bool kBoolean>
int compared(T a, T b) {
  if constexpr (std::is_same_v<T, text>) return std::string_view(a).compare(b);
  else if constexpr (kBoolean) return (a != 0) - (b != 0);
  else if (a != a || b != b) return (a != a) - (b != b);
  else return (a > b) - (a < b);
}

template <dtype Type, class T = storage_t<Type>>
void Unique(const unique_geometry& g, const T* x, std::int32_t* numbers, std::int32_t* firsts, std::int64_t* distinct) {
  const auto order = [&](std::int32_t a, std::int32_t b) {
    for (std::int64_t i = 0; i < g.width; ++i)
      if (const int c = compared < T, Type == dtype::boolean > (x[a * g.width + i], x[b * g.width + i])) return c;
    return 0;
  };
  std::vector<std::int32_t> indices(static_cast<std::size_t>(g.count));
  std::iota(indices.begin(), indices.end(), 0);
  std::sort(indices.begin(), indices.end(), [&](std::int32_t a, std::int32_t b) {
    const int c = order(a, b);
    return c < 0 || (c == 0 && a < b);
  });
  // Each index's group has the number of the first index in it, until groups have numbers.
  std::int32_t first = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i == 0 || order(indices[i - 1], indices[i]) != 0) first = indices[i];
    numbers[indices[i]] = first;
  }
  std::int32_t found = 0;
  if (g.sorted) {
    std::vector<std::int32_t> number(indices.size());
    for (const std::int32_t index : indices)
      if (numbers[index] == index) firsts[found] = index, number[static_cast<std::size_t>(index)] = found++;
    for (std::int32_t i = 0; i < g.count; ++i) numbers[i] = number[static_cast<std::size_t>(numbers[i])];
    *distinct = found;
    return;
  }
  for (std::int32_t i = 0; i < g.count; ++i) {
    if (numbers[i] == i) firsts[found] = i, numbers[i] = found++;
    else numbers[i] = numbers[numbers[i]];  // of an earlier index, which has its number
  }
  *distinct = found;
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_UNIQUE_KERNELS)

}  // namespace kerngrad::kernels::reference
