// SPDX-License-Identifier: Apache-2.0
// Determinants and inverses of matrices of 2 to 4 rows by cofactors, with one matrix per lane. They take a fraction of
// the time of elimination, and lose more digits where terms cancel or leave the range. Lanes where more than 7 bits
// cancel, and those with large or tiny elements, are left to elimination. Included once per target, after
// kernels/linalg/lanes-inl.h.
#if defined(KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
#undef KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
#else
#define KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
#endif

#include "kernels/linalg/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::linalg::lanes::HWY_NAMESPACE {

template <int N>
inline constexpr bool has_cofactors = N >= 2 && N <= 4;

// The expansion of a determinant, or with Absolute that of the permanent of the absolute elements: the sum of the sizes
// of all terms, which bounds the rounding errors of the determinant.
template <class T, int N, bool Absolute>
struct expansion {
  matrices<T, N> m;

  HWY_INLINE vec<T> at(std::int64_t r, std::int64_t c) const {
    if constexpr (Absolute) return hn::Abs(m.get(r, c));
    else return m.get(r, c);
  }
  // x - y z, or the sum.
  static HWY_INLINE vec<T> less(vec<T> x, vec<T> y, vec<T> z) {
    if constexpr (Absolute) return hn::MulAdd(y, z, x);
    else return hn::NegMulAdd(y, z, x);
  }
  // The determinant of the elements in rows r and q, columns c and e.
  HWY_INLINE vec<T> minor(std::int64_t r, std::int64_t q, std::int64_t c, std::int64_t e) const {
    return less(hn::Mul(at(r, c), at(q, e)), at(q, c), at(r, e));
  }
  // a x - b y + c z for elements of row r in the columns a, b and c.
  HWY_INLINE vec<T> three(std::int64_t r, std::int64_t a, std::int64_t b, std::int64_t c, vec<T> x, vec<T> y,
                          vec<T> z) const {
    return hn::MulAdd(at(r, c), z, less(hn::Mul(at(r, a), x), at(r, b), y));
  }
  HWY_INLINE vec<T> value() const {
    if constexpr (N == 2) return minor(0, 1, 0, 1);
    else if constexpr (N == 3) return three(0, 0, 1, 2, minor(1, 2, 1, 2), minor(1, 2, 0, 2), minor(1, 2, 0, 1));
    else {
      // Minors of the first two rows times those of the others (Laplace).
      vec<T> sum = hn::Mul(minor(0, 1, 0, 1), minor(2, 3, 2, 3));
      sum = less(sum, minor(0, 1, 0, 2), minor(2, 3, 1, 3));
      sum = hn::MulAdd(minor(0, 1, 0, 3), minor(2, 3, 1, 2), sum);
      sum = hn::MulAdd(minor(0, 1, 1, 2), minor(2, 3, 0, 3), sum);
      sum = less(sum, minor(0, 1, 1, 3), minor(2, 3, 0, 2));
      return hn::MulAdd(minor(0, 1, 2, 3), minor(2, 3, 0, 1), sum);
    }
  }
};

// Lanes where determinant and cofactors are accurate to 2^7 rounding errors. No product of 4 elements up to `most`
// overflows. A product of two that underflows is off by the least number, 2^-149 in float32, so that the sum is off by
// at most that times most^2, which is far below a rounding error of `least`. NaN is not accurate.
template <class T, int N>
HWY_INLINE auto IsAccurate(matrices<T, N> m, vec<T> determinant) {
  const tag<T> d;
  constexpr T least = sizeof(T) == 4 ? T(0x1p-60) : T(0x1p-500), most = sizeof(T) == 4 ? T(0x1p30) : T(0x1p250);
  vec<T> top = hn::Abs(m.get(0, 0));
  for (std::int64_t e = 1; e < N * N; ++e) top = hn::Max(top, hn::Abs(m.get(e % N, e / N)));
  const vec<T> size = expansion<T, N, true>{m}.value();
  const auto in_range = hn::And(hn::Gt(size, hn::Set(d, least)), hn::Lt(top, hn::Set(d, most)));
  return hn::And(in_range, hn::Gt(hn::Abs(determinant), hn::Mul(size, hn::Set(d, T(0x1p-7)))));
}

// The cofactors over the determinant.
template <class T, int N>
struct Adjugate {
  // Row i of the inverse of a matrix of 4 rows, by the columns other than i, and minors of the first two rows, s, and
  // of the others, c.
  static HWY_INLINE void row(expansion<T, N, false> by, matrices<T, N> to, std::int64_t i, std::int64_t j,
                             std::int64_t k, std::int64_t l, const vec<T>& c0, const vec<T>& c1, const vec<T>& c2,
                             const vec<T>& s0, const vec<T>& s1, const vec<T>& s2, vec<T> inverse) {
    const vec<T> even = i % 2 == 0 ? inverse : hn::Neg(inverse), odd = hn::Neg(even);
    to.set(i, 0, hn::Mul(by.three(1, j, k, l, c0, c1, c2), even));
    to.set(i, 1, hn::Mul(by.three(0, j, k, l, c0, c1, c2), odd));
    to.set(i, 2, hn::Mul(by.three(3, j, k, l, s0, s1, s2), even));
    to.set(i, 3, hn::Mul(by.three(2, j, k, l, s0, s1, s2), odd));
  }
  static HWY_INLINE void write(matrices<T, N> m, vec<T> determinant, matrices<T, N> to) {
    const expansion<T, N, false> by{m};
    const vec<T> inverse = hn::Div(hn::Set(tag<T>(), T(1)), determinant);
    if constexpr (N == 2) {
      to.set(0, 0, hn::Mul(m.get(1, 1), inverse)), to.set(1, 1, hn::Mul(m.get(0, 0), inverse));
      to.set(0, 1, hn::Mul(m.get(0, 1), hn::Neg(inverse))), to.set(1, 0, hn::Mul(m.get(1, 0), hn::Neg(inverse)));
    } else if constexpr (N == 3) {
      // Rows and columns in cyclic order give the signs.
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t c = 0; c < 3; ++c)
          to.set(r, c, hn::Mul(by.minor((c + 1) % 3, (c + 2) % 3, (r + 1) % 3, (r + 2) % 3), inverse));
    } else {
      const vec<T> s0 = by.minor(0, 1, 0, 1), s1 = by.minor(0, 1, 0, 2), s2 = by.minor(0, 1, 0, 3),
                   s3 = by.minor(0, 1, 1, 2), s4 = by.minor(0, 1, 1, 3), s5 = by.minor(0, 1, 2, 3);
      const vec<T> c0 = by.minor(2, 3, 0, 1), c1 = by.minor(2, 3, 0, 2), c2 = by.minor(2, 3, 0, 3),
                   c3 = by.minor(2, 3, 1, 2), c4 = by.minor(2, 3, 1, 3), c5 = by.minor(2, 3, 2, 3);
      row(by, to, 0, 1, 2, 3, c5, c4, c3, s5, s4, s3, inverse);
      row(by, to, 1, 0, 2, 3, c5, c2, c1, s5, s2, s1, inverse);
      row(by, to, 2, 0, 1, 3, c4, c2, c0, s4, s2, s0, inverse);
      row(by, to, 3, 0, 1, 2, c3, c1, c0, s3, s1, s0, inverse);
    }
  }
};

}  // namespace kerngrad::linalg::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
