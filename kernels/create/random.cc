// SPDX-License-Identifier: Apache-2.0
// Random numbers from a counter; random.h says which words an element uses.
//
// Bitwise identical on every target: integer arithmetic, and single IEEE operations + - * sqrt in a fixed order, never
// fused. RandomUniform: u = the upper 24 (float32) or 53 (float64) bits as a fraction, y = low + u * (high - low), at
// most the value before high, where high - low overflows computed on halves and doubled; int32: low + (word * (high -
// low)) / 2^32, biased by less than (high - low) / 2^32. RandomNormal: Box and Muller, sqrt(-2 log u) times the cosine
// (even elements) or sine (odd elements) of a uniform angle; log, sin and cos are right to about 2 units in the last
// place, the largest magnitude is 6.8 (float32) or 8.7 (float64) standard deviations. Reference:
// kernels/create/reference_random.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/create/random.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/create/philox-inl.h"
#include "kernels/create/random.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// 4096 bytes of words, a multiple of every two vectors: RISC-V allows vectors of more than 2048 bytes, but no CPU has
// them.
constexpr std::size_t chunk_blocks = 256;

using D32 = hn::ScalableTag<float>;
using D64 = hn::ScalableTag<double>;
constexpr std::uint64_t two52_bits = 0x4330000000000000;  // 2^52 as a double
constexpr double two52 = 4503599627370496.0;

// Integers below 2^52 as doubles: no target lacks this conversion.
template <class VU>
HWY_INLINE hn::Vec<D64> to_double(VU v) {
  const D64 d;
  const hn::RebindToUnsigned<D64> du;
  return hn::Sub(hn::BitCast(d, hn::Or(v, hn::Set(du, two52_bits))), hn::Set(d, two52));
}

// The upper 53 bits as an integer.
template <class VU>
HWY_INLINE hn::Vec<D64> upper53(VU w) {
  const D64 d;
  const hn::RebindToUnsigned<D64> du;
  const auto high = to_double(hn::ShiftRight<32>(w));
  const auto low = to_double(hn::ShiftRight<11>(hn::And(w, hn::Set(du, 0xFFFFFFFFu))));
  return hn::Add(hn::Mul(high, hn::Set(d, 2097152.0)), low);
}

template <class D, class V>
HWY_INLINE V step(D d, V p, V x, double c) {
  return hn::Add(hn::Mul(p, x), hn::Set(d, static_cast<hn::TFromD<D>>(c)));
}

// log of a positive normal number. Cephes' logf: u = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
HWY_INLINE hn::Vec<D32> portable_log(D32 d, hn::Vec<D32> u) {
  const hn::RebindToSigned<D32> di;
  const auto bits = hn::BitCast(di, u);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const auto f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), hn::Set(d, 1.0f));
  const auto k = hn::ConvertTo(d, exponent);
  const auto f2 = hn::Mul(f, f);
  auto p = hn::Set(d, 7.0376836292e-2f);
  for (const double c : {-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                         2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1}) {
    p = step(d, p, f, c);
  }
  p = hn::Add(hn::Mul(hn::Mul(f, f2), p), hn::Mul(k, hn::Set(d, -2.12194440e-4f)));
  p = hn::Sub(p, hn::Mul(hn::Set(d, 0.5f), f2));
  return hn::Add(hn::Add(f, p), hn::Mul(k, hn::Set(d, 0.693359375f)));
}

// log of a positive normal number. fdlibm's __ieee754_log: s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + R)).
HWY_INLINE hn::Vec<D64> portable_log(D64 d, hn::Vec<D64> u) {
  const hn::RebindToUnsigned<D64> du;
  const auto bits = hn::BitCast(du, u);
  const auto biased = hn::ShiftRight<52>(hn::Add(bits, hn::Set(du, 0x3ff0000000000000 - 0x3fe6a09e00000000)));
  const auto one_plus_f = hn::Sub(hn::Add(bits, hn::Set(du, 0x3ff0000000000000)), hn::ShiftLeft<52>(biased));
  const auto f = hn::Sub(hn::BitCast(d, one_plus_f), hn::Set(d, 1.0));
  const auto k = hn::Sub(to_double(biased), hn::Set(d, 1023.0));
  const auto s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const auto z = hn::Mul(s, s);
  auto r = hn::Set(d, 1.479819860511658591e-01);
  for (const double c : {1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
                         2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01}) {
    r = step(d, r, z, c);
  }
  r = hn::Mul(r, z);
  const auto half_square = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
  const auto tail = hn::Add(hn::Mul(s, hn::Add(half_square, r)), hn::Mul(k, hn::Set(d, 1.90821492927058770002e-10)));
  return hn::Sub(hn::Mul(k, hn::Set(d, 6.93147180369123816490e-01)), hn::Sub(hn::Sub(half_square, tail), f));
}

// Uniform numbers in (0, 1]: (w + 1/2) / 2^32, rounded once.
HWY_INLINE hn::Vec<D32> open_uniform(D32 d, hn::Vec<hn::RebindToUnsigned<D32>> w) {
  const hn::RebindToSigned<D32> di;
  const hn::RebindToUnsigned<D32> du;
  const auto high = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<16>(w)));
  const auto low = hn::ConvertTo(d, hn::BitCast(di, hn::And(w, hn::Set(du, 0xFFFFu))));
  const auto sum = hn::Add(hn::Mul(high, hn::Set(d, 65536.0f)), hn::Add(low, hn::Set(d, 0.5f)));
  return hn::Mul(sum, hn::Set(d, 0x1p-32f));
}
// The same with the upper 53 bits.
HWY_INLINE hn::Vec<D64> open_uniform(D64 d, hn::Vec<hn::RebindToUnsigned<D64>> w) {
  return hn::Mul(hn::Add(upper53(w), hn::Set(d, 0.5)), hn::Set(d, 0x1p-53));
}

// The bits below the upper two as an angle within an eighth of a turn, in radians.
HWY_INLINE hn::Vec<D32> angle(D32 d, hn::Vec<hn::RebindToUnsigned<D32>> w) {
  const auto turn = hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<D32>(), hn::ShiftLeft<2>(w)));
  return hn::Mul(turn, hn::Set(d, static_cast<float>(1.57079632679489661923 * 0x1p-32)));
}
HWY_INLINE hn::Vec<D64> angle(D64 d, hn::Vec<hn::RebindToUnsigned<D64>> w) {
  const auto turn = hn::Sub(hn::Mul(upper53(hn::ShiftLeft<2>(w)), hn::Set(d, 0x1p-53)), hn::Set(d, 0.5));
  return hn::Mul(turn, hn::Set(d, 1.57079632679489661923));
}

// Cosine and sine for |a| <= pi/4: Cephes' sinf and cosf, fdlibm's kernels.
HWY_INLINE void portable_sincos(D32 d, hn::Vec<D32> a, hn::Vec<D32>& cosine, hn::Vec<D32>& sine) {
  const auto z = hn::Mul(a, a);
  auto s = hn::Set(d, -1.9515295891e-4f), c = hn::Set(d, 2.443315711809948e-5f);
  for (const double k : {8.3321608736e-3, -1.6666654611e-1}) s = step(d, s, z, k);
  for (const double k : {-1.388731625493765e-3, 4.166664568298827e-2}) c = step(d, c, z, k);
  sine = hn::Add(a, hn::Mul(hn::Mul(a, z), s));
  cosine = hn::Add(hn::Sub(hn::Set(d, 1.0f), hn::Mul(hn::Set(d, 0.5f), z)), hn::Mul(hn::Mul(z, z), c));
}
HWY_INLINE void portable_sincos(D64 d, hn::Vec<D64> a, hn::Vec<D64>& cosine, hn::Vec<D64>& sine) {
  const auto z = hn::Mul(a, a);
  auto s = hn::Set(d, 1.58969099521155010221e-10), c = hn::Set(d, -1.13596475577881948265e-11);
  for (const double k : {-2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
                         8.33333333332248946124e-03, -1.66666666666666324348e-01}) {
    s = step(d, s, z, k);
  }
  for (const double k : {2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                         -1.38888888888741095749e-03, 4.16666666666666019037e-02}) {
    c = step(d, c, z, k);
  }
  sine = hn::Add(a, hn::Mul(hn::Mul(a, z), s));
  cosine = hn::Add(hn::Sub(hn::Set(d, 1.0), hn::Mul(hn::Set(d, 0.5), z)), hn::Mul(hn::Mul(z, z), c));
}

// `words` hold n elements of T; n is a multiple of two vectors.
template <class T, class U>
void normal(const U* HWY_RESTRICT words, T* HWY_RESTRICT y, std::size_t n, const random_geometry& g) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<U> du;
  const hn::RebindToSigned<decltype(d)> di;
  const auto mean = hn::Set(d, static_cast<T>(g.low)), deviation = hn::Set(d, static_cast<T>(g.high));
  const auto top = hn::Set(du, U{1} << (8 * sizeof(U) - 1));
  for (std::size_t i = 0; i < n; i += 2 * hn::Lanes(d)) {
    auto radius_word = hn::Zero(du), w = radius_word;
    hn::LoadInterleaved2(du, words + i, radius_word, w);
    // 0 - 2 log u, so that u = 1 gives +0
    const auto log_u = portable_log(d, open_uniform(d, radius_word));
    const auto radius = hn::Sqrt(hn::Sub(hn::Zero(d), hn::Mul(hn::Set(d, T{2}), log_u)));
    auto c = hn::Zero(d), s = c;
    portable_sincos(d, angle(d, w), c, s);
    // The upper two bits are the quadrant q: odd ones swap, the cosine is negative for 1 and 2, the sine for 2 and 3.
    const auto next = hn::ShiftLeft<1>(w);
    const auto odd = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, next)));
    const auto cosine = hn::Xor(hn::IfVecThenElse(odd, s, c), hn::BitCast(d, hn::And(hn::Xor(w, next), top)));
    const auto sine = hn::Xor(hn::IfVecThenElse(odd, c, s), hn::BitCast(d, hn::And(w, top)));
    const auto even_element = hn::Add(mean, hn::Mul(deviation, hn::Mul(radius, cosine)));
    const auto odd_element = hn::Add(mean, hn::Mul(deviation, hn::Mul(radius, sine)));
    hn::StoreInterleaved2(even_element, odd_element, d, y + i);
  }
}

// low, the width of [low, high), and the largest value that may be drawn. A width that overflows is that of halves,
// which are exact where it does, and what is drawn is doubled.
template <class T>
struct range {
  T low, width, largest, scale;
  explicit range(const random_geometry& g) : low(static_cast<T>(g.low)), width(0), largest(low), scale(1) {
    const T high = static_cast<T>(g.high);
    if (!(low < high)) return;
    largest = std::nextafter(high, -std::numeric_limits<T>::infinity());
    width = static_cast<T>(g.high - g.low);
    if (!std::isinf(width)) return;
    scale = 2;
    low = low / 2;
    width = high / 2 - low;
  }
};

template <class T, class U>
void uniform(const U* HWY_RESTRICT words, T* HWY_RESTRICT y, std::size_t n, const random_geometry& g) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const std::uint32_t low = static_cast<std::uint32_t>(static_cast<std::int64_t>(g.low));
    const std::uint64_t width = g.low < g.high ? static_cast<std::uint64_t>(g.high - g.low) : 0;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>(low + static_cast<std::uint32_t>((words[i] * width) >> 32));
    }
  } else {
    const hn::ScalableTag<T> d;
    const hn::ScalableTag<U> du;
    const range<T> r(g);
    const auto low = hn::Set(d, r.low), width = hn::Set(d, r.width), largest = hn::Set(d, r.largest);
    const auto scale = hn::Set(d, r.scale);
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto w = hn::LoadU(du, words + i);
      auto u = hn::Zero(d);
      if constexpr (sizeof(T) == 4) {
        const hn::RebindToSigned<decltype(d)> di;
        u = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(w))), hn::Set(d, 0x1p-24f));
      } else {
        u = hn::Mul(upper53(w), hn::Set(d, 0x1p-53));
      }
      hn::StoreU(hn::Min(hn::Mul(hn::Add(low, hn::Mul(u, width)), scale), largest), d, y + i);
    }
  }
}

// Draws chunk by chunk; a chunk starts at a block. Unwanted parts of the first and the last chunk are cut off.
template <class T, class Convert>
void draw(T* y, const random_geometry& g, Convert convert) {
  using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr std::size_t per_block = 16 / sizeof(T), chunk = chunk_blocks * per_block;
  const std::size_t vectors = 2 * hn::Lanes(hn::ScalableTag<T>());
  HWY_ALIGN std::uint64_t words[2 * chunk_blocks];
  HWY_ALIGN U typed[chunk];
  HWY_ALIGN T drawn[chunk];
  std::uint64_t block = g.offset / per_block;
  std::size_t skip = static_cast<std::size_t>(g.offset % per_block), left = static_cast<std::size_t>(g.count);
  while (left != 0) {
    const std::size_t now = std::min(left, chunk - skip);
    const std::size_t whole = (skip + now + vectors - 1) / vectors * vectors;
    philox(g.seed, block, whole / per_block, words);
    std::memcpy(typed, words, whole * sizeof(T));
    if (now == chunk) {
      convert(typed, y, whole);
    } else {
      convert(typed, drawn, whole);
      std::memcpy(y, drawn + skip, now * sizeof(T));
    }
    y += now;
    left -= now;
    skip = 0;
    block += chunk_blocks;
  }
}

template <dtype Type, class T = storage_t<Type>>
void RandomUniform(const random_geometry& g, T* y) {
  draw(y, g, [&g](const auto* words, T* to, std::size_t n) { uniform(words, to, n, g); });
}

template <dtype Type, class T = storage_t<Type>>
void RandomNormal(const random_geometry& g, T* y) {
  draw(y, g, [&g](const auto* words, T* to, std::size_t n) { normal(words, to, n, g); });
}

}  // namespace

KG_DEFINE_KERNELS(KG_RANDOM_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_RANDOM_KERNELS)

}  // namespace kerngrad::kernels
#endif
