// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of the arrays of several ranks, in the order of the ranks.
module;
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
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

template <class T>
void add_to(reduction how, T* y, const T* x, std::size_t n) {
  const std::span<const T> a(y, n), b(x, n);
  const std::span<T> to(y, n);
  if constexpr (has_kernels<T>) {
    switch (how) {
      case reduction::max: return kernel<"Maximum">(a, b, to);
      case reduction::min: return kernel<"Minimum">(a, b, to);
      default: return kernel<"Add">(a, b, to);
    }
  } else {
    const auto each = [&](auto f) { std::ranges::transform(a, b, y, f); };
    switch (how) {
      case reduction::max: return each([](T p, T q) { return std::max(p, q); });
      case reduction::min: return each([](T p, T q) { return std::min(p, q); });
      default: return each([](T p, T q) { return static_cast<T>(p + q); });
    }
  }
}

template <class T>
void divide(T* y, std::size_t n, std::size_t by) {
  if constexpr (std::is_floating_point_v<T>)
    for (std::size_t i = 0; i < n; ++i) y[i] /= static_cast<T>(by);
}

// The sum is in `sum` until a block is complete, because y may be the array of any rank. Stored is what the arrays
// hold, T is what is computed in.
template <class Stored, class T>
void fold_blocks(reduction how, std::span<const void* const> parts, void* y, std::int64_t count) {
  T sum[block], next[std::is_same_v<Stored, T> ? 1 : block];
  for (std::int64_t at = 0; at < count; at += block) {
    const auto n = static_cast<std::size_t>(std::min(block, count - at));
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const Stored* const x = static_cast<const Stored*>(parts[r]) + at;
      if constexpr (std::is_same_v<Stored, T>) {
        if (r == 0) std::copy_n(x, n, sum);
        else add_to(how, sum, x, n);
      } else {
        T* const to = r == 0 ? sum : next;
        for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(x[i]);
        if (r > 0) add_to(how, sum, next, n);
      }
    }
    if (how == reduction::mean) divide(sum, n, parts.size());
    Stored* const to = static_cast<Stored*>(y) + at;
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<Stored>(sum[i]);
  }
}

}  // namespace

void fold(reduction how, dtype type, std::span<const void* const> parts, void* y, std::int64_t count) {
  switch (type) {
    case dtype::float32: return fold_blocks<float, float>(how, parts, y, count);
    case dtype::float64: return fold_blocks<double, double>(how, parts, y, count);
    case dtype::float16: return fold_blocks<float16, float>(how, parts, y, count);
    case dtype::bfloat16: return fold_blocks<bfloat16, float>(how, parts, y, count);
    case dtype::int32: return fold_blocks<std::int32_t, std::int32_t>(how, parts, y, count);
    case dtype::int64: return fold_blocks<std::int64_t, std::int64_t>(how, parts, y, count);
    case dtype::uint8: return fold_blocks<std::uint8_t, std::uint8_t>(how, parts, y, count);
    case dtype::complex64: return fold_blocks<float, float>(how, parts, y, 2 * count);
    case dtype::complex128: return fold_blocks<double, double>(how, parts, y, 2 * count);
    default: fail("kg::mpi::all_reduce", std::string(name_of(type)), "a dtype that can be summed");
  }
}

}  // namespace kerngrad::mpi::detail
