// SPDX-License-Identifier: Apache-2.0
// The loops of real dtypes are plain ones on purpose: conversions are branch-free selects that the compiler vectorises
// per target. Highway 1.0.3 lacks half of the pairs, and its DemoteTo of bfloat16 truncates.
#include "kernels/convert/convert.h"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert/convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE T load(const void* p, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::uint8_t*>(p) + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
HWY_INLINE void store(void* p, std::size_t i, T value) {
  std::memcpy(static_cast<std::uint8_t*>(p) + i * sizeof(T), &value, sizeof(T));
}

// Truncates towards zero and saturates; NaN gives 0. If F holds every To, the limits are applied first: three
// operations. Else both limits are exact in F, a power of two each.
template <class To, class F>
HWY_INLINE To truncated(F x) {
  using limits = std::numeric_limits<To>;
  if constexpr (std::numeric_limits<F>::digits >= limits::digits) {
    constexpr F lowest = static_cast<F>(limits::lowest()), highest = static_cast<F>(limits::max());
    x = x == x ? x : F{0};
    x = x > lowest ? x : lowest;
    x = x < highest ? x : highest;
    return static_cast<To>(x);
  }
  constexpr F low = static_cast<F>(limits::lowest());
  constexpr F half = static_cast<F>(std::uint64_t{1} << (limits::digits - 1));
  constexpr F end = half * 2;  // the first value above the range
  return x != x ? To{0} : x <= low ? limits::lowest() : x >= end ? limits::max() : static_cast<To>(x);
}

template <dtype To, class X>
HWY_INLINE storage_t<To> converted(X x) {
  using T = storage_t<To>;
  if constexpr (To == dtype::boolean) return static_cast<T>(x != 0);
  else if constexpr (hwy::IsFloat<X>() && !hwy::IsFloat<T>()) return truncated<T>(x);
  else return static_cast<T>(x);
}

// ------------------------------------------------------------------------------------------ halves

// As basic_half has it (half.h), without branches, for the compiler to vectorise.
HWY_INLINE float widened(float16 x) {
  const std::uint32_t sign = (x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7fffu;
  const std::uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00 ? 224u << 23 : 112u << 23);
  const std::uint32_t below = __builtin_bit_cast(std::uint32_t, static_cast<float>(magnitude) * 0x1p-24f);
  return __builtin_bit_cast(float, sign | (magnitude < 0x400 ? below : normal));
}
HWY_INLINE float widened(bfloat16 x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16); }

// The sum with the even neighbour's last bit carries exactly where the number is to be rounded up. Below the normal
// numbers the addition rounds: to a multiple of 2^-24, the unit of a float32 between 1/2 and 1.
HWY_INLINE void round_to(float x, float16& y) {
  const std::uint32_t all = __builtin_bit_cast(std::uint32_t, x), magnitude = all & 0x7fffffff;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const std::uint32_t below =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - (126u << 23);
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  std::uint32_t value = magnitude < 113u << 23 ? below : normal;
  value = magnitude >= 143u << 23 ? 0x7c00 : value;
  value = magnitude > 0x7f800000 ? nan : value;
  y.bits = static_cast<std::uint16_t>(all >> 16 & 0x8000) | static_cast<std::uint16_t>(value);
}
HWY_INLINE void round_to(float x, bfloat16& y) {
  const std::uint32_t all = __builtin_bit_cast(std::uint32_t, x), nan = (all >> 16) | 0x40;
  const std::uint32_t value = (all + 0x7fff + (all >> 16 & 1)) >> 16;
  y.bits = static_cast<std::uint16_t>((all & 0x7fffffff) > 0x7f800000 ? nan : value);
}

// A float32 that rounds to a half as x does: of the two around x the one whose last bit is 1 (rounding to odd, Boldo
// and Melquiond 2008), which is never a tie.
HWY_INLINE float rounded_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest);
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, nearest);
  bits -= (back < 0 ? -back : back) > (x < 0 ? -x : x) ? 1 : 0;
  bits |= back != x ? 1 : 0;
  return __builtin_bit_cast(float, bits);
}
template <class T>
HWY_INLINE float for_rounding(T x) {
  if constexpr (hwy::IsSame<T, std::int64_t>()) return rounded_to_odd(static_cast<double>(without_low_bits(x)));
  else if constexpr (sizeof(T) >= sizeof(float) && !hwy::IsSame<T, float>())
    return rounded_to_odd(static_cast<double>(x));
  else return static_cast<float>(x);
}

// ------------------------------------------------------------------------------------------ blocks

constexpr bool is_half(dtype type) { return trait_of(type).kind == dtype_kind::half; }
constexpr bool is_complex(dtype type) { return trait_of(type).kind == dtype_kind::complex; }
// The dtype of the numbers that elements are converted as: that in which ops without a kernel compute, and the parts of
// complex numbers.
constexpr dtype on_the_way(dtype type) {
  if (type == dtype::complex64) return dtype::float32;
  return type == dtype::complex128 ? dtype::float64 : trait_of(type).computed;
}
// An integer dtype that passes through a wider one, so that its pairs with all other dtypes cost no code.
constexpr bool is_stored(dtype type) { return trait_of(type).kind == dtype_kind::integer && on_the_way(type) != type; }

// Elements that need another form on the way pass through blocks, because the compiler does not vectorise pairs, and
// so that a pair of dtypes costs no code that another one has.
constexpr std::size_t part_block = 512;

// Elements [0, n) of z as parts; n <= part_block.
template <class P>
HWY_NOINLINE void take_apart(const void* z, std::size_t n, P* re, P* im) {
  const hn::ScalableTag<P> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = a;
    hn::LoadInterleaved2(d, static_cast<const P*>(z) + 2 * i, a, b);
    hn::StoreU(a, d, re + i);
    hn::StoreU(b, d, im + i);
  }
  for (; i < n; ++i) {
    re[i] = load<P>(z, 2 * i);
    im[i] = load<P>(z, 2 * i + 1);
  }
}
template <class P>
HWY_NOINLINE void put_together(const P* re, const P* im, void* z, std::size_t n) {
  const hn::ScalableTag<P> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
    hn::StoreInterleaved2(hn::LoadU(d, re + i), hn::LoadU(d, im + i), d, static_cast<P*>(z) + 2 * i);
  for (; i < n; ++i) {
    store(z, 2 * i, re[i]);
    store(z, 2 * i + 1, im[i]);
  }
}

// Real numbers to real numbers, neither of them in half precision.
template <dtype From, dtype To>
HWY_NOINLINE void cast_block(const void* x, void* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    storage_t<From> value = load<storage_t<From>>(x, i);
    // A stored boolean counts as 1 whatever its byte is.
    if constexpr (From == dtype::boolean) value = value != 0;
    store(y, i, converted<To>(value));
  }
}
template <class Half>
HWY_NOINLINE void widen_block(const void* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = widened(load<Half>(x, i));
}
template <class Half>
HWY_NOINLINE void round_block(const float* x, void* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    Half value;
    round_to(x[i], value);
    store(y, i, value);
  }
}
template <dtype From>
HWY_NOINLINE void for_rounding_block(const void* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    storage_t<From> value = load<storage_t<From>>(x, i);
    if constexpr (From == dtype::boolean) value = value != 0;
    y[i] = for_rounding(value);
  }
}

// Integers as narrower ones: their low bits, or, from reals, the nearest value of the range.
template <class T, class W>
HWY_NOINLINE void wrap_block(const W* x, void* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) store(y, i, static_cast<T>(x[i]));
}
template <class T, class W>
HWY_NOINLINE void saturate_block(const W* x, void* y, std::size_t n) {
  constexpr W least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  for (std::size_t i = 0; i < n; ++i) {
    const W value = x[i] < least ? least : x[i];
    store(y, i, static_cast<T>(value > most ? most : value));
  }
}

// n numbers of a real dtype as elements of To.
template <dtype From, dtype To>
HWY_INLINE void write_block(const void* x, void* y, std::size_t n) {
  static_assert(!is_half(From) && !is_complex(From) && !is_stored(From));
  if constexpr (is_stored(To)) {
    constexpr dtype wide = on_the_way(To);
    storage_t<wide> numbers[part_block];
    cast_block<From, wide>(x, numbers, n);
    if constexpr (hwy::IsFloat<storage_t<From>>()) saturate_block<storage_t<To>>(numbers, y, n);
    else wrap_block<storage_t<To>>(numbers, y, n);
  } else if constexpr (is_complex(To)) {
    part_t<To> re[part_block], im[part_block] = {};
    cast_block<From, on_the_way(To)>(x, re, n);
    put_together(re, im, y, n);
  } else if constexpr (is_half(To) && From == dtype::float32) {
    round_block<storage_t<To>>(static_cast<const float*>(x), y, n);
  } else if constexpr (is_half(To)) {
    float numbers[part_block];
    for_rounding_block<From>(x, numbers, n);
    round_block<storage_t<To>>(numbers, y, n);
  } else {
    cast_block<From, To>(x, y, n);
  }
}

// n elements of From as elements of To; n <= part_block.
template <dtype From, dtype To>
HWY_INLINE void cast_part(const void* x, void* y, std::size_t n) {
  if constexpr (is_half(From)) {
    float numbers[part_block];
    widen_block<storage_t<From>>(x, numbers, n);
    write_block<dtype::float32, To>(numbers, y, n);
  } else if constexpr (is_stored(From)) {
    constexpr dtype wide = on_the_way(From);
    storage_t<wide> numbers[part_block];
    cast_block<From, wide>(x, numbers, n);
    write_block<wide, To>(numbers, y, n);
  } else if constexpr (is_complex(From)) {
    constexpr dtype part = on_the_way(From), wanted = on_the_way(To);
    part_t<From> re[part_block], im[part_block];
    take_apart(x, n, re, im);
    if constexpr (is_complex(To)) {
      part_t<To> real[part_block], imag[part_block];
      cast_block<part, wanted>(re, real, n);
      cast_block<part, wanted>(im, imag, n);
      put_together(real, imag, y, n);
    } else if constexpr (To == dtype::boolean) {
      for (std::size_t i = 0; i < n; ++i) store(y, i, static_cast<std::uint8_t>((re[i] != 0) | (im[i] != 0)));
    } else {
      write_block<part, To>(re, y, n);
    }
  } else {
    write_block<From, To>(x, y, n);
  }
}

template <dtype From, dtype To>
void cast_array(const void* x, void* y, std::size_t n) {
  using T = storage_t<From>;
  using U = storage_t<To>;
  if constexpr (From == To && From != dtype::boolean) {
    if (n != 0) std::memcpy(y, x, n * sizeof(T));
  } else if constexpr (on_the_way(From) == From && on_the_way(To) == To) {
    cast_block<From, To>(x, y, n);
  } else {
    for (std::size_t start = 0; start < n; start += part_block) {
      const std::size_t count = n - start < part_block ? n - start : part_block;
      cast_part<From, To>(static_cast<const T*>(x) + start, static_cast<U*>(y) + start, count);
    }
  }
}

template <dtype From>
HWY_INLINE void Cast(const cast_geometry& g, const void* x, void* y) {
  const std::size_t n = static_cast<std::size_t>(g.count);
  visit_number(g.to, [&](auto to) HWY_ATTR { cast_array<From, decltype(to)::value>(x, y, n); });
}

template <std::size_t part, class T, class P>
HWY_INLINE void take_part(const T* z, P* y, std::size_t n) {
  P parts[2][part_block];
  for (std::size_t start = 0; start < n; start += part_block) {
    const std::size_t count = n - start < part_block ? n - start : part_block;
    take_apart(z + start, count, parts[0], parts[1]);
    std::memcpy(y + start, parts[part], count * sizeof(P));
  }
}
template <dtype Type>
HWY_INLINE void Real(const convert_geometry& g, const storage_t<Type>* z, part_t<Type>* y) {
  take_part<0>(z, y, static_cast<std::size_t>(g.count));
}
template <dtype Type>
HWY_INLINE void Imag(const convert_geometry& g, const storage_t<Type>* z, part_t<Type>* y) {
  take_part<1>(z, y, static_cast<std::size_t>(g.count));
}

template <dtype Type, class P = storage_t<Type>>
HWY_INLINE void Complex(const convert_geometry& g, const P* re, const P* im, void* z) {
  put_together(re, im, z, static_cast<std::size_t>(g.count));
}

// sqrt(re^2 + im^2) in double precision, where squares of floats neither over- nor underflow; the error is half a unit
// in the last place and a little. An infinite part gives infinity, whatever the other one is. The roots become floats
// one by one: where Highway emulates DemoteTo, what is too large for a float becomes its largest.
template <class D, class F>
HWY_INLINE void put_magnitudes(D d, F floats, const float* z, float* y) {
  hn::Vec<F> re, im;
  hn::LoadInterleaved2(floats, z, re, im);
  const auto a = hn::PromoteTo(d, re), b = hn::PromoteTo(d, im);
  const auto square = hn::Add(hn::Mul(a, a), hn::Mul(b, b));
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto is_infinite = hn::Or(hn::Eq(hn::Abs(a), infinity), hn::Eq(hn::Abs(b), infinity));
  HWY_ALIGN double roots[hn::MaxLanes(D{})];
  hn::Store(hn::Sqrt(hn::IfThenElse(is_infinite, infinity, square)), d, roots);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) y[i] = static_cast<float>(roots[i]);
}
HWY_INLINE void put_all_magnitudes(const float* z, float* y, std::size_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) put_magnitudes(d, floats, z + 2 * i, y + i);
  if (i == n) return;
  float last[2 * hn::MaxLanes(d)] = {}, magnitudes[hn::MaxLanes(d)];
  std::memcpy(last, z + 2 * i, (n - i) * 2 * sizeof(float));
  put_magnitudes(d, floats, last, magnitudes);
  std::memcpy(y + i, magnitudes, (n - i) * sizeof(float));
}

// In double: from 2^500 on the squares would overflow, below 2^-400 their digits would get lost, so that both parts are
// scaled by a power of two. Each step is rounded by itself: every target gives bitwise identical results.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V magnitudes_of(D d, V re, V im) {
  const V p = hn::Abs(re), q = hn::Abs(im), one = hn::Set(d, 1.0);
  const V most = hn::IfThenElse(hn::Lt(p, q), q, p);
  const V up = hn::Set(d, 0x1p600), down = hn::Set(d, 0x1p-600);
  const auto big = hn::Gt(most, hn::Set(d, 0x1p500)), small = hn::Lt(most, hn::Set(d, 0x1p-400));
  const V scale = hn::IfThenElse(big, down, hn::IfThenElse(small, up, one));
  const V back = hn::IfThenElse(big, up, hn::IfThenElse(small, down, one));
  const V u = hn::Mul(p, scale), v = hn::Mul(q, scale);
  const V y = hn::Mul(hn::Sqrt(hn::Add(hn::Mul(u, u), hn::Mul(v, v))), back);
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  return hn::IfThenElse(hn::Or(hn::Eq(p, infinity), hn::Eq(q, infinity)), infinity, y);
}
HWY_INLINE void put_all_magnitudes(const double* z, double* y, std::size_t n) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> re, im;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::LoadInterleaved2(d, z + 2 * i, re, im);
    hn::StoreU(magnitudes_of(d, re, im), d, y + i);
  }
  if (i == n) return;
  double last[2 * hn::MaxLanes(d)] = {}, magnitudes[hn::MaxLanes(d)];
  std::memcpy(last, z + 2 * i, (n - i) * 2 * sizeof(double));
  hn::LoadInterleaved2(d, last, re, im);
  hn::StoreU(magnitudes_of(d, re, im), d, magnitudes);
  std::memcpy(y + i, magnitudes, (n - i) * sizeof(double));
}

template <dtype Type, class P = part_t<Type>>
HWY_INLINE void ComplexAbs(const convert_geometry& g, const P* z, P* y) {
  put_all_magnitudes(z, y, static_cast<std::size_t>(g.count));
}

KG_DEFINE_KERNELS(KG_CONVERT_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_CONVERT_KERNELS)

}  // namespace kerngrad::kernels
#endif
