// SPDX-License-Identifier: Apache-2.0
// Rows combined at their indices, a row of the result at a time in the order of the indices: the results of all
// targets are bitwise identical. Sums and means of float32 are carried in double. Rows of one element are combined
// without vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/combine.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/move/combine.h"
#include "kernels/move/sums-inl.h"
#include "kernels/reduce/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Sums and products are of unsigned integers, which wrap.
template <class T>
struct added_rows {
  using element = T;
  static constexpr T start = 0;
  static HWY_INLINE T join(T a, T b) { return a + b; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) { return hn::Add(a, b); }
};
template <class T>
struct multiplied_rows {
  using element = T;
  static constexpr T start = 1;
  static HWY_INLINE T join(T a, T b) { return a * b; }
  template <class D, class V> static HWY_INLINE V join(D d, V a, V b) { return Product(d, a, b); }
};
/// The greatest or the least: of equal elements the first; hn::Max does not promise to keep NaN.
template <class T, bool Greatest>
struct extreme_rows {
  using element = T;
  using limits = std::numeric_limits<T>;
  static constexpr T start = limits::has_infinity ? (Greatest ? -limits::infinity() : limits::infinity())
                                                  : (Greatest ? limits::lowest() : limits::max());
  static HWY_INLINE T join(T a, T b) { return (Greatest ? b > a : b < a) || b != b ? b : a; }
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    if constexpr (!std::is_floating_point_v<T> && Greatest) return hn::Max(a, b);
    else if constexpr (!std::is_floating_point_v<T>) return hn::Min(a, b);
    else if constexpr (Greatest) return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(b)), b, a);
    else return hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(b)), b, a);
  }
};

/// y[i] combined with x[i].
template <class Op, class T>
HWY_INLINE void combine_row(const T* HWY_RESTRICT x, T* HWY_RESTRICT y, std::int64_t n) {
  const hn::ScalableTag<T> whole;
  const hn::CappedTag<T, 16 / sizeof(T)> part;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(whole)), few = static_cast<std::int64_t>(hn::Lanes(part));
  const auto step = [&](auto d, std::int64_t at)
                        HWY_ATTR { hn::StoreU(Op::join(d, hn::LoadU(d, y + at), hn::LoadU(d, x + at)), d, y + at); };
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes)
    for (int v = 0; v < 4; ++v) step(whole, i + v * lanes);
  for (; i + lanes <= n; i += lanes) step(whole, i);
  for (; i + few <= n; i += few) step(part, i);
  for (; i < n; ++i) y[i] = Op::join(y[i], x[i]);
}

template <class Op, class T = typename Op::element>
void combine_all(const combine_geometry& g, const T* x, const std::int32_t* indices, T* y) {
  if (g.fresh) std::fill_n(y, g.y_rows * g.inner, Op::start);
  const auto first = static_cast<std::uint64_t>(g.first), y_rows = static_cast<std::uint64_t>(g.y_rows);
  const auto each_row = [&](const auto& combine) HWY_ATTR {
    const T* row = x;
    for (std::int64_t r = 0; r < g.rows; ++r, row += g.step)
      if (const std::uint64_t y_row = static_cast<std::uint64_t>(indices[r]) - first; y_row < y_rows)
        combine(row, static_cast<std::int64_t>(y_row));
  };
  if (g.inner == 1) each_row([&](const T* row, std::int64_t y_row) HWY_ATTR { y[y_row] = Op::join(y[y_row], *row); });
  else each_row([&](const T* row, std::int64_t y_row) HWY_ATTR { combine_row<Op>(row, y + y_row * g.inner, g.inner); });
}

/// Counts the indices that name each row of y.
inline void count_rows(const std::int32_t* indices, const combine_geometry& g) {
  std::fill_n(g.counts, g.y_rows, std::int64_t{0});
  for (std::int64_t r = 0; r < g.rows; ++r) {
    const std::int64_t y_row = indices[r] - g.first;
    if (y_row >= 0 && y_row < g.y_rows) ++g.counts[y_row];
  }
}

/// Divides each row of y by that number.
template <class T>
void divide_by_counts(const std::int32_t* indices, T* y, const combine_geometry& g) {
  count_rows(indices, g);
  using Count = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;  // of integers towards 0
  for (std::int64_t y_row = 0; y_row < g.y_rows; ++y_row, y += g.inner) {
    const auto count = static_cast<Count>(g.counts[y_row]);
    for (std::int64_t i = 0; i < g.inner && count > 1; ++i) y[i] = static_cast<T>(y[i] / count);
  }
}

/// Sums and means of float32 are carried in double.
void carry(const combine_geometry& g, const float* x, const std::int32_t* indices, float* y) {
  const bool divides = g.how == combination::mean;
  if (divides) count_rows(indices, g);
  carried_sums().add({x, indices, g.rows, g.inner, g.step, g.first, g.y_rows}, y, g.fresh,
                     divides ? g.counts : nullptr);
}

/// CombineRows. Reference: kernels/move/reference_combine.cc.
template <dtype Type, class T = storage_t<Type>>
void CombineRows(const combine_geometry& g, const T* x, const std::int32_t* indices, T* y) {
  using W = wrapping_t<T>;
  const auto wrapping = [&](auto op) HWY_ATTR {
    combine_all<decltype(op)>(g, reinterpret_cast<const W*>(x), indices, reinterpret_cast<W*>(y));
  };
  if constexpr (std::is_same_v<T, float>)
    if (g.how == combination::add || g.how == combination::mean) return carry(g, x, indices, y);
  switch (g.how) {
    case combination::add: return wrapping(added_rows<W>{});
    case combination::mul: return wrapping(multiplied_rows<W>{});
    case combination::max: return combine_all<extreme_rows<T, true>>(g, x, indices, y);
    case combination::min: return combine_all<extreme_rows<T, false>>(g, x, indices, y);
    case combination::mean: wrapping(added_rows<W>{}); return divide_by_counts(indices, y, g);
  }
}

}  // namespace

KG_DEFINE_KERNELS(KG_COMBINE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_COMBINE_KERNELS)
}  // namespace kerngrad::kernels
#endif
