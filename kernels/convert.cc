// SPDX-License-Identifier: Apache-2.0
// The loops of real dtypes are plain ones on purpose: conversions are branch-free selects that the compiler vectorises
// per target, and Highway 1.0.3 lacks half of the pairs.
#include "kernels/convert.h"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The storage of an element; a complex number is a pair.
struct pair {
  float re, im;
};
template <dtype T> struct element_of {
  using type = storage_t<T>;
};
template <> struct element_of<dtype::complex64> {
  using type = pair;
};
template <dtype T> using element_t = typename element_of<T>::type;

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

// Truncates towards zero and saturates; NaN gives 0. Where F holds every To, the limits are applied first: three
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
HWY_INLINE element_t<To> converted(X x) {
  using T = element_t<To>;
  if constexpr (hwy::IsSame<X, pair>()) {
    if constexpr (To == dtype::complex64) return x;
    else if constexpr (To == dtype::boolean) return static_cast<T>((x.re != 0) | (x.im != 0));
    else return converted<To>(x.re);
  } else if constexpr (To == dtype::complex64) {
    return {static_cast<float>(x), 0.0f};
  } else if constexpr (To == dtype::boolean) {
    return static_cast<T>(x != 0);
  } else if constexpr (hwy::IsFloat<X>() && !hwy::IsFloat<T>()) {
    return truncated<T>(x);
  } else {
    return static_cast<T>(x);
  }
}

// Complex numbers pass through blocks of their parts, because the compiler does not vectorise pairs.
constexpr std::size_t part_block = 512;

// Elements [start, start + n) of z as parts; n <= part_block.
HWY_INLINE void take_apart(const void* z, std::size_t start, std::size_t n, float* re, float* im) {
  const hn::ScalableTag<float> d;
  const std::uint8_t* from = static_cast<const std::uint8_t*>(z) + start * sizeof(pair);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = a;
    hn::LoadInterleaved2(d, reinterpret_cast<const float*>(from) + 2 * i, a, b);
    hn::StoreU(a, d, re + i);
    hn::StoreU(b, d, im + i);
  }
  for (; i < n; ++i) {
    re[i] = load<float>(from, 2 * i);
    im[i] = load<float>(from, 2 * i + 1);
  }
}

HWY_INLINE void put_together(const float* re, const float* im, void* z, std::size_t start, std::size_t n) {
  const hn::ScalableTag<float> d;
  std::uint8_t* to = static_cast<std::uint8_t*>(z) + start * sizeof(pair);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreInterleaved2(hn::LoadU(d, re + i), hn::LoadU(d, im + i), d, reinterpret_cast<float*>(to) + 2 * i);
  }
  for (; i < n; ++i) store(to, i, pair{re[i], im[i]});
}

template <dtype From, dtype To>
HWY_INLINE void cast_block(const void* x, void* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    element_t<From> value = load<element_t<From>>(x, i);
    // A stored boolean counts as 1 whatever its byte is.
    if constexpr (From == dtype::boolean) value = value != 0;
    store(y, i, converted<To>(value));
  }
}

template <dtype From, dtype To>
void cast_array(const void* x, void* y, std::size_t n) {
  if constexpr ((From == dtype::complex64) == (To == dtype::complex64)) {
    cast_block<From, To>(x, y, n);
  } else {
    float re[part_block], im[part_block] = {};
    for (std::size_t start = 0; start < n; start += part_block) {
      const std::size_t count = n - start < part_block ? n - start : part_block;
      if constexpr (To == dtype::complex64) {
        cast_block<From, dtype::float32>(static_cast<const element_t<From>*>(x) + start, re, count);
        put_together(re, im, y, start, count);
      } else {
        take_apart(x, start, count, re, im);
        element_t<To>* to = static_cast<element_t<To>*>(y) + start;
        if constexpr (To == dtype::boolean) {
          for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<element_t<To>>((re[i] != 0) | (im[i] != 0));
        } else {
          cast_block<dtype::float32, To>(re, to, count);
        }
      }
    }
  }
}

template <dtype From>
HWY_INLINE void cast(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const cast_geometry*>(geometry);
  const std::size_t n = static_cast<std::size_t>(g.count);
  switch (g.to) {
    case dtype::float32: return cast_array<From, dtype::float32>(in[0], out[0], n);
    case dtype::float64: return cast_array<From, dtype::float64>(in[0], out[0], n);
    case dtype::int32: return cast_array<From, dtype::int32>(in[0], out[0], n);
    case dtype::int64: return cast_array<From, dtype::int64>(in[0], out[0], n);
    case dtype::uint8: return cast_array<From, dtype::uint8>(in[0], out[0], n);
    case dtype::boolean: return cast_array<From, dtype::boolean>(in[0], out[0], n);
    case dtype::complex64: return cast_array<From, dtype::complex64>(in[0], out[0], n);
    case dtype::float16:
    case dtype::bfloat16: return;  // no kernel converts to these
  }
}

#define KG_DEFINE_CAST(Name, type)                                                          \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry) { \
    cast<dtype::type>(in, out, geometry);                                                   \
  }
KG_ALL(KG_DEFINE_CAST, Cast)

HWY_INLINE std::size_t count_of(const void* geometry) {
  return static_cast<std::size_t>(static_cast<const convert_geometry*>(geometry)->count);
}

template <std::size_t part>
HWY_INLINE void take_part(const void* z, void* y, std::size_t n) {
  float parts[2][part_block];
  for (std::size_t start = 0; start < n; start += part_block) {
    const std::size_t count = n - start < part_block ? n - start : part_block;
    take_apart(z, start, count, parts[0], parts[1]);
    std::memcpy(static_cast<float*>(y) + start, parts[part], count * sizeof(float));
  }
}
void Real_complex64_run(const void* const* in, void* const* out, const void* geometry) {
  take_part<0>(in[0], out[0], count_of(geometry));
}
void Imag_complex64_run(const void* const* in, void* const* out, const void* geometry) {
  take_part<1>(in[0], out[0], count_of(geometry));
}

void Complex_float32_run(const void* const* in, void* const* out, const void* geometry) {
  put_together(static_cast<const float*>(in[0]), static_cast<const float*>(in[1]), out[0], 0, count_of(geometry));
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
void ComplexAbs_complex64_run(const void* const* in, void* const* out, const void* geometry) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> floats;
  const float* z = static_cast<const float*>(in[0]);
  float* y = static_cast<float*>(out[0]);
  const std::size_t n = count_of(geometry), lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) put_magnitudes(d, floats, z + 2 * i, y + i);
  if (i == n) return;
  float last[2 * hn::MaxLanes(d)] = {}, magnitudes[hn::MaxLanes(d)];
  std::memcpy(last, z + 2 * i, (n - i) * 2 * sizeof(float));
  put_magnitudes(d, floats, last, magnitudes);
  std::memcpy(y + i, magnitudes, (n - i) * sizeof(float));
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"

namespace kerngrad::kernels {

#define KG_CONVERT(Name, types) types(KG_DISPATCH, Name)
#define KG_DISPATCH(Name, type)                                                             \
  KG_TARGETS_OF(Name##_##type##_run);                                                       \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry) { \
    KG_ON_TARGET(Name##_##type##_run)(in, out, geometry);                                   \
  }
#include "kernels/convert.inc"

}  // namespace kerngrad::kernels
#endif
