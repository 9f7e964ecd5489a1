// SPDX-License-Identifier: Apache-2.0
// The passes of a plan with `pairs` (kernels/fft/plan.h), once per target. Vectors hold real and imaginary parts in
// turn: eight points are in eight registers, where parts by themselves fill all sixteen and spill. A point times -i is
// its parts exchanged, times 1 and -1. The inverse transform has all factors conjugated.
#if defined(KERNGRAD_KERNELS_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_PAIRS_INL_H_
#undef KERNGRAD_KERNELS_PAIRS_INL_H_
#else
#define KERNGRAD_KERNELS_PAIRS_INL_H_
#endif

#include <cstdint>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "kernels/common/vectors-inl.h"
#include "kernels/fft/butterflies-inl.h"
#include "kernels/fft/plan.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One or two blocks of 16 bytes.
template <class T> using PairsTag = hn::CappedTag<T, most_of_pairs<T>>;

/// `value` and -`value` in turn; the other way around for the inverse.
template <bool kInverse, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> InTurn(D d, T value) {
  return hn::OddEven(hn::Set(d, kInverse ? value : -value), hn::Set(d, kInverse ? -value : value));
}

/// a - i b and a + i b, `signs` being 1 and -1 in turn.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void SumAndDifferenceTurned(D d, V signs, V& a, V& b) {
  const V exchanged = hn::Reverse2(d, b);
  b = hn::NegMulAdd(exchanged, signs, a);
  a = hn::MulAdd(exchanged, signs, a);
}

/// For points a, b, c, d in this order; they come out in order.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void PairsButterfly4(D d, V signs, V& a, V& b, V& c, V& e) {
  SumAndDifference(a, c);
  SumAndDifference(b, e);
  SumAndDifference(a, b);                  // points 0 and 2
  SumAndDifferenceTurned(d, signs, c, e);  // points 1 and 3
  const V point2 = b;                      // std::swap takes no vectors without a size
  b = c;
  c = point2;
}

/// The transform of 4 or 8 points.
template <int kRadix, bool kInverse, class D, class V = hn::Vec<D>>
HWY_INLINE void PairsButterfly(D d, const vectors<V, kRadix>& v) {
  using T = hn::TFromD<D>;
  const V signs = InTurn<kInverse>(d, T{1});
  if constexpr (kRadix == 4) {
    PairsButterfly4(d, signs, v[0], v[1], v[2], v[3]);
  } else {
    static_assert(kRadix == 8);
    // Combines even and odd points, with w = exp(-2 pi i / 8): E[k] + w^k O[k] and E[k] - w^k O[k].
    PairsButterfly4(d, signs, v[0], v[2], v[4], v[6]);
    PairsButterfly4(d, signs, v[1], v[3], v[5], v[7]);
    constexpr T kHalfRoot = static_cast<T>(0.70710678118654752440);
    const V half_root = hn::Set(d, kHalfRoot), half_roots = InTurn<kInverse>(d, kHalfRoot);
    v[3] = hn::MulAdd(hn::Reverse2(d, v[3]), half_roots, hn::Mul(v[3], half_root));
    v[7] = hn::MulSub(hn::Reverse2(d, v[7]), half_roots, hn::Mul(v[7], half_root));
    SumAndDifference(v[0], v[1]);                  // points 0 and 4
    SumAndDifference(v[2], v[3]);                  // 1 and 5
    SumAndDifferenceTurned(d, signs, v[4], v[5]);  // 2 and 6
    SumAndDifference(v[6], v[7]);                  // 3 and 7
    const V point4 = v[1], point5 = v[3], point6 = v[5];
    v[1] = v[2];
    v[2] = v[4];
    v[3] = v[6];
    v[4] = point4;
    v[5] = point5;
    v[6] = point6;
  }
}

/// Points times factors, whose real parts are there twice and imaginary parts once negated.
template <bool kInverse, class D, class V = hn::Vec<D>>
HWY_INLINE void TurnPair(D d, V& v, V real, V imaginary) {
  const V exchanged = hn::Reverse2(d, v), scaled = hn::Mul(v, real);
  v = kInverse ? hn::NegMulAdd(exchanged, imaginary, scaled) : hn::MulAdd(exchanged, imaginary, scaled);
}

/// Point k of each group, groups one after the other: point 8 * lane + k of y is point `lane` of v_k.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreGroupsOfPairs(D d, const vectors<V, 8>& v, float* HWY_RESTRICT y) {
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> dw;
  for (int k = 0; k < 8; k += 2) {  // points are words
    const auto a = hn::BitCast(dw, v[k]), b = hn::BitCast(dw, v[k + 1]);
    v[k] = hn::BitCast(d, hn::InterleaveLower(dw, a, b));
    v[k + 1] = hn::BitCast(d, hn::InterleaveUpper(dw, a, b));
  }
  if (hn::Lanes(d) == 4) {
    for (int k = 0; k < 8; ++k) hn::StoreU(v[k], d, y + 16 * (k % 2) + 2 * (k - k % 2));
    return;
  }
  for (const int k : {0, 1, 4, 5}) {
    float* const to = y + 16 * (k % 2) + 2 * (k - k % 2);
    hn::StoreU(hn::ConcatLowerLower(d, v[k + 2], v[k]), d, to);
    hn::StoreU(hn::ConcatUpperUpper(d, v[k + 2], v[k]), d, to + 32);
  }
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreGroupsOfPairs(D d, const vectors<V, 8>& v, double* HWY_RESTRICT y) {
  if (hn::Lanes(d) == 2) {
    for (int k = 0; k < 8; ++k) hn::StoreU(v[k], d, y + 2 * k);
    return;
  }
  for (int k = 0; k < 8; k += 2) {
    hn::StoreU(hn::ConcatLowerLower(d, v[k + 1], v[k]), d, y + 2 * k);
    hn::StoreU(hn::ConcatUpperUpper(d, v[k + 1], v[k]), d, y + 16 + 2 * k);
  }
}

/// The first pass, of radix 8.
template <bool kInverse, class T>
void FirstPairsPass(const fft_pass<T>& pass, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const PairsTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t width = static_cast<std::int64_t>(hn::Lanes(d)), apart = 2 * pass.groups;
  const T* HWY_RESTRICT factors = pass.factors;
  for (std::int64_t i = 0; i < apart; i += width, factors += 14 * width) {
    with_vectors<8>(d, [&](const vectors<V, 8>& v) KG_INLINED {
      for (int j = 0; j < 8; ++j) v[j] = hn::LoadU(d, x + i + apart * j);
      PairsButterfly<8, kInverse>(d, v);
      for (int k = 1; k < 8; ++k)
        TurnPair<kInverse>(d, v[k], hn::Load(d, factors + 2 * (k - 1) * width),
                           hn::Load(d, factors + (2 * (k - 1) + 1) * width));
      StoreGroupsOfPairs(d, v, y + 8 * i);
    });
  }
}

/// A pass between the first and the last one: the factors of a group are the same for all of its points.
template <int kRadix, bool kInverse, class T>
void MiddlePairsPass(const fft_pass<T>& pass, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const PairsTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t block = 16 / sizeof(T);
  const std::int64_t width = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t before = 2 * pass.before, apart = before * pass.groups;
  const T* HWY_RESTRICT factors = pass.factors;
  for (std::int64_t p = 0; p < pass.groups; ++p, factors += 2 * (kRadix - 1) * block) {
    const T* HWY_RESTRICT from = x + before * p;
    T* HWY_RESTRICT to = y + before * kRadix * p;
    for (std::int64_t q = 0; q < before; q += width) {
      with_vectors<kRadix>(d, [&](const vectors<V, kRadix>& v) KG_INLINED {
        for (int j = 0; j < kRadix; ++j) v[j] = hn::LoadU(d, from + q + apart * j);
        PairsButterfly<kRadix, kInverse>(d, v);
        for (int k = 1; k < kRadix; ++k)
          TurnPair<kInverse>(d, v[k], hn::LoadDup128(d, factors + 2 * (k - 1) * block),
                             hn::LoadDup128(d, factors + (2 * (k - 1) + 1) * block));
        for (int k = 0; k < kRadix; ++k) hn::StoreU(v[k], d, to + q + before * k);
      });
    }
  }
}

/// The last pass: one group, without factors. A scale of 1 is left out.
template <int kRadix, bool kInverse, bool kScaled, class T>
void LastPairsPass(const fft_pass<T>& pass, T scale, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const PairsTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t before = 2 * pass.before, width = static_cast<std::int64_t>(hn::Lanes(d));
  const V by = hn::Set(d, scale);
  for (std::int64_t q = 0; q < before; q += width) {
    with_vectors<kRadix>(d, [&](const vectors<V, kRadix>& v) KG_INLINED {
      for (int j = 0; j < kRadix; ++j) v[j] = hn::LoadU(d, x + q + before * j);
      PairsButterfly<kRadix, kInverse>(d, v);
      for (int k = 0; k < kRadix; ++k) hn::StoreU(kScaled ? hn::Mul(v[k], by) : v[k], d, y + q + before * k);
    });
  }
}

/// y = scale * the transform of the points x; `work` has room for work_of_passes(plan) numbers.
template <bool kInverse, class T>
void RunPairsPasses(const fft_plan<T>& plan, T scale, const T* x, T* y, T* work) {
  const int last = plan.pass_count - 1;
  if (plan.shift > 0) {
    const std::uintptr_t apart = reinterpret_cast<std::uintptr_t>(y) - reinterpret_cast<std::uintptr_t>(work);
    work += ((apart + plan.shift) & (2 * plan.shift - 64)) / sizeof(T);  // whole lines: both are powers of two
  }
  T *from = last % 2 == 0 ? work : y, *to = last % 2 == 0 ? y : work;  // the last pass reads `work`
  FirstPairsPass<kInverse>(plan.passes[0], x, to);
  for (int at = 1; at < last; ++at) {
    std::swap(from, to);
    const fft_pass<T>& pass = plan.passes[static_cast<std::size_t>(at)];
    if (pass.radix == 8) MiddlePairsPass<8, kInverse>(pass, from, to);
    else MiddlePairsPass<4, kInverse>(pass, from, to);
  }
  const fft_pass<T>& pass = plan.passes[static_cast<std::size_t>(last)];
  const auto with_scale = [&](auto scaled) {
    if (pass.radix == 8) LastPairsPass<8, kInverse, scaled>(pass, scale, work, y);
    else LastPairsPass<4, kInverse, scaled>(pass, scale, work, y);
  };
  scale == 1 ? with_scale(std::false_type()) : with_scale(std::true_type());
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
