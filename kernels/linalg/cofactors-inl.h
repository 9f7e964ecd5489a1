// SPDX-License-Identifier: Apache-2.0
// Determinants and inverses of matrices of 2 to 4 rows by cofactors, with one matrix per lane. They take a fraction of
// the time of elimination, and lose more digits where terms cancel or leave the range. Lanes where more than 8 bits
// cancel, and those with large or tiny elements, are left to elimination. Included once per target, after
// kernels/linalg/lanes-inl.h.
#if defined(KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
#undef KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
#else
#define KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/linalg/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::linalg::lanes::HWY_NAMESPACE {

template <int N>
inline constexpr bool has_cofactors = N >= 2 && N <= 4;

// Minors of the matrices of all lanes, in the order of memory.
template <class T, int N>
struct minors_of {
  const T* at;

  HWY_INLINE vec<T> get(int r, int c) const {
    return hn::Load(tag<T>(), at + (r * N + c) * static_cast<int>(hn::Lanes(tag<T>())));
  }
  // The determinant of the elements in rows r and q, columns c and e.
  HWY_INLINE vec<T> minor(int r, int q, int c, int e) const {
    return hn::NegMulAdd(get(r, e), get(q, c), hn::Mul(get(r, c), get(q, e)));
  }
  // x a - y b + z c for elements of row r in the columns a, b and c.
  HWY_INLINE vec<T> three(int r, int a, int b, int c, vec<T> x, vec<T> y, vec<T> z) const {
    return hn::MulAdd(get(r, c), z, hn::NegMulAdd(get(r, b), y, hn::Mul(get(r, a), x)));
  }
  HWY_INLINE vec<T> squares(int r) const {
    const vec<T> two = hn::MulAdd(get(r, 1), get(r, 1), hn::Mul(get(r, 0), get(r, 0)));
    if constexpr (N == 2) return two;
    else if constexpr (N == 3) return hn::MulAdd(get(r, 2), get(r, 2), two);
    else return hn::Add(hn::MulAdd(get(r, 3), get(r, 3), hn::Mul(get(r, 2), get(r, 2))), two);
  }
};

// The determinant. The squared norms of all rows have the product x y.
template <class T, int N>
HWY_INLINE vec<T> Expanded(minors_of<T, N> m, vec<T>& x, vec<T>& y) {
  x = m.squares(0), y = m.squares(1);
  if constexpr (N == 2) {
    return m.minor(0, 1, 0, 1);
  } else if constexpr (N == 3) {
    x = hn::Mul(x, y), y = m.squares(2);
    const vec<T> sum = hn::MulAdd(m.get(0, 1), m.minor(1, 2, 2, 0), hn::Mul(m.get(0, 0), m.minor(1, 2, 1, 2)));
    return hn::MulAdd(m.get(0, 2), m.minor(1, 2, 0, 1), sum);
  } else {
    const vec<T> s0 = m.minor(0, 1, 0, 1), s1 = m.minor(0, 1, 0, 2), s2 = m.minor(0, 1, 0, 3), s3 = m.minor(0, 1, 1, 2),
                 s4 = m.minor(0, 1, 1, 3), s5 = m.minor(0, 1, 2, 3);
    x = hn::Mul(x, y), y = hn::Mul(m.squares(2), m.squares(3));
    const vec<T> left = hn::NegMulAdd(m.get(3, 0), m.three(2, 1, 2, 3, s5, s4, s3),
                                      hn::Mul(m.get(3, 1), m.three(2, 0, 2, 3, s5, s2, s1)));
    const vec<T> right = hn::NegMulAdd(m.get(3, 2), m.three(2, 0, 1, 3, s4, s2, s0),
                                       hn::Mul(m.get(3, 3), m.three(2, 0, 1, 2, s3, s1, s0)));
    return hn::Add(left, right);
  }
}

// Lanes where determinant and cofactors are accurate to 2^8 rounding errors: determinant^2 > 2^-14 x y. Twice the root
// of x y is at least the sum of the sizes of the determinant's terms (Cauchy and Schwarz), which bounds its rounding
// error. No product of elements overflows where x and y are finite. A product that underflows is off by at most 2^-149
// in float32. Its factors are at most 2^64, the root of the largest square, so that the determinant is off by less than
// a rounding error of 2^-56. NaN is not accurate.
template <class T>
HWY_INLINE auto IsAccurate(vec<T> determinant, vec<T> x, vec<T> y) {
  const tag<T> d;
  const vec<T> part = hn::Set(d, T(0x1p-14));
  if constexpr (sizeof(T) == 4) {
    // The square of a determinant of usual size may leave the range.
    const auto in_range = hn::Gt(hn::Min(hn::Min(x, y), hn::Abs(determinant)), hn::Set(d, T(0x1p-56)));
    return hn::And(in_range, hn::Gt(hn::Mul(hn::Div(determinant, x), determinant), hn::Mul(y, part)));
  } else {
    const vec<T> square = hn::Mul(determinant, determinant);
    const auto in_range = hn::Gt(hn::Min(hn::Min(x, y), square), hn::Set(d, T(0x1p-900)));
    return hn::And(in_range, hn::Gt(square, hn::Mul(hn::Mul(x, part), y)));
  }
}

// The cofactors over the determinant.
template <class T, int N>
struct Adjugate {
  static HWY_INLINE void set(T* to, int r, int c, vec<T> x) {
    hn::Store(x, tag<T>(), to + (r * N + c) * static_cast<int>(hn::Lanes(tag<T>())));
  }
  // Row i of the inverse of a matrix of 4 rows, by the columns other than i, and minors of the first two rows, s, and
  // of the others, c.
  static HWY_INLINE void row(minors_of<T, N> m, T* to, int i, int j, int k, int l, const vec<T>& c0, const vec<T>& c1,
                             const vec<T>& c2, const vec<T>& s0, const vec<T>& s1, const vec<T>& s2, vec<T> inverse) {
    const vec<T> even = i % 2 == 0 ? inverse : hn::Neg(inverse), odd = hn::Neg(even);
    set(to, i, 0, hn::Mul(m.three(1, j, k, l, c0, c1, c2), even));
    set(to, i, 1, hn::Mul(m.three(0, j, k, l, c0, c1, c2), odd));
    set(to, i, 2, hn::Mul(m.three(3, j, k, l, s0, s1, s2), even));
    set(to, i, 3, hn::Mul(m.three(2, j, k, l, s0, s1, s2), odd));
  }
  static HWY_INLINE void write(minors_of<T, N> m, vec<T> determinant, T* to) {
    const vec<T> inverse = hn::Div(hn::Set(tag<T>(), T(1)), determinant);
    if constexpr (N == 2) {
      set(to, 0, 0, hn::Mul(m.get(1, 1), inverse)), set(to, 1, 1, hn::Mul(m.get(0, 0), inverse));
      set(to, 0, 1, hn::Mul(m.get(0, 1), hn::Neg(inverse))), set(to, 1, 0, hn::Mul(m.get(1, 0), hn::Neg(inverse)));
    } else if constexpr (N == 3) {
      // Rows and columns in cyclic order give the signs.
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          set(to, r, c, hn::Mul(m.minor((c + 1) % 3, (c + 2) % 3, (r + 1) % 3, (r + 2) % 3), inverse));
    } else {
      const vec<T> s0 = m.minor(0, 1, 0, 1), s1 = m.minor(0, 1, 0, 2), s2 = m.minor(0, 1, 0, 3),
                   s3 = m.minor(0, 1, 1, 2), s4 = m.minor(0, 1, 1, 3), s5 = m.minor(0, 1, 2, 3);
      const vec<T> c0 = m.minor(2, 3, 0, 1), c1 = m.minor(2, 3, 0, 2), c2 = m.minor(2, 3, 0, 3),
                   c3 = m.minor(2, 3, 1, 2), c4 = m.minor(2, 3, 1, 3), c5 = m.minor(2, 3, 2, 3);
      row(m, to, 0, 1, 2, 3, c5, c4, c3, s5, s4, s3, inverse);
      row(m, to, 1, 0, 2, 3, c5, c2, c1, s5, s2, s1, inverse);
      row(m, to, 2, 0, 1, 3, c4, c2, c0, s4, s2, s0, inverse);
      row(m, to, 3, 0, 1, 2, c3, c1, c0, s3, s1, s0, inverse);
    }
  }
};

// Matrices that cofactors leave to elimination. They are collected, so that elimination has a matrix in every lane, and
// the loop over all matrices has no branch that depends on elements.
template <class T>
class remaining {
 public:
  // Adds the lanes that are not in `done` of `valid` matrices from number `first` on.
  template <class Mask>
  HWY_INLINE void add(std::int64_t first, std::int64_t valid, Mask done) {
    const tag<T> d;
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, done, bytes);
    const unsigned all = (2U << (valid - 1)) - 1, left = ~(bytes[0] | unsigned{bytes[1]} << 8) & all;
    first_[count_] = first, left_[count_] = left;
    count_ += left != 0;
  }
  HWY_INLINE bool is_full() const { return count_ == most; }
  // Calls f(numbers, valid) for the numbers of at most as many matrices as there are lanes.
  template <class F>
  void take(const F& f) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
    std::int64_t numbers[most_lanes<T>], valid = 0;
    for (int k = 0; k < count_; ++k)
      for (unsigned left = left_[k], lane = 0; left; left >>= 1, ++lane) {
        if (!(left & 1)) continue;
        numbers[valid++] = first_[k] + lane;
        if (valid == lanes) f(numbers, std::exchange(valid, 0));
      }
    if (valid > 0) f(numbers, valid);
    count_ = 0;
  }

 private:
  static constexpr int most = 64;
  std::int64_t first_[most];
  unsigned left_[most];
  int count_ = 0;
};

// `valid` matrices of `elements` numbers one after the other, with repetitions of the last one for the other lanes.
template <class T>
HWY_NOINLINE const T* Padded(const T* from, std::int64_t elements, std::int64_t valid, T* to) {
  for (std::int64_t l = 0; l < static_cast<std::int64_t>(hn::Lanes(tag<T>())); ++l)
    std::copy_n(from + std::min(l, valid - 1) * elements, elements, to + l * elements);
  return to;
}

// Calls each(first, valid, minors, determinants) for each vector of matrices. Then calls others(matrices, numbers,
// valid), once or several times, for those where cofactors are not accurate: the matrices lie one after the other.
template <class T, int N, class Each, class Others>
HWY_INLINE void ByCofactors(const T* a, stack s, const Each& each, const Others& others) {
  constexpr std::int64_t elements = N * N;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  HWY_ALIGN T padded[elements * most_lanes<T>];
  remaining<T> rest;
  const auto collected = [&](const std::int64_t* numbers, std::int64_t valid) {
    for (std::int64_t l = 0; l < valid; ++l) std::copy_n(a + numbers[l] * elements, elements, padded + l * elements);
    others(padded, numbers, valid);
  };
  for (std::int64_t i = 0; i < s.count; i += lanes) {
    HWY_ALIGN T work[elements * most_lanes<T>];
    const std::int64_t valid = std::min(lanes, s.count - i);
    const T* const from = a + i * elements;
    ReadWhole(HWY_LIKELY(valid == lanes) ? from : Padded(from, elements, valid, padded), elements, elements, work);
    const minors_of<T, N> m{work};
    vec<T> x, y;
    const vec<T> determinants = Expanded(m, x, y);
    rest.add(i, valid, IsAccurate<T>(determinants, x, y));
    each(i, valid, m, determinants);
    if (HWY_UNLIKELY(rest.is_full())) rest.take(collected);
  }
  rest.take(collected);
}

}  // namespace kerngrad::linalg::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KERNGRAD_KERNELS_LINALG_COFACTORS_INL_H_
