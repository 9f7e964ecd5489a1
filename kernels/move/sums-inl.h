// SPDX-License-Identifier: Apache-2.0
// Sums of rows of float32 at places, once per target. A sum is carried in double, one row after another in the order of
// the rows, and rounded once: 2^25 ones are 33554432, which float32 alone would not count beyond 2^24.
//
// A sum of two floats is rounded the same way by either arithmetic, because a double has more than twice the digits.
// So places of at most two rows are added in float32, and only others have room for doubles.
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

/// Rows of `inner` elements, `step` apart in x, row r for the place indices[r] - first. Places outside of [0, places)
/// are passed over.
struct placed_rows {
  const float* x;
  const std::int32_t* indices;
  std::int64_t rows, inner, step, first, places;

  template <class F>
  HWY_INLINE void each(F f) const {
    const float* row = x;
    for (std::int64_t r = 0; r < rows; ++r, row += step) {
      const std::uint64_t place = static_cast<std::uint64_t>(indices[r]) - static_cast<std::uint64_t>(first);
      if (place < static_cast<std::uint64_t>(places)) f(row, static_cast<std::int64_t>(place));
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

/// Adds rows to y [places, inner], and has the room for that.
class carried_sums {
 public:
  /// A fresh y begins with zeros. With `counts`, how many rows each place has, the sums become means.
  void add(const placed_rows& all, float* y, bool fresh, const std::int64_t* counts) {
    if (all.places <= all.rows) add_everywhere(all, y, fresh, counts);
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

  void add_everywhere(const placed_rows& all, float* y, bool fresh, const std::int64_t* counts) {
    const std::int64_t n = all.inner;
    double* const sums = sums_.reach(product_of(all.places, n));
    start(y, sums, all.places * n, fresh);
    if (n == 1) all.each([&](const float* row, std::int64_t place) HWY_ATTR { sums[place] += *row; });
    else all.each([&](const float* row, std::int64_t place) HWY_ATTR { add_to(row, sums + place * n, n); });
    if (!counts) return round(sums, y, all.places * n, nullptr);
    for (std::int64_t p = 0; p < all.places; ++p) round(sums + p * n, y + p * n, n, counts + p);
  }

  // Most places have no row. Those of several have doubles, by a number below 0 in `slots`; others have how many rows
  // they have. For a mean, two rows count as several: their sum may be infinite although the mean is not.
  void add_to_several(const placed_rows& all, float* y, bool fresh, const std::int64_t* counts) {
    const std::int64_t n = all.inner;
    const std::int32_t few = fresh && !counts ? 2 : 1;
    std::int32_t* const slots = slots_.reach(all.places);
    std::int64_t* const taken = taken_.reach(all.rows / (few + 1));
    std::fill_n(slots, all.places, 0);
    all.each([&](const float*, std::int64_t place) { slots[place] += slots[place] <= few ? 1 : 0; });
    std::int32_t several = 0;
    all.each([&](const float*, std::int64_t place) {
      if (slots[place] <= few) return;
      taken[several++] = place;
      slots[place] = -several;
    });
    double* const sums = sums_.reach(product_of(several, n));
    if (fresh) std::fill_n(y, all.places * n, 0.f);
    for (std::int32_t k = 0; k < several; ++k) start(y + taken[k] * n, sums + k * n, n, fresh);
    all.each([&](const float* row, std::int64_t place) HWY_ATTR {
      if (slots[place] < 0) add_to(row, sums - (slots[place] + 1) * n, n);
      else add_to(row, y + place * n, n);
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
