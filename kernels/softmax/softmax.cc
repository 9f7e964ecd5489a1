// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, LogSumExp, SoftmaxCrossEntropy. All shift by the maximum m of the classes, so nothing overflows.
//
// Error: Exp and Log as given in accuracy.h, sums of blocks of 4096 terms in the operand's type, the blocks in double
// (inner == 1); a Softmax is right to about 2 |x - m| + 8 units in the last place at worst, the others to about 8 units
// of the largest intermediate value. NaN in a row, or +inf in a row, or only -inf, makes the whole row of Softmax and
// LogSoftmax NaN, as the definition does. LogSumExp: NaN gives NaN, +inf gives +inf, only -inf or no class gives -inf.
// SoftmaxCrossEntropy: a label 0 at a logit -inf gives NaN (0 * -inf). Reference: kernels/softmax/reference_softmax.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax/softmax.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/math-inl.h"
#include "kernels/reduce/reduce-inl.h"
#include "kernels/softmax/exp-below-inl.h"
#include "kernels/softmax/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t block = 4096;

template <class T> inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

// Loads and stores of up to a vector, used where the number of columns is not known to fill one.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* p, std::size_t n) {
  return n >= hn::Lanes(d) ? hn::LoadU(d, p) : load_tail(d, p, n, T{0});
}
template <class D, class V, class T>
HWY_INLINE void store_some(D d, V v, T* p, std::size_t n) {
  if (n >= hn::Lanes(d)) {
    hn::StoreU(v, d, p);
  } else {
    store_first(d, v, p, n);
  }
}

// The maximum of a row. Its result for NaN does not matter: the exponentials meet the NaN again.
template <class T>
T row_maximum(const T* x, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  auto v0 = hn::Set(d, minus_infinity<T>), v1 = v0, v2 = v0, v3 = v0;
  std::size_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    v0 = hn::Max(v0, hn::LoadU(d, x + i));
    v1 = hn::Max(v1, hn::LoadU(d, x + i + L));
    v2 = hn::Max(v2, hn::LoadU(d, x + i + 2 * L));
    v3 = hn::Max(v3, hn::LoadU(d, x + i + 3 * L));
  }
  for (; i + L <= n; i += L) v0 = hn::Max(v0, hn::LoadU(d, x + i));
  if (i < n) v1 = hn::Max(v1, load_tail(d, x + i, n - i, minus_infinity<T>));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(v0, v1), hn::Max(v2, v3))));
}

// The sum of f(vector, index) over a row, blocks of 4096 in T, the blocks in double. f sees every element once, in
// vectors of `Lanes(d)` elements and at last `tail` elements; it returns what to add.
template <class T, class F>
HWY_INLINE double row_sum(std::size_t n, F f) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  double total = 0;
  for (std::size_t start = 0; start < n; start += block) {
    const std::size_t end = std::min(n, start + block);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    std::size_t i = start;
    for (; i + 4 * L <= end; i += 4 * L) {
      s0 = hn::Add(s0, f.whole(d, i));
      s1 = hn::Add(s1, f.whole(d, i + L));
      s2 = hn::Add(s2, f.whole(d, i + 2 * L));
      s3 = hn::Add(s3, f.whole(d, i + 3 * L));
    }
    for (; i + L <= end; i += L) s0 = hn::Add(s0, f.whole(d, i));
    if (i < end) s1 = hn::Add(s1, f.tail(d, i, end - i));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)))));
  }
  return total;
}

// exp(x - shift), kept in y if there is one. Below: the shift is the maximum.
template <class T, bool Below, bool Keep>
struct exponentials {
  template <class D, class V> static HWY_INLINE V exponential(D d, V v) {
    if constexpr (Below) {
      return exp_below(d, v);
    } else {
      return Exp(d, v);
    }
  }

  const T* x;
  T* y;
  T shift;
  template <class D> HWY_INLINE hn::Vec<D> whole(D d, std::size_t i) const {
    const auto e = exponential(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, shift)));
    if constexpr (Keep) hn::StoreU(e, d, y + i);
    return e;
  }
  template <class D> HWY_INLINE hn::Vec<D> tail(D d, std::size_t i, std::size_t n) const {
    // Lanes without an element get exp(0), the fast path of Exp, and count as 0.
    const auto e = exponential(d, hn::Sub(load_tail(d, x + i, n, shift), hn::Set(d, shift)));
    if constexpr (Keep) store_first(d, e, y + i, n);
    return hn::IfThenElseZero(hn::FirstN(d, n), e);
  }
};

// labels * (x - shift), without the logarithm.
template <class T>
struct cross_terms {
  const T* x;
  const T* labels;
  T shift, log_sum;
  template <class D> HWY_INLINE hn::Vec<D> term(D d, hn::Vec<D> v, hn::Vec<D> label) const {
    return hn::Mul(label, hn::Sub(hn::Sub(v, hn::Set(d, shift)), hn::Set(d, log_sum)));
  }
  template <class D> HWY_INLINE hn::Vec<D> whole(D d, std::size_t i) const {
    return term(d, hn::LoadU(d, x + i), hn::LoadU(d, labels + i));
  }
  template <class D> HWY_INLINE hn::Vec<D> tail(D d, std::size_t i, std::size_t n) const {
    return term(d, load_tail(d, x + i, n, shift), load_tail(d, labels + i, n, T{0}));
  }
};

template <class T>
HWY_INLINE T logarithm(double sum) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(Log(d, hn::Set(d, static_cast<T>(sum))));
}

// y = f(x) over a row; y may be x.
template <class T, class F>
HWY_INLINE void map_row(const T* x, T* y, std::size_t n, F f) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + L <= n; i += L) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < n) store_first(d, f(load_tail(d, x + i, n - i, T{0})), y + i, n - i);
}

// Up to one vector of classes stays in registers.
template <class T, bool Logarithm>
HWY_INLINE void short_row(const T* x, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  const auto v = n == hn::Lanes(d) ? hn::LoadU(d, x) : load_tail(d, x, n, minus_infinity<T>);
  const auto valid = hn::FirstN(d, n);
  const auto shifted = hn::IfThenElseZero(valid, hn::Sub(v, hn::MaxOfLanes(d, v)));
  const auto e = hn::IfThenElseZero(valid, Exp(d, shifted));
  const auto sum = hn::SumOfLanes(d, e);
  if constexpr (Logarithm) {
    store_some(d, hn::Sub(shifted, Log(d, sum)), y, n);
  } else {
    store_some(d, hn::Div(e, sum), y, n);
  }
}

template <class T, bool Logarithm>
void softmax_row(const T* x, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  if (n <= hn::Lanes(d)) return short_row<T, Logarithm>(x, y, n);
  const T maximum = row_maximum(x, n);
  if constexpr (Logarithm) {
    const T log_sum = logarithm<T>(row_sum<T>(n, exponentials<T, true, false>{x, nullptr, maximum}));
    const auto m = hn::Set(d, maximum), l = hn::Set(d, log_sum);
    map_row(x, y, n, [&](auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, m), l); });
  } else {
    const double sum = row_sum<T>(n, exponentials<T, true, true>{x, y, maximum});
    const auto factor = hn::Set(d, static_cast<T>(1.0 / sum));
    map_row(y, y, n, [&](auto v) HWY_ATTR { return hn::Mul(v, factor); });
  }
}

// An infinite or NaN maximum is no shift: exp then gives the right infinities itself.
template <class D, class V>
HWY_INLINE V finite_or_zero(D d, V m) {
  const auto infinity = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
  return hn::IfThenElseZero(hn::Lt(hn::Abs(m), infinity), m);
}

enum class wanted { softmax, log_softmax, log_sum_exp };

// Calls f(first column, how many of them) for the vectors of a strip of columns.
template <class T, class F>
HWY_INLINE void each_vector(std::size_t width, F f) {
  const std::size_t L = hn::Lanes(hn::ScalableTag<T>());
  std::size_t j = 0;
  for (; j + L <= width; j += L) f(j, L);
  if (j < width) f(j, width - j);
}

// x is [count, inner]; the first `width` <= strip columns of it, row by row. Maxima and sums stay in the first cache;
// the sum of a column is taken in blocks of 4096 terms. Array elements beyond the columns do not matter.
constexpr std::size_t strip_bytes = 2048;
template <wanted What, class T>
void columns(const T* x, T* y, std::size_t count, std::size_t inner, std::size_t width) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t strip = strip_bytes / sizeof(T);
  HWY_ALIGN T maxima[strip], parts[strip], sums[strip];
  const std::size_t filled = hwy::RoundUpTo(width, hn::Lanes(d));
  std::fill_n(maxima, filled, minus_infinity<T>);
  std::fill_n(sums, filled, T{0});
  for (std::size_t r = 0; r < count; ++r) {
    each_vector<T>(width, [&](std::size_t j, std::size_t n) HWY_ATTR {
      hn::Store(hn::Max(hn::Load(d, maxima + j), load_some(d, x + r * inner + j, n)), d, maxima + j);
    });
  }
  if constexpr (What == wanted::log_sum_exp) {
    each_vector<T>(width, [&](std::size_t j, std::size_t)
                              HWY_ATTR { hn::Store(finite_or_zero(d, hn::Load(d, maxima + j)), d, maxima + j); });
  }
  for (std::size_t start = 0; start < count; start += block) {
    std::fill_n(parts, filled, T{0});
    for (std::size_t r = start; r < std::min(count, start + block); ++r) {
      each_vector<T>(width, [&](std::size_t j, std::size_t n) HWY_ATTR {
        const auto e = Exp(d, hn::Sub(load_some(d, x + r * inner + j, n), hn::Load(d, maxima + j)));
        if constexpr (What == wanted::softmax) store_some(d, e, y + r * inner + j, n);
        hn::Store(hn::Add(hn::Load(d, parts + j), e), d, parts + j);
      });
    }
    each_vector<T>(width, [&](std::size_t j, std::size_t) HWY_ATTR {
      hn::Store(hn::Add(hn::Load(d, sums + j), hn::Load(d, parts + j)), d, sums + j);
    });
  }
  each_vector<T>(width, [&](std::size_t j, std::size_t n) HWY_ATTR {
    const auto sum = hn::Load(d, sums + j);
    if constexpr (What == wanted::log_sum_exp) {
      store_some(d, hn::Add(hn::Load(d, maxima + j), Log(d, sum)), y + j, n);
    } else {
      hn::Store(What == wanted::softmax ? hn::Div(hn::Set(d, T{1}), sum) : Log(d, sum), d, sums + j);
    }
  });
  if constexpr (What == wanted::log_sum_exp) return;
  for (std::size_t r = 0; r < count; ++r) {
    each_vector<T>(width, [&](std::size_t j, std::size_t n) HWY_ATTR {
      const auto last = hn::Load(d, sums + j);
      if constexpr (What == wanted::softmax) {
        store_some(d, hn::Mul(load_some(d, y + r * inner + j, n), last), y + r * inner + j, n);
      } else {
        const auto shifted = hn::Sub(load_some(d, x + r * inner + j, n), hn::Load(d, maxima + j));
        store_some(d, hn::Sub(shifted, last), y + r * inner + j, n);
      }
    });
  }
}

// y[r] = shift[r] + log(sum[r]) for a few rows: one logarithm for a vector of them.
constexpr std::size_t row_group = 64;
template <class T>
HWY_INLINE void logarithms(const T* sums, std::size_t n, T* y) {
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) hn::Store(Log(d, hn::Load(d, sums + i)), d, y + i);
}

// Rows of x[., count], inner == 1.
template <class T>
void log_sum_exp_rows(const T* x, T* y, std::size_t rows, std::size_t count) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T shifts[row_group], sums[row_group], logs[row_group];
  std::fill_n(sums, row_group, T{1});
  for (std::size_t r0 = 0; r0 < rows; r0 += row_group) {
    const std::size_t now = std::min(row_group, rows - r0);
    for (std::size_t r = 0; r < now; ++r, x += count) {
      const T maximum = row_maximum(x, count);
      shifts[r] = hn::GetLane(finite_or_zero(d, hn::Set(d, maximum)));
      const double sum = shifts[r] == maximum ? row_sum<T>(count, exponentials<T, true, false>{x, nullptr, maximum})
                                              : row_sum<T>(count, exponentials<T, false, false>{x, nullptr, shifts[r]});
      sums[r] = static_cast<T>(sum);
    }
    logarithms(sums, now, logs);
    for (std::size_t r = 0; r < now; ++r) y[r0 + r] = shifts[r] + logs[r];
  }
}

template <wanted What, class T>
void run_axis(const reduce_geometry& g, const T* x, T* y) {
  const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner);
  constexpr std::size_t strip = strip_bytes / sizeof(T);
  if (count == 0 && What != wanted::log_sum_exp) return;
  if constexpr (What == wanted::log_sum_exp) {
    if (inner == 1) return log_sum_exp_rows(x, y, static_cast<std::size_t>(g.outer), count);
  }
  const std::size_t y_step = What == wanted::log_sum_exp ? inner : count * inner;
  for (std::int64_t o = 0; o < g.outer; ++o, x += count * inner, y += y_step) {
    if (inner != 1) {
      for (std::size_t j = 0; j < inner; j += strip) {
        columns<What>(x + j, y + j, count, inner, std::min(inner - j, strip));
      }
    } else if constexpr (What != wanted::log_sum_exp) {
      softmax_row<T, What == wanted::log_softmax>(x, y, count);
    }
  }
}

template <dtype Type, class T = storage_t<Type>>
void Softmax(const reduce_geometry& g, const T* x, T* y) {
  run_axis<wanted::softmax>(g, x, y);
}
template <dtype Type, class T = storage_t<Type>>
void LogSoftmax(const reduce_geometry& g, const T* x, T* y) {
  run_axis<wanted::log_softmax>(g, x, y);
}
template <dtype Type, class T = storage_t<Type>>
void LogSumExp(const reduce_geometry& g, const T* x, T* y) {
  run_axis<wanted::log_sum_exp>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void SoftmaxCrossEntropy(const reduce_geometry& g, const T* x, const T* labels, T* y) {
  const std::size_t n = static_cast<std::size_t>(g.count), rows = static_cast<std::size_t>(g.outer);
  HWY_ALIGN T shifts[row_group], sums[row_group], logs[row_group];
  std::fill_n(sums, row_group, T{1});
  // As many rows as fit the first cache, so that the second look at them is a cheap one.
  const std::size_t together = std::clamp<std::size_t>(16384 / (n * sizeof(T) + 1), 1, row_group);
  for (std::size_t first = 0; first < rows; first += together) {
    const std::size_t now = std::min(together, rows - first);
    for (std::size_t r = 0; r < now; ++r) {
      const T* row = x + (first + r) * n;
      shifts[r] = row_maximum(row, n);
      sums[r] = static_cast<T>(row_sum<T>(n, exponentials<T, true, false>{row, nullptr, shifts[r]}));
    }
    logarithms(sums, now, logs);
    for (std::size_t r = 0; r < now; ++r) {
      const std::size_t at = (first + r) * n;
      y[first + r] = static_cast<T>(0.0 - row_sum<T>(n, cross_terms<T>{x + at, labels + at, shifts[r], logs[r]}));
    }
  }
}
}  // namespace

KG_DEFINE_KERNELS(KG_SOFTMAX_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_SOFTMAX_KERNELS)

}  // namespace kerngrad::kernels
#endif
