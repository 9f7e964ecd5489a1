// SPDX-License-Identifier: Apache-2.0
// The passes of a Fourier transform (kernels/fft/plan.h), once per target. Between passes real and imaginary parts are
// apart: those of points from 0 and from `imag` on. Vectors run over points that are read one after the other; the
// first pass takes pairs of parts, the last one gives them. The inverse transform is that of points whose parts are
// exchanged, exchanged again.
#if defined(KERNGRAD_KERNELS_PASSES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_PASSES_INL_H_
#undef KERNGRAD_KERNELS_PASSES_INL_H_
#else
#define KERNGRAD_KERNELS_PASSES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/common/vectors-inl.h"
#include "kernels/fft/butterflies-inl.h"
#include "kernels/fft/pairs-inl.h"
#include "kernels/fft/plan.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// At most 16 lanes, which tiles and factors are made for.
template <class T> using WideTag = hn::CappedTag<T, 16>;
template <class T> using OneTag = hn::CappedTag<T, 1>;
template <class D> inline constexpr bool is_one_lane = std::is_same_v<D, OneTag<hn::TFromD<D>>>;
template <class D>
HWY_INLINE std::int64_t Width(D d) {
  if constexpr (is_one_lane<D>) return 1;
  return static_cast<std::int64_t>(hn::Lanes(d));
}

/// Points of pairs of parts; exchanged for the inverse.
template <bool kInverse, class D, class V = hn::Vec<D>>
HWY_INLINE void LoadPairs(D d, const hn::TFromD<D>* x, V& r, V& i) {
  if constexpr (kInverse) {
    LoadPairs<false>(d, x, i, r);
  } else if constexpr (is_one_lane<D>) {
    r = hn::Set(d, x[0]);
    i = hn::Set(d, x[1]);
  } else {
    hn::LoadInterleaved2(d, x, r, i);
  }
}
template <bool kInverse, class D, class V = hn::Vec<D>>
HWY_INLINE void StorePairs(D d, V r, V i, hn::TFromD<D>* y) {
  if constexpr (kInverse) {
    StorePairs<false>(d, i, r, y);
  } else if constexpr (is_one_lane<D>) {
    y[0] = hn::GetLane(r);
    y[1] = hn::GetLane(i);
  } else {
    hn::StoreInterleaved2(r, i, d, y);
  }
}

/// Calls body(d, i) with vectors that cover [0, count), the last one drawn back to lie inside, and with as many lanes
/// as there is room for: results are written to other memory than points are read from.
template <class T, class Body>
HWY_INLINE void ForVectors(std::int64_t count, const Body& body) {
  const auto cover = [&](auto d) KG_INLINED {
    const std::int64_t width = Width(d);
    std::int64_t i = 0;
    for (; i + width <= count; i += width) body(d, i);
    if (i < count) body(d, count - width);
  };
  const WideTag<T> wide;
  const hn::CappedTag<T, 4> four;
  if (count >= Width(wide)) cover(wide);
  else if (count >= Width(four)) cover(four);
  else cover(OneTag<T>());
}

// ------------------------------------------------------------------------------------------ the first passes

/// Point k of each group, groups one after the other: y[kRadix * lane + k] = v_k[lane].
template <int kRadix, class D, class V = hn::Vec<D>>
HWY_INLINE void StoreGroups(D d, const vectors<V, kRadix>& v, hn::TFromD<D>* HWY_RESTRICT y) {
  if constexpr (is_one_lane<D>) {
    for (int k = 0; k < kRadix; ++k) y[k] = hn::GetLane(v[k]);
  } else if constexpr (kRadix == 2) {
    hn::StoreInterleaved2(v[0], v[1], d, y);
  } else if constexpr (kRadix == 3) {
    hn::StoreInterleaved3(v[0], v[1], v[2], d, y);
  } else if constexpr (kRadix == 4) {
    hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, y);
  } else {
    HWY_ALIGN hn::TFromD<D> tile[kRadix * 16];
    const std::int64_t width = Width(d);
    for (int k = 0; k < kRadix; ++k) hn::Store(v[k], d, tile + k * width);
    for (std::int64_t lane = 0; lane < width; ++lane)
      for (int k = 0; k < kRadix; ++k) y[kRadix * lane + k] = tile[k * width + lane];
  }
}

/// Blocks of four points transposed: lane j of block b of v_k comes to lane k of block b of v_j.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void TransposeBlocks(D d, V& v0, V& v1, V& v2, V& v3) {
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> dw;
  const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, v0, v1)),
             low23 = hn::BitCast(dw, hn::InterleaveLower(d, v2, v3));
  const auto up01 = hn::BitCast(dw, hn::InterleaveUpper(d, v0, v1)),
             up23 = hn::BitCast(dw, hn::InterleaveUpper(d, v2, v3));
  v0 = hn::BitCast(d, hn::InterleaveLower(dw, low01, low23));
  v1 = hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23));
  v2 = hn::BitCast(d, hn::InterleaveLower(dw, up01, up23));
  v3 = hn::BitCast(d, hn::InterleaveUpper(dw, up01, up23));
}

/// The points of a butterfly times their factors, which are apart by parts.
template <int kRadix, class D, class V = hn::Vec<D>>
HWY_INLINE void TurnPoints(D d, const vectors<V, 2 * kRadix>& v, const hn::TFromD<D>* HWY_RESTRICT factors,
                           std::int64_t points) {
  for (int k = 1; k < kRadix; ++k)
    Turn(v[k], v[kRadix + k], hn::LoadU(d, factors + 2 * (k - 1) * points),
         hn::LoadU(d, factors + (2 * (k - 1) + 1) * points));
}

/// The first pass, in order.
template <int kRadix, bool kInverse, class T>
void FirstPass(const fft_pass<T>& pass, std::int64_t imag, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  ForVectors<T>(pass.groups, [&](auto d, std::int64_t p) KG_INLINED {
    using V = hn::Vec<decltype(d)>;
    with_vectors<2 * kRadix>(d, [&](const vectors<V, 2 * kRadix>& v) KG_INLINED {
      for (int j = 0; j < kRadix; ++j) LoadPairs<kInverse>(d, x + 2 * (p + pass.groups * j), v[j], v[kRadix + j]);
      Butterfly<kRadix>(d, v);
      TurnPoints<kRadix>(d, v, pass.factors + p, pass.groups);
      StoreGroups<kRadix>(d, v.template row<kRadix>(0), y + kRadix * p);
      StoreGroups<kRadix>(d, v.template row<kRadix>(1), y + imag + kRadix * p);
    });
  });
}

/// The first pass of a tiled plan: points go to their positions within a block only.
template <bool kInverse>
void FirstTiledPass(const fft_pass<float>& pass, std::int64_t imag, const float* HWY_RESTRICT x,
                    float* HWY_RESTRICT y) {
  const WideTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t width = Width(d);
  for (std::int64_t p = 0; p < pass.groups; p += width) {
    with_vectors<8>(d, [&](const vectors<V, 8>& v) KG_INLINED {
      for (int j = 0; j < 4; ++j) LoadPairs<kInverse>(d, x + 2 * (p + pass.groups * j), v[j], v[4 + j]);
      Butterfly<4>(d, v);
      TurnPoints<4>(d, v, pass.factors + p, pass.groups);
      for (int part = 0; part < 2; ++part) {
        TransposeBlocks(d, v[4 * part], v[4 * part + 1], v[4 * part + 2], v[4 * part + 3]);
        for (int k = 0; k < 4; ++k) hn::StoreU(v[4 * part + k], d, y + imag * part + 4 * p + width * k);
      }
    });
  }
}

/// Four vectors of blocks: block b of all four goes to y + 16 * (group of block b), groups being 4 apart.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreBlocks(D d, V v0, V v1, V v2, V v3, float* HWY_RESTRICT y) {
  const std::int64_t width = Width(d);
  if (width == 4) {
    hn::StoreU(v0, d, y);
    hn::StoreU(v1, d, y + 4);
    hn::StoreU(v2, d, y + 8);
    hn::StoreU(v3, d, y + 12);
    return;
  }
  if (width == 8) {
    hn::StoreU(hn::ConcatLowerLower(d, v1, v0), d, y);
    hn::StoreU(hn::ConcatLowerLower(d, v3, v2), d, y + 8);
    hn::StoreU(hn::ConcatUpperUpper(d, v1, v0), d, y + 64);
    hn::StoreU(hn::ConcatUpperUpper(d, v3, v2), d, y + 72);
    return;
  }
  // Pairs of neighbouring blocks first, then halves.
  const V even01 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v1), v0),
          odd01 = hn::OddEvenBlocks(v1, hn::SwapAdjacentBlocks(v0));
  const V even23 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v3), v2),
          odd23 = hn::OddEvenBlocks(v3, hn::SwapAdjacentBlocks(v2));
  hn::StoreU(hn::ConcatLowerLower(d, even23, even01), d, y);
  hn::StoreU(hn::ConcatLowerLower(d, odd23, odd01), d, y + 64);
  hn::StoreU(hn::ConcatUpperUpper(d, even23, even01), d, y + 128);
  hn::StoreU(hn::ConcatUpperUpper(d, odd23, odd01), d, y + 192);
}

/// The second pass of a tiled plan, of points in tiles; what comes out is in order.
HWY_INLINE void SecondTiledPass(const fft_pass<float>& pass, std::int64_t imag, const float* HWY_RESTRICT x,
                                float* HWY_RESTRICT y) {
  const WideTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t width = Width(d), quarter = pass.groups * pass.before;
  for (std::int64_t tile = 0; tile < quarter; tile += 4 * width)
    for (std::int64_t c = 0; c < 4; ++c) {
      const std::int64_t i = tile + c * width;
      with_vectors<8>(d, [&](const vectors<V, 8>& v) KG_INLINED {
        for (int j = 0; j < 4; ++j) {
          v[j] = hn::LoadU(d, x + i + quarter * j);
          v[4 + j] = hn::LoadU(d, x + imag + i + quarter * j);
        }
        Butterfly<4>(d, v);
        TurnPoints<4>(d, v, pass.factors + i, quarter);
        float* const to = y + 16 * (tile / 4 + c);  // group tile / 4 + c, and every fourth one after it
        StoreBlocks(d, v[0], v[1], v[2], v[3], to);
        StoreBlocks(d, v[4], v[5], v[6], v[7], to + imag);
      });
    }
}

// ------------------------------------------------------------------------------------------ the other passes

/// A pass between the first and the last one: the factors of a group are the same for all of its points.
template <int kRadix, class T>
void MiddlePass(const fft_pass<T>& pass, std::int64_t imag, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const std::int64_t before = pass.before, apart = before * pass.groups;
  const auto group = [&](auto d, std::int64_t p, std::int64_t q) KG_INLINED {
    using V = hn::Vec<decltype(d)>;
    const T* HWY_RESTRICT factors = pass.factors + 2 * (kRadix - 1) * p;
    const T* HWY_RESTRICT from = x + before * p + q;
    T* HWY_RESTRICT to = y + before * kRadix * p + q;
    with_vectors<2 * kRadix>(d, [&](const vectors<V, 2 * kRadix>& v) KG_INLINED {
      for (int j = 0; j < kRadix; ++j) {
        v[j] = hn::LoadU(d, from + apart * j);
        v[kRadix + j] = hn::LoadU(d, from + imag + apart * j);
      }
      Butterfly<kRadix>(d, v);
      for (int k = 1; k < kRadix; ++k)
        Turn(v[k], v[kRadix + k], hn::Set(d, factors[2 * k - 2]), hn::Set(d, factors[2 * k - 1]));
      for (int k = 0; k < kRadix; ++k) {
        hn::StoreU(v[k], d, to + before * k);
        hn::StoreU(v[kRadix + k], d, to + imag + before * k);
      }
    });
  };
  for (std::int64_t p = 0; p < pass.groups; ++p)
    ForVectors<T>(before, [&](auto d, std::int64_t q) KG_INLINED { group(d, p, q); });
}

/// The last pass: one group, without factors.
template <int kRadix, bool kInverse, class T>
void LastPass(const fft_pass<T>& pass, std::int64_t imag, T scale, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const std::int64_t before = pass.before;
  ForVectors<T>(before, [&](auto d, std::int64_t q) KG_INLINED {
    using V = hn::Vec<decltype(d)>;
    with_vectors<2 * kRadix>(d, [&](const vectors<V, 2 * kRadix>& v) KG_INLINED {
      for (int j = 0; j < kRadix; ++j) {
        v[j] = hn::LoadU(d, x + q + before * j);
        v[kRadix + j] = hn::LoadU(d, x + imag + q + before * j);
      }
      Butterfly<kRadix>(d, v);
      const V by = hn::Set(d, scale);
      for (int k = 0; k < kRadix; ++k)
        StorePairs<kInverse>(d, hn::Mul(v[k], by), hn::Mul(v[kRadix + k], by), y + 2 * (q + before * k));
    });
  });
}

// ------------------------------------------------------------------------------------------ a row

/// Calls f with the radix as a constant.
template <class F>
HWY_INLINE void WithRadix(int radix, const F& f) {
  switch (radix) {
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    case 8: return f(std::integral_constant<int, 8>());
    default: return f(std::integral_constant<int, 5>());
  }
}

/// y = scale * the transform of the points x by the passes of a plan; both are pairs of parts, in different memory.
/// `work` has room for work_of_passes(plan) numbers.
template <bool kInverse, class T>
void RunPasses(const fft_plan<T>& plan, T scale, const T* x, T* y, T* work) {
  if (plan.pairs) return RunPairsPasses<kInverse>(plan, scale, x, y, work);
  const std::int64_t n = plan.length, imag = parts_apart<T>(n);
  if (n == 1) {
    y[0] = x[0] * scale;
    y[1] = x[1] * scale;
    return;
  }
  const int last = plan.pass_count - 1;
  if (last == 0) {  // a few points: pairs are put together afterwards
    WithRadix(plan.passes[0].radix, [&](auto radix) { FirstPass<radix, kInverse>(plan.passes[0], imag, x, work); });
    for (std::int64_t k = 0; k < n; ++k) {
      y[2 * k] = work[kInverse ? imag + k : k] * scale;
      y[2 * k + 1] = work[kInverse ? k : imag + k] * scale;
    }
    return;
  }
  T *from = work + 2 * imag, *to = work;
  for (int at = 0; at < last; ++at, std::swap(from, to)) {
    const fft_pass<T>& pass = plan.passes[static_cast<std::size_t>(at)];
    if constexpr (sizeof(T) == 4) {
      if (plan.tiled && at < 2) {
        if (at == 0) FirstTiledPass<kInverse>(pass, imag, x, to);
        else SecondTiledPass(pass, imag, from, to);
        continue;
      }
    }
    WithRadix(pass.radix, [&](auto radix) {
      if (at == 0) FirstPass<radix, kInverse>(pass, imag, x, to);
      else MiddlePass<radix>(pass, imag, from, to);
    });
  }
  const fft_pass<T>& pass = plan.passes[static_cast<std::size_t>(last)];
  WithRadix(pass.radix, [&](auto radix) { LastPass<radix, kInverse>(pass, imag, scale, from, y); });
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
