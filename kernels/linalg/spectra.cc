// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of symmetric matrices with one matrix per lane, by cyclic Jacobi rotations (Golub and
// Van Loan 2013, section 8.5). A rotation leaves lanes alone whose element is zero to rounding, so a matrix's result
// does not depend on those next to it.
#define KERNGRAD_FILE "kernels/linalg/spectra.cc"
#include <kerngrad/kernel.h>

#include <algorithm>
#include <limits>

#include "kernels/linalg/lanes-inl.h"
#include "kernels/linalg/small.h"

KERNGRAD_BEGIN(kerngrad::linalg::lanes)

template <class T, int N>
struct Eigh {
  // Convergence is quadratic: 6 to 8 sweeps do. More show that it never comes.
  static constexpr int most_sweeps = 40;

  // The powers of two at or below the largest element, so that squares stay in range. Both they and their inverses are
  // normal numbers.
  static HWY_INLINE vec<T> scale_of(matrices<T, N> m) {
    const tag<T> d;
    constexpr T least = std::numeric_limits<T>::min();
    vec<T> most = hn::Zero(d);
    for (std::int64_t r = 0; r < m.n(); ++r)
      for (std::int64_t c = 0; c <= r; ++c) most = hn::Max(most, hn::Abs(m.get(c, r)));
    const vec<T> power = hn::And(most, hn::Set(d, std::numeric_limits<T>::infinity()));
    return hn::Min(hn::Max(power, hn::Set(d, least)), hn::Set(d, 1 / least));
  }
  static HWY_INLINE auto not_finite(matrices<T, N> m) {
    const tag<T> d;
    auto found = hn::Ne(hn::Zero(d), hn::Zero(d));
    for (std::int64_t r = 0; r < m.n(); ++r)
      for (std::int64_t c = 0; c < m.n(); ++c) found = hn::Or(found, hn::Not(hn::IsFinite(m.get(c, r))));
    return found;
  }

  // (x, y) turned by the angle with cosine c and sine s.
  static HWY_INLINE void turn(T* x, T* y, vec<T> c, vec<T> s) {
    const tag<T> d;
    const vec<T> a = hn::Load(d, x), b = hn::Load(d, y);
    hn::Store(hn::NegMulAdd(s, b, hn::Mul(c, a)), d, x), hn::Store(hn::MulAdd(s, a, hn::Mul(c, b)), d, y);
  }
  // Elements off the diagonal that are not zero to rounding.
  static HWY_INLINE auto large(vec<T> off) {
    return hn::Gt(hn::Abs(off), hn::Set(tag<T>(), std::numeric_limits<T>::epsilon() / 4));
  }
  static HWY_INLINE auto any_large(matrices<T, N> m) {
    auto found = hn::Ne(hn::Zero(tag<T>()), hn::Zero(tag<T>()));
    for (std::int64_t q = 1; q < m.n(); ++q)
      for (std::int64_t p = 0; p < q; ++p) found = hn::Or(found, large(m.get(p, q)));
    return found;
  }
  // Makes element (q, p) of the lower triangle zero, p < q. The cosine comes from the root and not from the tangent, so
  // that both quotients are computed at the same time.
  template <bool Vectors>
  static HWY_INLINE void rotate(matrices<T, N> m, matrices<T, N> vectors, std::int64_t p, std::int64_t q) {
    const tag<T> d;
    const vec<T> off = m.get(p, q), low = m.get(p, p), high = m.get(q, q), one = hn::Set(d, T(1));
    const auto active = large(off);
    const vec<T> twice = hn::Add(off, off), apart = hn::Sub(high, low), distance = hn::Abs(apart);
    const vec<T> root = hn::IfThenElse(active, hn::Sqrt(hn::MulAdd(apart, apart, hn::Mul(twice, twice))), one);
    const vec<T> sum = hn::Add(distance, root);
    const vec<T> t = hn::IfThenElseZero(active, hn::Div(twice, hn::CopySign(sum, apart)));
    const vec<T> c = hn::IfThenElse(active, hn::Sqrt(hn::Div(sum, hn::Add(root, root))), one), s = hn::Mul(t, c);
    m.set(p, p, hn::NegMulAdd(t, off, low)), m.set(q, q, hn::MulAdd(t, off, high));
    m.set(p, q, hn::IfThenZeroElse(active, off));
    for (std::int64_t r = 0; r < p; ++r) turn(m.address(r, p), m.address(r, q), c, s);
    for (std::int64_t r = p + 1; r < q; ++r) turn(m.address(p, r), m.address(r, q), c, s);
    for (std::int64_t r = q + 1; r < m.n(); ++r) turn(m.address(p, r), m.address(q, r), c, s);
    if constexpr (Vectors)
      for (std::int64_t r = 0; r < m.n(); ++r) turn(vectors.address(p, r), vectors.address(q, r), c, s);
  }
  // Bubbles the eigenvalues of the diagonal into order, and the vectors with them.
  template <bool Vectors>
  static HWY_INLINE void sort(matrices<T, N> m, matrices<T, N> vectors) {
    for (std::int64_t last = m.n() - 1; last > 0; --last)
      for (std::int64_t k = 0; k < last; ++k) {
        const vec<T> x = m.get(k, k), y = m.get(k + 1, k + 1);
        m.set(k, k, hn::Min(x, y)), m.set(k + 1, k + 1, hn::Max(x, y));
        if constexpr (Vectors) {
          const auto turned = hn::Gt(x, y);
          for (std::int64_t r = 0; r < m.n(); ++r) {
            const vec<T> u = vectors.get(k, r), v = vectors.get(k + 1, r);
            vectors.set(k, r, hn::IfThenElse(turned, v, u)), vectors.set(k + 1, r, hn::IfThenElse(turned, u, v));
          }
        }
      }
  }
  // Vectors of matrices that are diagonalized in turns. A rotation waits for two quotients and two roots one after the
  // other, and rotations of other matrices fill that time. Larger matrices have enough other work.
  static constexpr int most_turns = N >= 2 && N <= 4 ? 4 : 1;
  static constexpr std::int64_t most = (N ? N * N : largest * largest) * most_lanes<T>;

  template <int Turns>
  static HWY_INLINE bool all_small(T (*work)[most], std::int64_t n) {
    bool small = true;
    for (int k = 0; k < Turns; ++k) small = small && hn::AllFalse(tag<T>(), any_large({work[k], n}));
    return small;
  }
  template <bool Vectors, int Turns>
  static HWY_INLINE void diagonalize(T (*work)[most], T* turned, std::int64_t n) {
    for (int sweep = 0; sweep < most_sweeps && !all_small<Turns>(work, n); ++sweep)
      for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = p + 1; q < n; ++q)
          for (int k = 0; k < Turns; ++k) rotate<Vectors>({work[k], n}, {turned, n}, p, q);
  }
  // Reads matrices and divides them by their scales. Matrices that are not finite become zeros with the scale NaN.
  static HWY_INLINE void read(const T* a, std::int64_t n, std::int64_t valid, T* work, T* scales) {
    const tag<T> d;
    const matrices<T, N> m{work, n};
    Read(a, n * n, n * n, valid, work);
    const auto wrong = not_finite(m);
    const vec<T> scale = scale_of(m), inverse = hn::Div(hn::Set(d, T(1)), scale);
    hn::Store(hn::IfThenElse(wrong, hn::Set(d, std::numeric_limits<T>::quiet_NaN()), scale), d, scales);
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c <= r; ++c) m.set(c, r, hn::IfThenZeroElse(wrong, hn::Mul(m.get(c, r), inverse)));
  }

  template <bool Vectors, int Turns>
  static HWY_INLINE void all(const T* a, T* values, T* vectors, std::int32_t* info, stack s) {
    const std::int64_t n = N ? N : s.size, elements = n * n;
    const tag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < s.count; i += Turns * lanes) {
      HWY_ALIGN T work[Turns][most], scales[Turns][most_lanes<T>], turned[Vectors ? most : 1],
          diagonal[(N ? N : largest) * most_lanes<T>];
      const auto valid = [&](int k) { return std::min(lanes, s.count - i - k * lanes); };
      for (int k = 0; k < Turns; ++k) read(a + (i + k * lanes) * elements, n, valid(k), work[k], scales[k]);
      const matrices<T, N> v{turned, n};
      if constexpr (Vectors)
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t c = 0; c < n; ++c) v.set(r, c, hn::Set(d, r == c ? T(1) : T(0)));
      diagonalize<Vectors, Turns>(work, turned, n);
      for (int k = 0; k < Turns; ++k) {
        const std::int64_t first = i + k * lanes;
        const matrices<T, N> m{work[k], n};
        const vec<T> failed = hn::IfThenElseZero(any_large(m), hn::Set(d, T(1)));
        sort<Vectors>(m, v);
        const vec<T> not_a_number = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
        const vec<T> scale = hn::IfThenElse(hn::Eq(failed, hn::Zero(d)), hn::Load(d, scales[k]), not_a_number);
        for (std::int64_t j = 0; j < n; ++j) hn::Store(hn::Mul(m.get(j, j), scale), d, diagonal + j * lanes);
        Write(diagonal, n, valid(k), values + first * n);
        WriteIntegers<T>(failed, valid(k), info + first);
        if constexpr (Vectors) {
          // Row r of `work` gets element r of each vector.
          const auto nan = hn::IsNaN(scale);
          for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t j = 0; j < n; ++j) m.set(j, r, hn::IfThenElse(nan, not_a_number, v.get(j, r)));
          Write(work[k], elements, valid(k), vectors + first * elements);
        }
      }
    }
  }
  static void run(const T* a, T* values, T* vectors, std::int32_t* info, stack s) {
    if (vectors) return all<true, 1>(a, values, vectors, info, s);
    std::int64_t done = 0;
    if constexpr (most_turns > 1) {
      const std::int64_t step = most_turns * static_cast<std::int64_t>(hn::Lanes(tag<T>()));
      done = s.count / step * step;
      all<false, most_turns>(a, values, nullptr, info, {done, s.size});
    }
    all<false, 1>(a + done * s.size * s.size, values + done * s.size, nullptr, info + done, {s.count - done, s.size});
  }
};

void Eigh_float32(const float* a, float* values, float* vectors, std::int32_t* info, stack s) {
  BySize<Eigh, float>(s.size, a, values, vectors, info, s);
}
void Eigh_float64(const double* a, double* values, double* vectors, std::int32_t* info, stack s) {
  BySize<Eigh, double>(s.size, a, values, vectors, info, s);
}
KERNGRAD_END

#if HWY_ONCE
namespace kerngrad::linalg::lanes {

HWY_EXPORT(Eigh_float32);
HWY_EXPORT(Eigh_float64);
void eigh(const float* a, float* values, float* vectors, std::int32_t* info, stack s) {
  HWY_DYNAMIC_DISPATCH(Eigh_float32)(a, values, vectors, info, s);
}
void eigh(const double* a, double* values, double* vectors, std::int32_t* info, stack s) {
  HWY_DYNAMIC_DISPATCH(Eigh_float64)(a, values, vectors, info, s);
}

}  // namespace kerngrad::linalg::lanes
#endif  // HWY_ONCE
