// SPDX-License-Identifier: Apache-2.0
// Sums of rows of float32 by index, once per target. A sum is carried in double, one row after another in the order of
// the rows, and rounded once: 2^25 ones are 33554432, which float32 alone would not count beyond 2^24.
//
// A sum of two floats is rounded the same way by either arithmetic, because a double has more than twice the digits.
// So results of at most two rows are added in float32, and only others have room for doubles.
#if defined(KERNGRAD_KERNELS_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_SUMS_INL_H_
#undef KERNGRAD_KERNELS_SUMS_INL_H_
#else
#define KERNGRAD_KERNELS_SUMS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of `inner` elements, `step` apart in x, row r for the row indices[r] - first of y. Indices outside of
/// [0, y_rows) are passed over.
struct indexed_rows {
  const float* x;
  const std::int32_t* indices;
  std::int64_t rows, inner, step, first, y_rows;

  template <class F>
  HWY_INLINE void each(F f) const {
    const float* row = x;
    for (std::int64_t r = 0; r < rows; ++r, row += step) {
      const std::uint64_t y_row = static_cast<std::uint64_t>(indices[r]) - static_cast<std::uint64_t>(first);
      if (y_row < static_cast<std::uint64_t>(y_rows)) f(row, static_cast<std::int64_t>(y_row));
    }
  }
};

/// sums[i] += x[i], of doubles and of floats.
HWY_INLINE void add_to(const float* HWY_RESTRICT x, double* HWY_RESTRICT sums, std::int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::PromoteTo(d, hn::LoadU(floats, x + i))), d, sums + i);
  for (; i < n; ++i) sums[i] += static_cast<double>(x[i]);
}
HWY_INLINE void add_to(const float* HWY_RESTRICT x, float* HWY_RESTRICT sums, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) sums[i] += x[i];
}

/// Adds rows to y [y_rows, inner], and has the room for that.
class carried_sums {
 public:
  /// A fresh y begins with zeros. With `counts`, how many rows each row of y sums, the sums become means.
  void add(const indexed_rows& all, float* y, bool fresh, const std::int64_t* counts) {
    if (all.y_rows <= all.rows) add_everywhere(all, y, fresh, counts);
    else add_to_several(all, y, fresh, counts);
  }

 private:
  static HWY_INLINE void start(const float* y, double* sums, std::int64_t n, bool fresh) {
    if (fresh) std::fill_n(sums, n, 0.0);
    else std::copy_n(y, n, sums);
  }
  // One by one: where Highway emulates DemoteTo, what is too large for a float becomes its largest.
  static HWY_INLINE void round(const double* HWY_RESTRICT sums, float* HWY_RESTRICT y, std::int64_t n,
                               const std::int64_t* count) {
    const double rows = count && *count > 1 ? static_cast<double>(*count) : 1;
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(rows == 1 ? sums[i] : sums[i] / rows);
  }

  void add_everywhere(const indexed_rows& all, float* y, bool fresh, const std::int64_t* counts) {
    const std::int64_t n = all.inner;
    double* const sums = sums_.reach(product_of(all.y_rows, n));
    start(y, sums, all.y_rows * n, fresh);
    if (n == 1) all.each([&](const float* row, std::int64_t y_row) HWY_ATTR { sums[y_row] += *row; });
    else all.each([&](const float* row, std::int64_t y_row) HWY_ATTR { add_to(row, sums + y_row * n, n); });
    if (!counts) return round(sums, y, all.y_rows * n, nullptr);
    for (std::int64_t p = 0; p < all.y_rows; ++p) round(sums + p * n, y + p * n, n, counts + p);
  }

  // Most rows of y sum no row. Those of several have doubles, by a number below 0 in `slots`; others have how many rows
  // they sum. For a mean, two rows count as several: their sum may be infinite although the mean is not.
  void add_to_several(const indexed_rows& all, float* y, bool fresh, const std::int64_t* counts) {
    const std::int64_t n = all.inner;
    const std::int32_t few = fresh && !counts ? 2 : 1;
    std::int32_t* const slots = slots_.reach(all.y_rows);
    std::int64_t* const taken = taken_.reach(all.rows / (few + 1));
    std::fill_n(slots, all.y_rows, 0);
    all.each([&](const float*, std::int64_t y_row) { slots[y_row] += slots[y_row] <= few ? 1 : 0; });
    std::int32_t several = 0;
    all.each([&](const float*, std::int64_t y_row) {
      if (slots[y_row] <= few) return;
      taken[several++] = y_row;
      slots[y_row] = -several;
    });
    double* const sums = sums_.reach(product_of(several, n));
    if (fresh) std::fill_n(y, all.y_rows * n, 0.f);
    for (std::int32_t k = 0; k < several; ++k) start(y + taken[k] * n, sums + k * n, n, fresh);
    all.each([&](const float* row, std::int64_t y_row) HWY_ATTR {
      if (slots[y_row] < 0) add_to(row, sums - (slots[y_row] + 1) * n, n);
      else add_to(row, y + y_row * n, n);
    });
    for (std::int32_t k = 0; k < several; ++k)
      round(sums + k * n, y + taken[k] * n, n, counts ? counts + taken[k] : nullptr);
  }

  scratch<double> sums_;
  scratch<std::int32_t> slots_;
  scratch<std::int64_t> taken_;
};

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KERNGRAD_KERNELS_SUMS_INL_H_
