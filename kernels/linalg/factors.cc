// SPDX-License-Identifier: Apache-2.0
// Cholesky and LU factors, solutions, inverses and determinants with one matrix per lane. Golub and Van Loan 2013,
// algorithms 3.4.1 and 4.2.1. Pivots are per lane, so rows are exchanged by blends.
#define KERNGRAD_FILE "kernels/linalg/factors.cc"
#include <kerngrad/kernel.h>

#include <algorithm>
#include <limits>

#include "kernels/linalg/cofactors-inl.h"
#include "kernels/linalg/elimination-inl.h"
#include "kernels/linalg/lanes-inl.h"
#include "kernels/linalg/small.h"

KERNGRAD_BEGIN(kerngrad::linalg::lanes)

template <class T>
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

// ------------------------------------------------------------------------------------------ Cholesky

template <class T, int N>
struct Cholesky {
  // Sets info, and gives the mask of the lanes whose factor is NaN. m(c, r) is row r, column c: the lower triangle.
  static HWY_INLINE auto factor(matrices<T, N> m, vec<T>& info) {
    const tag<T> d;
    const std::int64_t n = m.n();
    const vec<T> zero = hn::Zero(d), one = hn::Set(d, T(1));
    auto nan = hn::Ne(zero, zero);
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c <= r; ++c) nan = hn::Or(nan, hn::IsNaN(m.get(c, r)));
    info = zero;
    for (std::int64_t k = 0; k < n; ++k) {
      vec<T> pivot = m.get(k, k);
      const auto first = hn::And(hn::Not(hn::Gt(pivot, zero)), hn::Eq(info, zero));
      info = hn::IfThenElse(first, hn::Set(d, static_cast<T>(k + 1)), info);
      pivot = hn::Sqrt(pivot);
      m.set(k, k, pivot);
      const vec<T> inverse = hn::Div(one, pivot);
      for (std::int64_t r = k + 1; r < n; ++r) {
        m.set(k, r, hn::Mul(m.get(k, r), inverse));
        m.set(r, k, zero);
      }
      for (std::int64_t r = k + 1; r < n; ++r)
        for (std::int64_t c = k + 1; c <= r; ++c) m.set(c, r, hn::NegMulAdd(m.get(k, r), m.get(k, c), m.get(c, r)));
    }
    const auto wrong = hn::Or(nan, hn::Ne(info, zero));
    info = hn::IfThenZeroElse(nan, info);
    return wrong;
  }
  static void run(const T* a, T* factors, std::int32_t* info, stack s) {
    const std::int64_t n = N ? N : s.size, elements = n * n;
    EachVector<T>(s, [&](std::int64_t i, std::int64_t valid) {
      HWY_ALIGN T work[(N ? N * N : largest * largest) * most_lanes<T>];
      const matrices<T, N> m{work, n};
      Read(a + i * elements, elements, elements, valid, work);
      vec<T> pivot = hn::Zero(tag<T>());
      const auto wrong = factor(m, pivot);
      if (!hn::AllFalse(tag<T>(), wrong))
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < n; ++c)
            m.set(c, r, hn::IfThenElse(wrong, hn::Set(tag<T>(), not_a_number<T>), m.get(c, r)));
      Write(work, elements, valid, factors + i * elements);
      WriteIntegers<T>(pivot, valid, info + i);
    });
  }
};

// ------------------------------------------------------------------------------------------ LU

template <class T, int N>
struct Lu {
  static void run(const T* a, T* factors, std::int32_t* pivots, std::int32_t* info, stack s) {
    const std::int64_t n = N ? N : s.size, elements = n * n;
    EachVector<T>(s, [&](std::int64_t i, std::int64_t valid) {
      HWY_ALIGN T work[(N ? N * N : largest * largest) * most_lanes<T>];
      const matrices<T, N> m{work, n};
      Read(a + i * elements, elements, elements, valid, work);
      vec<T> singular = hn::Zero(tag<T>());
      for (std::int64_t k = 0; k < n; ++k) {
        const vec<T> pivot = PivotOf(m, k);
        WriteIntegers<T>(hn::Add(pivot, hn::Set(tag<T>(), T(1))), valid, pivots + i * n + k, n);
        ExchangeRows(m, k, pivot, 0);
        Eliminate(m, k, singular);
      }
      Write(work, elements, valid, factors + i * elements);
      WriteIntegers<T>(singular, valid, info + i);
    });
  }
};

template <class T, int N>
struct Determinant {
  // By elimination in m.
  static HWY_INLINE vec<T> eliminated(matrices<T, N> m) {
    const tag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    HWY_ALIGN T pivots[(N ? N : largest) * most_lanes<T>];
    HWY_ALIGN T determinants[most_lanes<T>];
    vec<T> unused = hn::Zero(d);
    for (std::int64_t k = 0; k < m.n(); ++k) {
      const vec<T> pivot = PivotOf(m, k);
      ExchangeRows(m, k, pivot, k);
      const auto stays = hn::Eq(pivot, hn::Set(d, static_cast<T>(k)));
      hn::Store(hn::IfThenElse(stays, m.get(k, k), hn::Neg(m.get(k, k))), d, pivots + k * lanes);
      Eliminate(m, k, unused);
    }
    MultiplyPivots(pivots, m.n(), determinants);
    return hn::Load(d, determinants);
  }
  static void run(const T* a, T* y, stack s) {
    if constexpr (has_cofactors<N>) return by_cofactors(a, y, s);
    const std::int64_t n = N ? N : s.size, elements = n * n;
    EachVector<T>(s, [&](std::int64_t i, std::int64_t valid) {
      HWY_ALIGN T work[(N ? N * N : largest * largest) * most_lanes<T>];
      Read(a + i * elements, elements, elements, valid, work);
      Write(eliminated({work, n}), valid, y + i);
    });
  }
  static void by_cofactors(const T* a, T* y, stack s) {
    const tag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto each = [&](std::int64_t i, std::int64_t valid, minors_of<T, N>, vec<T> determinants) HWY_ATTR {
      HWY_ALIGN T last[most_lanes<T>];
      hn::StoreU(determinants, d, HWY_LIKELY(valid == lanes) ? y + i : last);
      if (HWY_UNLIKELY(valid != lanes)) std::copy_n(last, valid, y + i);
    };
    ByCofactors<T, N>(a, s, each, [&](const T* matrices_left, const std::int64_t* numbers, std::int64_t valid) {
      HWY_ALIGN T work[N * N * most_lanes<T>], values[most_lanes<T>];
      Read(matrices_left, N * N, N * N, valid, work);
      hn::Store(eliminated({work, N}), d, values);
      for (std::int64_t l = 0; l < valid; ++l) y[numbers[l]] = values[l];
    });
  }
};

// ------------------------------------------------------------------------------------------ solutions

// Right sides in lanes: row r, column c.
template <class T>
struct sides {
  T* at;
  std::int64_t columns;
  HWY_INLINE T* address(std::int64_t r, std::int64_t c) const {
    return at + (r * columns + c) * static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  }
  HWY_INLINE vec<T> get(std::int64_t r, std::int64_t c) const { return hn::Load(tag<T>(), address(r, c)); }
  HWY_INLINE void set(std::int64_t r, std::int64_t c, vec<T> x) const { hn::Store(x, tag<T>(), address(r, c)); }
};

template <class T, int N>
struct Solve {
  static HWY_INLINE void subtract(sides<T> x, std::int64_t r, std::int64_t k, vec<T> factor) {
    for (std::int64_t c = 0; c < x.columns; ++c) x.set(r, c, hn::NegMulAdd(factor, x.get(k, c), x.get(r, c)));
  }
  static HWY_INLINE void divide(sides<T> x, std::int64_t r, vec<T> pivot) {
    WithDivision<T>(pivot, [&](const auto& divided) HWY_ATTR {
      for (std::int64_t c = 0; c < x.columns; ++c) x.set(r, c, divided(x.get(r, c)));
    });
  }
  static HWY_INLINE void exchange(sides<T> x, std::int64_t n, std::int64_t k, vec<T> pivot) {
    for (std::int64_t r = k + 1; r < n; ++r) {
      const auto here = hn::Eq(pivot, hn::Set(tag<T>(), static_cast<T>(r)));
      for (std::int64_t c = 0; c < x.columns; ++c) {
        const vec<T> y = x.get(k, c), z = x.get(r, c);
        x.set(k, c, hn::IfThenElse(here, z, y)), x.set(r, c, hn::IfThenElse(here, y, z));
      }
    }
  }
  // The factors are P L U = a^T, so that a X = b is U^T L^T P^T X = b.
  static HWY_INLINE void substitute(matrices<T, N> m, const T* pivots, sides<T> x, bool transpose) {
    const tag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t n = m.n();
    if (transpose) {
      for (std::int64_t k = 0; k < n; ++k) exchange(x, n, k, hn::Load(d, pivots + k * lanes));
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t r = k + 1; r < n; ++r) subtract(x, r, k, m.get(r, k));
      for (std::int64_t k = n; k-- > 0;) {
        divide(x, k, m.get(k, k));
        for (std::int64_t r = 0; r < k; ++r) subtract(x, r, k, m.get(r, k));
      }
    } else {
      for (std::int64_t k = 0; k < n; ++k) {
        divide(x, k, m.get(k, k));
        for (std::int64_t r = k + 1; r < n; ++r) subtract(x, r, k, m.get(k, r));
      }
      for (std::int64_t k = n; k-- > 0;)
        for (std::int64_t r = 0; r < k; ++r) subtract(x, r, k, m.get(k, r));
      for (std::int64_t k = n; k-- > 0;) exchange(x, n, k, hn::Load(d, pivots + k * lanes));
    }
  }
  static void run(const T* factors, const std::int32_t* pivots, const T* b, T* x, stack s, right_sides by) {
    const std::int64_t n = N ? N : s.size, elements = n * n, of_b = n * by.columns;
    const tag<T> d;
    EachVector<T>(s, [&](std::int64_t i, std::int64_t valid) {
      HWY_ALIGN T work[(N ? N * N : largest * largest) * most_lanes<T>], rows[(N ? N : largest) * most_lanes<T>],
          right[(N ? N : largest) * largest * most_lanes<T>];
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      Read(factors + i * by.stride_of_factors, by.stride_of_factors, elements, valid, work);
      Read(b + i * by.stride_of_b, by.stride_of_b, of_b, valid, right);
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t k = 0; k < n; ++k)
          rows[k * lanes + l] = static_cast<T>(pivots[(i + std::min(l, valid - 1)) * by.stride_of_pivots + k] - 1);
      const matrices<T, N> m{work, n};
      const sides<T> y{right, by.columns};
      substitute(m, rows, y, by.transpose);
      auto wrong = hn::Eq(m.get(0, 0), hn::Zero(d));
      for (std::int64_t k = 1; k < n; ++k) wrong = hn::Or(wrong, hn::Eq(m.get(k, k), hn::Zero(d)));
      if (!hn::AllFalse(d, wrong))
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < by.columns; ++c)
            y.set(r, c, hn::IfThenElse(wrong, hn::Set(d, not_a_number<T>), y.get(r, c)));
      Write(right, of_b, valid, x + i * of_b);
    });
  }
};

// ------------------------------------------------------------------------------------------ inverses

template <class T, int N>
HWY_INLINE void Multiply(matrices<T, N> m, vec<T> factor) {
  for (std::int64_t r = 0; r < m.n(); ++r)
    for (std::int64_t c = 0; c < m.n(); ++c) m.set(r, c, hn::Mul(m.get(r, c), factor));
}

// Divides matrices with large elements by powers of two, so that sums and the growth of pivots stay in range, and gives
// the inverses of these. They are 1 for matrices with elements that would round, and for all others.
template <class T>
HWY_NOINLINE vec<T> DivideByUnits(matrices<T, 0> m) {
  using limits = std::numeric_limits<T>;
  const tag<T> d;
  constexpr T border = 1 / limits::min() / (1 << 22);
  const vec<T> one = hn::Set(d, T(1)), infinity = hn::Set(d, limits::infinity());
  vec<T> most = hn::Zero(d);
  for (std::int64_t e = 0; e < m.n() * m.n(); ++e) most = hn::Max(most, hn::Abs(m.get(e % m.n(), e / m.n())));
  auto exact = hn::And(hn::Gt(most, hn::Set(d, border)), hn::Lt(most, infinity));
  if (HWY_LIKELY(hn::AllFalse(d, exact))) return one;
  const vec<T> unit = hn::Max(hn::Mul(hn::And(most, infinity), hn::Set(d, 1 / border)), one);
  const vec<T> inverse = hn::Div(one, unit);
  for (std::int64_t r = 0; r < m.n(); ++r)
    for (std::int64_t c = 0; c < m.n(); ++c)
      exact = hn::And(exact, hn::Eq(hn::Mul(hn::Mul(m.get(r, c), inverse), unit), m.get(r, c)));
  const vec<T> factor = hn::IfThenElse(exact, inverse, one);
  Multiply(m, factor);
  return factor;
}

// Replaces the inverses of some lanes by the solutions for the identity. The reciprocal of a pivot overflows there,
// though the inverse need not.
template <class T, class Mask>
HWY_NOINLINE void InvertByFactors(const T* a, std::int64_t n, std::int64_t valid, vec<T> per_unit, T* inverse,
                                  Mask lanes) {
  const tag<T> d;
  HWY_ALIGN T work[largest * largest * most_lanes<T>], pivots[largest * most_lanes<T>],
      right[largest * largest * most_lanes<T>];
  const matrices<T, 0> m{work, n}, to{inverse, n};
  const sides<T> x{right, n};
  Read(a, n * n, n * n, valid, work);
  Multiply(m, per_unit);
  vec<T> unused = hn::Zero(d);
  for (std::int64_t k = 0; k < n; ++k) {
    const vec<T> pivot = PivotOf(m, k);
    hn::Store(pivot, d, pivots + k * static_cast<std::int64_t>(hn::Lanes(d)));
    ExchangeRows(m, k, pivot, 0);
    Eliminate(m, k, unused);
    for (std::int64_t c = 0; c < n; ++c) x.set(k, c, hn::Set(d, T(k == c)));
  }
  // Solves the transposed systems, so that the division by pivots comes last.
  Solve<T, 0>::substitute(m, pivots, x, true);
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c) to.set(r, c, hn::IfThenElse(lanes, x.get(r, c), to.get(r, c)));
}

template <class T, int N>
struct Inverse {
  // One step of Gauss and Jordan's elimination. `least` is the least absolute pivot so far.
  static HWY_INLINE void step(matrices<T, N> m, std::int64_t k, vec<T>& info, vec<T>& least) {
    const tag<T> d;
    const vec<T> zero = hn::Zero(d), one = hn::Set(d, T(1)), pivot = m.get(k, k), size = hn::Abs(pivot);
    const auto first = hn::And(hn::Eq(pivot, zero), hn::Eq(info, zero));
    info = hn::IfThenElse(first, hn::Set(d, static_cast<T>(k + 1)), info);
    least = hn::IfThenElse(hn::Lt(size, least), size, least);  // not NaN, which an overflow leaves
    const vec<T> inverse = hn::Div(one, pivot);
    m.set(k, k, one);
    for (std::int64_t c = 0; c < m.n(); ++c) m.set(k, c, hn::Mul(m.get(k, c), inverse));
    for (std::int64_t r = 0; r < m.n(); ++r) {
      if (r == k) continue;
      const vec<T> factor = m.get(r, k);
      m.set(r, k, zero);
      for (std::int64_t c = 0; c < m.n(); ++c) m.set(r, c, hn::NegMulAdd(factor, m.get(k, c), m.get(r, c)));
    }
  }
  // Overwrites m. Gives the numbers of the first zero pivots, or 0; these matrices get NaN.
  static HWY_INLINE vec<T> eliminated(matrices<T, N> m, vec<T>& least) {
    const std::int64_t n = m.n();
    const tag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    HWY_ALIGN T pivots[(N ? N : largest) * most_lanes<T>];
    vec<T> singular = hn::Zero(d);
    for (std::int64_t k = 0; k < n; ++k) {
      const vec<T> pivot = PivotOf(m, k);
      hn::Store(pivot, d, pivots + k * lanes);
      ExchangeRows(m, k, pivot, 0);
      step(m, k, singular, least);
    }
    // The exchanges of rows are those of columns of the inverse, in reverse order.
    for (std::int64_t k = n; k-- > 0;) {
      const vec<T> pivot = hn::Load(d, pivots + k * lanes);
      for (std::int64_t c = k + 1; c < n; ++c) {
        const auto here = hn::Eq(pivot, hn::Set(d, static_cast<T>(c)));
        for (std::int64_t r = 0; r < n; ++r) {
          const vec<T> x = m.get(r, k), z = m.get(r, c);
          m.set(r, k, hn::IfThenElse(here, z, x)), m.set(r, c, hn::IfThenElse(here, x, z));
        }
      }
    }
    replace(m, hn::Ne(singular, hn::Zero(d)), [d](std::int64_t, std::int64_t) { return hn::Set(d, not_a_number<T>); });
    return singular;
  }
  // Replaces the elements of some lanes by f(row, column).
  template <class Mask, class F>
  static HWY_INLINE void replace(matrices<T, N> m, Mask lanes, const F& f) {
    if (hn::AllFalse(tag<T>(), lanes)) return;
    for (std::int64_t r = 0; r < m.n(); ++r)
      for (std::int64_t c = 0; c < m.n(); ++c) m.set(r, c, hn::IfThenElse(lanes, f(r, c), m.get(r, c)));
  }
  // The inverses of `valid` matrices one after the other go to y.
  static HWY_INLINE vec<T> by_elimination(const T* a, std::int64_t n, std::int64_t valid, T* y) {
    const tag<T> d;
    HWY_ALIGN T work[(N ? N * N : largest * largest) * most_lanes<T>];
    const matrices<T, N> m{work, n};
    const vec<T> one = hn::Set(d, T(1));
    Read(a, n * n, n * n, valid, work);
    const vec<T> per_unit = DivideByUnits<T>({work, n});
    vec<T> least = one;
    const vec<T> singular = eliminated(m, least);
    const auto overflows = hn::And(hn::Eq(singular, hn::Zero(d)), hn::IsInf(hn::Div(one, least)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, overflows))) InvertByFactors<T>(a, n, valid, per_unit, work, overflows);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(per_unit, one)))) Multiply(m, per_unit);
    Write(work, n * n, valid, y);
    return singular;
  }
  static void by_cofactors(const T* a, T* y, std::int32_t* info, stack s) {
    constexpr std::int64_t elements = N * N;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
    std::fill_n(info, s.count, 0);
    // Inlined by force: as a call it takes a quarter more time.
    const auto each = [&](std::int64_t i, std::int64_t valid, minors_of<T, N> m, vec<T> determinants) HWY_ATTR
        __attribute__((always_inline)) {
          HWY_ALIGN T adjugate[elements * most_lanes<T>], last[elements * most_lanes<T>];
          Adjugate<T, N>::write(m, determinants, adjugate);
          WriteWhole(adjugate, elements, HWY_LIKELY(valid == lanes) ? y + i * elements : last);
          if (HWY_UNLIKELY(valid != lanes)) std::copy_n(last, valid * elements, y + i * elements);
        };
    ByCofactors<T, N>(a, s, each, [&](const T* matrices_left, const std::int64_t* numbers, std::int64_t valid) {
      T inverses[elements * most_lanes<T>];
      std::int32_t singular[most_lanes<T>];
      WriteIntegers<T>(by_elimination(matrices_left, N, valid, inverses), valid, singular);
      for (std::int64_t l = 0; l < valid; ++l) {
        std::copy_n(inverses + l * elements, elements, y + numbers[l] * elements);
        info[numbers[l]] = singular[l];
      }
    });
  }
  static void run(const T* a, T* y, std::int32_t* info, stack s) {
    if constexpr (has_cofactors<N>) return by_cofactors(a, y, info, s);
    const std::int64_t n = N ? N : s.size, elements = n * n;
    EachVector<T>(s, [&](std::int64_t i, std::int64_t valid) {
      WriteIntegers<T>(by_elimination(a + i * elements, n, valid, y + i * elements), valid, info + i);
    });
  }
};

// ------------------------------------------------------------------------------------------ functions of each target

#define KG_FACTORS_FOR(T, type)                                                                                     \
  void Cholesky_##type(const T* a, T* factor, std::int32_t* info, stack s) {                                        \
    BySize<Cholesky, T>(s.size, a, factor, info, s);                                                                \
  }                                                                                                                 \
  void Lu_##type(const T* a, T* factors, std::int32_t* pivots, std::int32_t* info, stack s) {                       \
    BySize<Lu, T>(s.size, a, factors, pivots, info, s);                                                             \
  }                                                                                                                 \
  void Solve_##type(const T* factors, const std::int32_t* pivots, const T* b, T* x, stack s, right_sides by) {      \
    BySize<Solve, T>(s.size, factors, pivots, b, x, s, by);                                                         \
  }                                                                                                                 \
  void Inverse_##type(const T* a, T* y, std::int32_t* info, stack s) { BySize<Inverse, T>(s.size, a, y, info, s); } \
  void Determinant_##type(const T* a, T* y, stack s) { BySize<Determinant, T>(s.size, a, y, s); }
KG_FACTORS_FOR(float, float32)
KG_FACTORS_FOR(double, float64)
#undef KG_FACTORS_FOR
KERNGRAD_END

#if HWY_ONCE
namespace kerngrad::linalg::lanes {

#define KG_ENTRIES_FOR(T, type)                                                                                        \
  HWY_EXPORT(Cholesky_##type);                                                                                         \
  HWY_EXPORT(Lu_##type);                                                                                               \
  HWY_EXPORT(Solve_##type);                                                                                            \
  HWY_EXPORT(Inverse_##type);                                                                                          \
  HWY_EXPORT(Determinant_##type);                                                                                      \
  void cholesky(const T* a, T* factor, std::int32_t* info, stack s) {                                                  \
    HWY_DYNAMIC_DISPATCH(Cholesky_##type)(a, factor, info, s);                                                         \
  }                                                                                                                    \
  void lu(const T* a, T* factors, std::int32_t* pivots, std::int32_t* info, stack s) {                                 \
    HWY_DYNAMIC_DISPATCH(Lu_##type)(a, factors, pivots, info, s);                                                      \
  }                                                                                                                    \
  void solve(const T* factors, const std::int32_t* pivots, const T* b, T* x, stack s, right_sides by) {                \
    HWY_DYNAMIC_DISPATCH(Solve_##type)(factors, pivots, b, x, s, by);                                                  \
  }                                                                                                                    \
  void inverse(const T* a, T* y, std::int32_t* info, stack s) { HWY_DYNAMIC_DISPATCH(Inverse_##type)(a, y, info, s); } \
  void determinant(const T* a, T* y, stack s) { HWY_DYNAMIC_DISPATCH(Determinant_##type)(a, y, s); }
KG_ENTRIES_FOR(float, float32)
KG_ENTRIES_FOR(double, float64)
#undef KG_ENTRIES_FOR

}  // namespace kerngrad::linalg::lanes
#endif  // HWY_ONCE
