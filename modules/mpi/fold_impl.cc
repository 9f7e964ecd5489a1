// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of the arrays of several ranks, in the order of the ranks.
module;
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi::detail {
namespace {

// Elements that are folded at a time: they stay in the nearest cache.
constexpr std::int64_t block = 2048;

template <class T>
constexpr bool has_kernels = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
                             std::is_same_v<T, std::int64_t>;

// y = a + b, or an extreme. y may be a or b.
template <class T>
void add(reduction how, const T* a, const T* b, T* y, std::size_t n) {
  const std::span<const T> p(a, n), q(b, n);
  const std::span<T> to(y, n);
  if constexpr (has_kernels<T>) {
    switch (how) {
      case reduction::max: return kernel<"Maximum">(p, q, to);
      case reduction::min: return kernel<"Minimum">(p, q, to);
      default: return kernel<"Add">(p, q, to);
    }
  } else {
    const auto each = [&](auto f) { std::ranges::transform(p, q, y, f); };
    switch (how) {
      case reduction::max: return each([](T s, T t) { return std::max(s, t); });
      case reduction::min: return each([](T s, T t) { return std::min(s, t); });
      default: return each([](T s, T t) { return static_cast<T>(s + t); });
    }
  }
}

template <class T>
void divide(T* y, std::size_t n, std::size_t by) {
  if constexpr (std::is_floating_point_v<T>)
    for (std::size_t i = 0; i < n; ++i) y[i] /= static_cast<T>(by);
}

// The sum of a block is in `sum` until the last array is added, because y may be the array of any rank.
template <class T>
void fold_blocks(reduction how, std::span<const void* const> parts, void* y, std::int64_t count) {
  T sum[block];
  for (std::int64_t at = 0; at < count; at += block) {
    const auto n = static_cast<std::size_t>(std::min(block, count - at));
    const auto part = [&](std::size_t r) { return static_cast<const T*>(parts[r]) + at; };
    T* const to = static_cast<T*>(y) + at;
    if (parts.size() == 1) std::copy_n(part(0), n, to);
    for (std::size_t r = 1; r < parts.size(); ++r)
      add(how, r == 1 ? part(0) : sum, part(r), r + 1 == parts.size() ? to : sum, n);
    if (how == reduction::mean) divide(to, n, parts.size());
  }
}

// Halves are added in float32, and rounded once.
template <class Half>
void fold_halves(reduction how, std::span<const void* const> parts, void* y, std::int64_t count) {
  float sum[block], next[block];
  for (std::int64_t at = 0; at < count; at += block) {
    const auto n = static_cast<std::size_t>(std::min(block, count - at));
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const Half* const x = static_cast<const Half*>(parts[r]) + at;
      float* const to = r == 0 ? sum : next;
      for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<float>(x[i]);
      if (r > 0) add(how, sum, next, sum, n);
    }
    if (how == reduction::mean) divide(sum, n, parts.size());
    Half* const to = static_cast<Half*>(y) + at;
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<Half>(sum[i]);
  }
}

}  // namespace

void fold(reduction how, dtype type, std::span<const void* const> parts, void* y, std::int64_t count) {
  visit(type, [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    if constexpr (!summed.has(Type))
      fail("kg::mpi::all_reduce", std::string(name_of(Type)), "one of " + to_string(summed));
    else if constexpr (kind_of(Type) == dtype_kind::half) fold_halves<T>(how, parts, y, count);
    else if constexpr (kind_of(Type) == dtype_kind::complex) fold_blocks<decltype(T::real)>(how, parts, y, 2 * count);
    else fold_blocks<T>(how, parts, y, count);
  });
}

}  // namespace kerngrad::mpi::detail
