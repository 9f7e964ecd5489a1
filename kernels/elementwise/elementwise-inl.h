// SPDX-License-Identifier: Apache-2.0
// The loops of the elementwise kernels, once per target: contiguous arrays and broadcast rows share one body.
// A map is a functor on vectors. It says with its base class whether its result is a vector or a mask and whether
// its code is short (the loop is unrolled) or long (few copies, the processor overlaps the iterations).
#if defined(KERNGRAD_KERNELS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_ELEMENTWISE_INL_H_
#undef KERNGRAD_KERNELS_ELEMENTWISE_INL_H_
#else
#define KERNGRAD_KERNELS_ELEMENTWISE_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/common/stream.h"
#include "kernels/common/target-inl.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The lane that holds one element: a complex number travels as one 64-bit lane, so that an element is always a lane.
template <dtype T>
using lane_t = std::conditional_t<trait_of(T).kind == dtype_kind::complex, std::int64_t, storage_t<T>>;

// True if MaskedLoad and BlendedStore leave memory beyond the mask alone. Highway 1.0.3 blends whole vectors
// elsewhere, and on AVX2 for lanes below four bytes.
template <class T>
constexpr bool masked_memory() {
#if KG_MASKED_WORDS
  return sizeof(T) >= 4;
#else
  return !HWY_MEM_OPS_MIGHT_FAULT;
#endif
}

// The first `count` lanes from p, zeros above; 0 < count <= Lanes(d). Copies are of bytes: complex numbers, lanes of
// eight bytes here, are aligned to four only.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, const T* p, std::size_t count) {
  if constexpr (masked_memory<T>()) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, p);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D{})] = {};
    std::memcpy(lanes, static_cast<const void*>(p), count * sizeof(T));
    return hn::Load(d, lanes);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(D d, hn::Vec<D> v, T* y, std::size_t count) {
  if constexpr (masked_memory<T>()) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, y);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D{})];
    hn::Store(v, d, lanes);
    std::memcpy(static_cast<void*>(y), lanes, count * sizeof(T));
  }
}

// One byte 0 or 1 per lane of a mask, as a vector with as many byte lanes as D has lanes.
template <class D, class M>
HWY_INLINE hn::Vec<hn::Rebind<std::uint8_t, D>> bytes_of_mask([[maybe_unused]] D d, M mask) {
  const hn::Rebind<std::uint8_t, D> bytes;
#if KG_AVX512
  // Masks are bit sets there: the bits move to a mask of bytes without touching the lanes.
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  return hn::IfThenElseZero(hn::LoadMaskBits(bytes, bits), hn::Set(bytes, 1));
#else
  constexpr std::size_t size = sizeof(hn::TFromD<D>);
  if constexpr (size == 1) {
    return hn::IfThenElseZero(mask, hn::Set(bytes, 1));
  } else if constexpr (size == 4) {
    const hn::RebindToSigned<D> ints;
    return hn::DemoteTo(bytes, hn::IfThenElseZero(hn::RebindMask(ints, mask), hn::Set(ints, 1)));
  } else {
    const hn::RebindToUnsigned<D> wide;
    return hn::TruncateTo(bytes, hn::IfThenElseZero(hn::RebindMask(wide, mask), hn::Set(wide, 1)));
  }
#endif
}

// Results of a map, and how they reach memory.
struct vector_result {
  template <class D> using type = hn::TFromD<D>;
  template <class D, class V>
  static HWY_INLINE void put(D d, V v, hn::TFromD<D>* y) {
    hn::StoreU(v, d, y);
  }
  template <class D, class V>
  static HWY_INLINE void put_first(D d, V v, hn::TFromD<D>* y, std::size_t count) {
    store_first(d, v, y, count);
  }
};
struct mask_result {
  template <class D> using type = std::uint8_t;
  template <class D, class M>
  static HWY_INLINE void put(D d, M mask, std::uint8_t* y) {
    hn::StoreU(bytes_of_mask(d, mask), hn::Rebind<std::uint8_t, D>{}, y);
  }
  template <class D, class M>
  static HWY_INLINE void put_first(D d, M mask, std::uint8_t* y, std::size_t count) {
    store_first(hn::Rebind<std::uint8_t, D>{}, bytes_of_mask(d, mask), y, count);
  }
};

// Base classes of maps.
struct short_map {
  using result = vector_result;
  static constexpr bool is_short = true;
};
struct long_map {
  using result = vector_result;
  static constexpr bool is_short = false;
};
struct short_test {
  using result = mask_result;
  static constexpr bool is_short = true;
};

// An operand of a loop: an array (keep is all ones) or one value (keep is zero) spread over four vectors at p, which
// makes the loop the same code for both.
template <class T>
struct operand {
  const T* p;
  std::size_t keep;

  template <class D>
  HWY_INLINE hn::Vec<D> all(D d, std::size_t i, std::size_t offset) const {
    return hn::LoadU(d, p + (i & keep) + offset);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d, std::size_t i, std::size_t count) const {
    return load_first(d, p + (i & keep), count);
  }
  bool is(const void* y) const { return p == y; }
};
template <class T>
HWY_INLINE operand<T> array(const T* p) {
  return {p, ~std::size_t{0}};
}

// Stores come after all loads of a step and after the early load of the last vector: y may be one of the operands.
template <class Map, class D, class Out, class... In>
HWY_INLINE void short_loop(Map map, D d, Out* y, std::size_t n, In... in) {
  using result = typename Map::result;
  const std::size_t lanes = hn::Lanes(d);
  if (n < lanes) {
    if (n != 0) result::put_first(d, map(d, in.first(d, 0, n)...), y, n);
    return;
  }
  constexpr bool overlap = !masked_memory<hn::TFromD<D>>();
  const auto last = map(d, in.all(d, overlap ? n - lanes : 0, 0)...);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = map(d, in.all(d, i, 0)...);
    const auto v1 = map(d, in.all(d, i, lanes)...);
    const auto v2 = map(d, in.all(d, i, 2 * lanes)...);
    const auto v3 = map(d, in.all(d, i, 3 * lanes)...);
    result::put(d, v0, y + i);
    result::put(d, v1, y + i + lanes);
    result::put(d, v2, y + i + 2 * lanes);
    result::put(d, v3, y + i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) result::put(d, map(d, in.all(d, i, 0)...), y + i);
  if (i == n) return;
  if constexpr (overlap) {
    result::put(d, last, y + n - lanes);
  } else {
    result::put_first(d, map(d, in.first(d, i, n - i)...), y + i, n - i);
  }
}

// True if a map's results can be written past the caches: bytes and masks are a quarter of what is read.
template <class Map, class T>
constexpr bool can_stream = std::is_same_v<typename Map::result, vector_result> && sizeof(T) >= 4 && !KG_EMULATED;

// A result over an operand has its lines in the cache already: streaming them is slower by a quarter and more.
template <class T, class... In>
HWY_INLINE bool streams(const T* y, std::size_t n, const In&... in) {
  return is_streamed(n * sizeof(T)) && reinterpret_cast<std::uintptr_t>(y) % sizeof(T) == 0 && !(in.is(y) || ...);
}

// How many elements come before the first whole vector of y.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE std::size_t until_aligned(D d, const T* y, std::size_t n) {
  const std::size_t bytes = hn::Lanes(d) * sizeof(T);
  const std::size_t count = (bytes - reinterpret_cast<std::uintptr_t>(y) % bytes) % bytes / sizeof(T);
  return count < n ? count : n;
}

// As short_loop from an aligned element on, for results that no cache can hold and that are no operand.
template <class Map, class D, class Out, class... In>
HWY_NOINLINE void stream_loop(Map map, D d, Out* y, std::size_t start, std::size_t n, In... in) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = start;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = map(d, in.all(d, i, 0)...);
    const auto v1 = map(d, in.all(d, i, lanes)...);
    const auto v2 = map(d, in.all(d, i, 2 * lanes)...);
    const auto v3 = map(d, in.all(d, i, 3 * lanes)...);
    hn::Stream(v0, d, y + i);
    hn::Stream(v1, d, y + i + lanes);
    hn::Stream(v2, d, y + i + 2 * lanes);
    hn::Stream(v3, d, y + i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) hn::Stream(map(d, in.all(d, i, 0)...), d, y + i);
  if (i != n) store_first(d, map(d, in.first(d, i, n - i)...), y + i, n - i);
  hwy::FlushStream();
}

// From `start` on, past the caches if that is said: then y + start is aligned.
template <class Map, class D, class Out, class... In>
HWY_INLINE void long_loop(Map map, D d, Out* y, std::size_t start, std::size_t n, [[maybe_unused]] bool past_caches,
                          In... in) {
  using result = typename Map::result;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = start;
  // Functions that take four vectors do each of their steps for all.
  if constexpr (sizeof...(In) == 1 && requires(vectors<hn::Vec<D>, 4> v) { map.four(d, v); }) {
    for (; !past_caches && i + 4 * lanes <= n; i += 4 * lanes) {
      const auto& x = (in, ...);  // the only one
      auto v0 = x.all(d, i, 0), v1 = x.all(d, i, lanes);
      auto v2 = x.all(d, i, 2 * lanes), v3 = x.all(d, i, 3 * lanes);
      map.four(d, vectors<hn::Vec<D>, 4>{{&v0, &v1, &v2, &v3}});
      result::put(d, v0, y + i);
      result::put(d, v1, y + i + lanes);
      result::put(d, v2, y + i + 2 * lanes);
      result::put(d, v3, y + i + 3 * lanes);
    }
  }
#if KG_AVX512
  // Two vectors a step halve the loop's own instructions, which cost the table functions up to a fifth of their time.
  for (; !past_caches && i + 2 * lanes <= n; i += 2 * lanes) {
    const auto v0 = map(d, in.all(d, i, 0)...);
    const auto v1 = map(d, in.all(d, i, lanes)...);
    result::put(d, v0, y + i);
    result::put(d, v1, y + i + lanes);
  }
#endif
  for (; i < n; i += lanes) {
    const std::size_t left = n - i;
    const bool full = left >= lanes;
    const auto v = map(d, (full ? in.all(d, i, 0) : in.first(d, i, left))...);
    if constexpr (can_stream<Map, hn::TFromD<D>>) {
      if (full && past_caches) {
        hn::Stream(v, d, y + i);
        continue;
      }
    }
    if (full) {
      result::put(d, v, y + i);
    } else {
      result::put_first(d, v, y + i, left);
    }
  }
  if (past_caches) hwy::FlushStream();
}

// floor and ceil as IEEE 754 has them: Highway loses or invents the sign of zeros where it emulates them.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FloorOf(D, V x) {
#if KG_ROUNDS_AT_ONCE
  return hn::Floor(x);
#else
  return hn::CopySign(hn::Floor(x), x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V CeilOf(D, V x) {
#if KG_ROUNDS_AT_ONCE
  return hn::Ceil(x);
#else
  return hn::CopySign(hn::Ceil(x), x);
#endif
}

// Products that wrap for integers, of every lane type: Highway has no Mul for bytes and none for 64 bits.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V Product([[maybe_unused]] D d, V a, V b) {
  if constexpr (sizeof(T) == 1) {
    const hn::Repartition<std::uint16_t, D> pairs;
    const auto p = hn::BitCast(pairs, a), q = hn::BitCast(pairs, b);
    const auto even = hn::And(hn::Mul(p, q), hn::Set(pairs, 0xFF));
    const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(p), hn::ShiftRight<8>(q)));
    return hn::BitCast(d, hn::Or(even, odd));
  } else if constexpr (sizeof(T) == 8 && !hwy::IsFloat<T>()) {
    // (ah 2^32 + al)(bh 2^32 + bl) modulo 2^64 = al bl + ((al bh + ah bl) << 32)
    const hn::RebindToUnsigned<D> wide;
    const hn::Repartition<std::uint32_t, D> halves;
    const auto p = hn::BitCast(halves, a), q = hn::BitCast(halves, b);
    const auto cross = hn::BitCast(wide, hn::Mul(p, hn::Reverse2(halves, q)));
    const auto upper = hn::ShiftLeft<32>(hn::Add(cross, hn::ShiftRight<32>(cross)));
    return hn::BitCast(d, hn::Add(hn::MulEven(p, q), upper));
  } else {
    return hn::Mul(a, b);
  }
}

// d is the float32 tag, the vectors hold pairs. Products and sums are rounded one by one on every target.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ComplexProduct(D d, V a, V b) {
  const V p = hn::Mul(a, hn::DupEven(b));                  // ar br, ai br
  const V q = hn::Mul(hn::Reverse2(d, a), hn::DupOdd(b));  // ai bi, ar bi
  return hn::OddEven(hn::Add(p, q), hn::Sub(p, q));
}

// A parameter in the kernel's dtype, by the rule of Cast: integers truncate and saturate, NaN gives 0.
template <class T>
T parameter(double value) {
  if constexpr (hwy::IsFloat<T>()) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    // The highest int64 rounds up to 2^63 here, which is out of range itself.
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  }
}

/// y[i] = map(in[i]...) for i < n. Lanes are of type T; y may be exactly one of the operands' arrays.
template <class T, class Map, class Out, class... In>
HWY_NOINLINE void map_array(Map map, Out* y, std::size_t n, In... in) {
  const hn::ScalableTag<T> d;
  // The emulated target keeps one copy of every map: its vectors are loops themselves and slow to compile.
  constexpr bool unrolled = Map::is_short && !KG_EMULATED;
  std::size_t start = 0;
  bool past_caches = false;
  if constexpr (can_stream<Map, T>) {
    if (HWY_UNLIKELY(n >= stream_question) && streams(y, n, in...)) {
      start = until_aligned(d, y, n);
      if (start != 0) map_array<T>(map, y, start, in...);
      if constexpr (unrolled) return stream_loop(map, d, y, start, n, in...);
      past_caches = true;
    }
  }
  if constexpr (unrolled) {
    short_loop(map, d, y, n, in...);
  } else {
    long_loop(map, d, y, start, n, past_caches, in...);
  }
}

template <class T, class Map>
HWY_INLINE void flat1(Map map, const void* x, void* y, std::size_t n) {
  using out = typename Map::result::template type<hn::ScalableTag<T>>;
  map_array<T>(map, static_cast<out*>(y), n, array(static_cast<const T*>(x)));
}

template <class T, class Map>
HWY_INLINE void flat2(Map map, const void* a, const void* b, void* y, std::size_t n) {
  using out = typename Map::result::template type<hn::ScalableTag<T>>;
  map_array<T>(map, static_cast<out*>(y), n, array(static_cast<const T*>(a)), array(static_cast<const T*>(b)));
}

// Room for one value spread over the four vectors that a step of short_loop reads.
template <class T>
struct spread {
  HWY_ALIGN T lanes[4 * hn::MaxLanes(hn::ScalableTag<T>{})];

  // A row of an operand with innermost stride 1 or 0 that starts at p.
  HWY_INLINE operand<T> row(const T* p, bool moves) {
    if (moves) return array(p);
    const hn::ScalableTag<T> d;
    T value;
    std::memcpy(&value, p, sizeof value);
    const auto v = hn::Set(d, value);
    for (std::size_t k = 0; k < 4; ++k) hn::Store(v, d, lanes + k * hn::Lanes(d));
    return {lanes, 0};
  }
};

// Calls row(offsets, index of the first output element) for every row of the geometry. `count` operands.
template <int count, class Row>
HWY_INLINE void for_rows(const broadcast_geometry& g, Row row) {
  const int last = g.rank - 1;
  std::int64_t rows = 1;
  for (int axis = 0; axis < last; ++axis) rows *= g.dims[axis];
  if (g.dims[last] == 0) return;
  std::int64_t at[max_rank] = {};
  std::int64_t offsets[count] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
    row(offsets, r * g.dims[last]);
    for (int axis = last - 1; axis >= 0; --axis) {
      const bool wraps = ++at[axis] == g.dims[axis];
      for (int k = 0; k < count; ++k) offsets[k] += g.strides[k][axis] * (wraps ? 1 - g.dims[axis] : 1);
      if (!wraps) break;
      at[axis] = 0;
    }
  }
}

// A map of two operands on one row.
template <class T, class Out>
using row_fn = void (*)(Out* y, std::size_t n, operand<T> a, operand<T> b);
template <class T, class Map, class Out>
void map_row(Out* y, std::size_t n, operand<T> a, operand<T> b) {
  map_array<T>(Map{}, y, n, a, b);
}

// Calls a map's function for every row of the geometry. A row is an array or one value on either side. All maps of a
// lane type share this code: it is larger than most of them.
template <class T, class Out>
HWY_NOINLINE void broadcast_rows(row_fn<T, Out> map, const broadcast_geometry& g, const T* a, const T* b, Out* y) {
  const int last = g.rank - 1;
  const std::size_t n = static_cast<std::size_t>(g.dims[last]);
  const bool a_moves = g.strides[0][last] != 0, b_moves = g.strides[1][last] != 0;
  spread<T> a_value, b_value;
  for_rows<2>(g, [&](const std::int64_t* offsets, std::int64_t start) HWY_ATTR {
    const operand<T> left = a_value.row(a + offsets[0], a_moves);
    const operand<T> right = b_value.row(b + offsets[1], b_moves);
    // One value against one value fills the row, too: the operands' four vectors serve any length.
    map(y + start, n, left, right);
  });
}

template <class Map, class T, class Out = typename Map::result::template type<hn::ScalableTag<T>>>
HWY_INLINE void broadcast2(const broadcast_geometry& g, const T* a, const T* b, Out* y) {
  broadcast_rows<T, Out>(map_row<T, Map, Out>, g, a, b, y);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
