// SPDX-License-Identifier: Apache-2.0
// Transforms of 2, 3, 4, 5 and 8 points in registers, once per target. Real and imaginary parts are in vectors of their
// own: of point j in v[j] and v[kRadix + j].
#if defined(KERNGRAD_KERNELS_BUTTERFLIES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_BUTTERFLIES_INL_H_
#undef KERNGRAD_KERNELS_BUTTERFLIES_INL_H_
#else
#define KERNGRAD_KERNELS_BUTTERFLIES_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// (r, i) times (wr, wi).
template <class V>
HWY_INLINE void Turn(V& r, V& i, V wr, V wi) {
  const V real = hn::NegMulAdd(i, wi, hn::Mul(r, wr));
  i = hn::MulAdd(r, wi, hn::Mul(i, wr));
  r = real;
}

/// a + b and a - b.
template <class V>
HWY_INLINE void SumAndDifference(V& a, V& b) {
  const V sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

/// For points a, b, c, d in this order; they come out in order.
template <class V>
HWY_INLINE void Butterfly4(V& ar, V& ai, V& br, V& bi, V& cr, V& ci, V& dr, V& di) {
  SumAndDifference(ar, cr);
  SumAndDifference(ai, ci);
  SumAndDifference(br, dr);
  SumAndDifference(bi, di);
  SumAndDifference(ar, br);  // a is point 0, b point 2
  SumAndDifference(ai, bi);
  // c - i d is point 1, c + i d point 3.
  const V point2r = br, point2i = bi;
  br = hn::Add(cr, di);
  bi = hn::Sub(ci, dr);
  const V point3r = hn::Sub(cr, di), point3i = hn::Add(ci, dr);
  cr = point2r;
  ci = point2i;
  dr = point3r;
  di = point3i;
}

/// The transform of kRadix points, exp(-2 pi i / kRadix) being the root.
template <int kRadix, class D, class V = hn::Vec<D>>
HWY_INLINE void Butterfly(D d, const vectors<V, 2 * kRadix>& v) {
  using T = hn::TFromD<D>;
  if constexpr (kRadix == 2) {
    SumAndDifference(v[0], v[1]);
    SumAndDifference(v[2], v[3]);
  } else if constexpr (kRadix == 3) {
    const V sum_r = hn::Add(v[1], v[2]), sum_i = hn::Add(v[4], v[5]);
    const V sine = hn::Set(d, static_cast<T>(0.86602540378443864676)), half = hn::Set(d, static_cast<T>(0.5));
    const V s_r = hn::Mul(sine, hn::Sub(v[1], v[2])), s_i = hn::Mul(sine, hn::Sub(v[4], v[5]));
    const V m_r = hn::NegMulAdd(half, sum_r, v[0]), m_i = hn::NegMulAdd(half, sum_i, v[3]);
    v[0] = hn::Add(v[0], sum_r);
    v[3] = hn::Add(v[3], sum_i);
    v[1] = hn::Add(m_r, s_i);
    v[4] = hn::Sub(m_i, s_r);
    v[2] = hn::Sub(m_r, s_i);
    v[5] = hn::Add(m_i, s_r);
  } else if constexpr (kRadix == 4) {
    Butterfly4(v[0], v[4], v[1], v[5], v[2], v[6], v[3], v[7]);
  } else if constexpr (kRadix == 8) {
    // Combines even and odd points, with w = exp(-2 pi i / 8): E[k] + w^k O[k] and E[k] - w^k O[k].
    Butterfly4(v[0], v[8], v[2], v[10], v[4], v[12], v[6], v[14]);
    Butterfly4(v[1], v[9], v[3], v[11], v[5], v[13], v[7], v[15]);
    const V half_root = hn::Set(d, static_cast<T>(0.70710678118654752440));
    const V odd1_r = hn::Mul(half_root, hn::Add(v[3], v[11])), odd1_i = hn::Mul(half_root, hn::Sub(v[11], v[3]));
    const V odd3_r = hn::Mul(half_root, hn::Sub(v[15], v[7])), odd3_i = hn::Mul(half_root, hn::Add(v[15], v[7]));
    const V odd2_r = v[13], odd2_i = v[5];  // of both w^2 O[2] and -w^3 O[3] the imaginary part is negative
    const V even1_r = v[2], even1_i = v[10], even2_r = v[4], even2_i = v[12], even3_r = v[6], even3_i = v[14];
    v[4] = hn::Sub(v[0], v[1]);
    v[12] = hn::Sub(v[8], v[9]);
    v[0] = hn::Add(v[0], v[1]);
    v[8] = hn::Add(v[8], v[9]);
    v[1] = hn::Add(even1_r, odd1_r);
    v[9] = hn::Add(even1_i, odd1_i);
    v[5] = hn::Sub(even1_r, odd1_r);
    v[13] = hn::Sub(even1_i, odd1_i);
    v[2] = hn::Add(even2_r, odd2_r);
    v[10] = hn::Sub(even2_i, odd2_i);
    v[6] = hn::Sub(even2_r, odd2_r);
    v[14] = hn::Add(even2_i, odd2_i);
    v[3] = hn::Add(even3_r, odd3_r);
    v[11] = hn::Sub(even3_i, odd3_i);
    v[7] = hn::Sub(even3_r, odd3_r);
    v[15] = hn::Add(even3_i, odd3_i);
  } else {
    static_assert(kRadix == 5);
    const V c1 = hn::Set(d, static_cast<T>(0.30901699437494742410));
    const V c2 = hn::Set(d, static_cast<T>(-0.80901699437494742410));
    const V s1 = hn::Set(d, static_cast<T>(0.95105651629515357212));
    const V s2 = hn::Set(d, static_cast<T>(0.58778525229247312917));
    SumAndDifference(v[1], v[4]);
    SumAndDifference(v[6], v[9]);
    SumAndDifference(v[2], v[3]);
    SumAndDifference(v[7], v[8]);
    const V near_r = hn::MulAdd(c2, v[2], hn::MulAdd(c1, v[1], v[0]));
    const V near_i = hn::MulAdd(c2, v[7], hn::MulAdd(c1, v[6], v[5]));
    const V far_r = hn::MulAdd(c1, v[2], hn::MulAdd(c2, v[1], v[0]));
    const V far_i = hn::MulAdd(c1, v[7], hn::MulAdd(c2, v[6], v[5]));
    v[0] = hn::Add(v[0], hn::Add(v[1], v[2]));
    v[5] = hn::Add(v[5], hn::Add(v[6], v[7]));
    const V turn1_r = hn::MulAdd(s2, v[3], hn::Mul(s1, v[4])), turn1_i = hn::MulAdd(s2, v[8], hn::Mul(s1, v[9]));
    const V turn2_r = hn::NegMulAdd(s1, v[3], hn::Mul(s2, v[4])), turn2_i = hn::NegMulAdd(s1, v[8], hn::Mul(s2, v[9]));
    v[1] = hn::Add(near_r, turn1_i);
    v[6] = hn::Sub(near_i, turn1_r);
    v[4] = hn::Sub(near_r, turn1_i);
    v[9] = hn::Add(near_i, turn1_r);
    v[2] = hn::Add(far_r, turn2_i);
    v[7] = hn::Sub(far_i, turn2_r);
    v[3] = hn::Sub(far_r, turn2_i);
    v[8] = hn::Add(far_i, turn2_r);
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
