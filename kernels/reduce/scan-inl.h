// SPDX-License-Identifier: Apache-2.0
// Scans along the middle axis of [outer, count, inner], once per target. The carried value of sums and products is
// exact for integers (they wrap), a double for floats; every result is rounded once.
//
// The order of a float scan is the same on every target and depends on the geometry only:
//   Cumsum, inner == 1: blocks of eight elements. In a block s[i] += s[i - 1], then s[i - 2], then s[i - 4]; a result
//   is
//                       carry + s[i], the next carry is carry + s[7]. Off by at most (count / 8 + 3) half units in the
//                       last place of a double, measured by the sum of magnitudes.
//   all others:         one element after another. A tree would overflow where a running product does not.
// CumMax and CumMin are the same in any order.
#if defined(KERNGRAD_KERNELS_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_SCAN_INL_H_
#undef KERNGRAD_KERNELS_SCAN_INL_H_
#else
#define KERNGRAD_KERNELS_SCAN_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/move/move.h"
#include "kernels/common/target-inl.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Wrapping arithmetic needs unsigned lanes.
template <class T>
using wrapping_t =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// A scan joins what came before, the first operand, with an element. `lane` is the type that it sees elements as,
// `carried` what it carries, `start` what is before the first element.
struct running_sum {
  template <class T> using lane = wrapping_t<T>;
  template <class T> using carried = std::conditional_t<std::is_same_v<T, float>, double, T>;
  template <class T> static constexpr bool in_sequence = false;
  template <class A> static constexpr A start() { return 0; }
  template <class A> static HWY_INLINE A join(A a, A b) { return a + b; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) { return hn::Add(a, b); }
};
struct running_product {
  template <class T> using lane = wrapping_t<T>;
  template <class T> using carried = std::conditional_t<std::is_same_v<T, float>, double, T>;
  // Float products may not be reordered; for 64-bit integers there is no vector product that would pay.
  template <class T> static constexpr bool in_sequence = std::is_floating_point_v<T> || sizeof(T) == 8;
  template <class A> static constexpr A start() { return 1; }
  template <class A> static HWY_INLINE A join(A a, A b) { return a * b; }
  template <class D, class V> static HWY_INLINE V join(D d, V a, V b) { return Product(d, a, b); }
};
// The greatest or the least element: the first one of equal ones, whose sign a zero has, and the first NaN once there
// is one. So the order in which elements are joined does not matter.
template <bool Greatest>
struct running_extreme {
  template <class T> using lane = T;
  template <class T> using carried = T;
  // Steps in scalar registers cost more than they save, and no table of bytes is as wide.
  template <class T> static constexpr bool in_sequence = !KG_AVX512 || sizeof(T) == 1;
  template <class A> static constexpr A start() {
    using limits = std::numeric_limits<A>;
    if (limits::has_infinity) return Greatest ? -limits::infinity() : limits::infinity();
    return Greatest ? limits::lowest() : limits::max();
  }
  template <class A> static HWY_INLINE A join(A a, A b) { return (Greatest ? a >= b : a <= b) || a != a ? a : b; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const auto ahead = Greatest ? hn::Ge(a, b) : hn::Le(a, b);
      return hn::IfThenElse(hn::Or(ahead, hn::IsNaN(a)), a, b);
    } else {
      return Greatest ? hn::Max(a, b) : hn::Min(a, b);
    }
  }
};

template <class Op, class T> using carried_by = typename Op::template carried<T>;

// From elements to the type that is carried and back.
template <class Op, class V>
HWY_INLINE auto widened(V v) {
  using A = carried_by<Op, hn::TFromV<V>>;
  if constexpr (std::is_same_v<hn::TFromV<V>, A>) {
    return v;
  } else {
    return hn::PromoteTo(hn::Rebind<A, hn::DFromV<V>>{}, v);
  }
}
template <class D, class V>
HWY_INLINE hn::Vec<D> narrowed_to(D d, V v) {
  if constexpr (std::is_same_v<hn::TFromD<D>, hn::TFromV<V>>) {
    return v;
  } else {
    return hn::DemoteTo(d, v);
  }
}

// Rows one element after another; `Rows` of them side by side, so that the waits for the sums overlap.
template <class Op, std::size_t Rows, bool Exclusive, class T>
HWY_INLINE void scan_in_sequence(const T* x, T* y, std::size_t count, bool reverse) {
  using A = carried_by<Op, T>;
  A carry[Rows];
  std::fill_n(carry, Rows, Op::template start<A>());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = reverse ? count - 1 - i : i;
    for (std::size_t r = 0; r < Rows; ++r) {
      const A next = Op::join(carry[r], static_cast<A>(x[r * count + at]));
      y[r * count + at] = static_cast<T>(Exclusive ? carry[r] : next);
      carry[r] = next;
    }
  }
}

// The block of a float sum without vectors of eight lanes; n <= 8.
template <bool Exclusive, class T>
HWY_INLINE carried_by<running_sum, T> sum_block(const T* x, T* y, std::size_t n, bool reverse,
                                                carried_by<running_sum, T> carry) {
  using A = carried_by<running_sum, T>;
  A s[8] = {};
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<A>(reverse ? x[n - 1 - i] : x[i]);
  for (const std::size_t step : {1u, 2u, 4u}) {
    for (std::size_t i = 7; i >= step; --i) s[i] += s[i - step];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const A result = Exclusive ? (i == 0 ? carry : carry + s[i - 1]) : carry + s[i];
    y[reverse ? n - 1 - i : i] = static_cast<T>(result);
  }
  return carry + s[7];
}

#if KG_AVX512
// A block is one vector: three or four steps, each of which adds a shifted copy.
template <class Op, bool Exclusive, class T>
struct register_scan {
  using A = carried_by<Op, T>;
  using D = hn::ScalableTag<A>;
  using V = hn::Vec<D>;
  using index = hwy::MakeUnsigned<A>;
  static constexpr std::size_t lanes = 64 / sizeof(A);
  V carry;

  template <std::size_t Step>
  static HWY_INLINE V shifted(V v, V otherwise) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    HWY_ALIGN static constexpr auto sources = [] {
      struct table {
        index at[lanes];
      } t{};
      for (std::size_t i = 0; i < lanes; ++i) t.at[i] = static_cast<index>(i < Step ? i : i - Step);
      return t;
    }();
    const V moved = hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::Load(du, sources.at)));
    return hn::IfThenElse(hn::FirstN(d, Step), otherwise, moved);
  }
  // Lanes below `Step` keep their value, and with it the sign of a zero.
  template <std::size_t Step>
  static HWY_INLINE V joined(V v) {
    const D d;
    return hn::IfThenElse(hn::FirstN(d, Step), v, Op::join(d, shifted<Step>(v, v), v));
  }

  HWY_INLINE V block(V v) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    v = joined<4>(joined<2>(joined<1>(v)));
    if constexpr (lanes == 16) v = joined<8>(v);
    V result = Op::join(d, carry, v);
    if constexpr (Exclusive) result = shifted<1>(result, carry);
    const V last = hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::Set(du, static_cast<index>(lanes - 1))));
    carry = Op::join(d, carry, last);
    return result;
  }

  HWY_INLINE void run(const T* x, T* y, std::size_t count, bool reverse) {
    const D d;
    const hn::Rebind<T, D> dt;
    carry = hn::Set(d, Op::template start<A>());
    std::size_t i = 0;
    if (reverse) {
      for (; i + lanes <= count; i += lanes) {
        const std::size_t at = count - i - lanes;
        const V v = hn::Reverse(d, widened<Op>(hn::LoadU(dt, x + at)));
        hn::StoreU(narrowed_to(dt, hn::Reverse(d, block(v))), dt, y + at);
      }
    } else {
      for (; i + lanes <= count; i += lanes) {
        hn::StoreU(narrowed_to(dt, block(widened<Op>(hn::LoadU(dt, x + i)))), dt, y + i);
      }
    }
    if (i == count) return;
    const std::size_t left = count - i;
    if (!reverse) return store_first(dt, narrowed_to(dt, block(widened<Op>(load_first(dt, x + i, left)))), y + i, left);
    HWY_ALIGN T part[lanes] = {};
    std::reverse_copy(x, x + left, part);
    hn::Store(narrowed_to(dt, block(widened<Op>(hn::Load(dt, part)))), dt, part);
    std::reverse_copy(part, part + left, y);
  }
};
#endif  // KG_AVX512

#if !KG_EMULATED && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64
// Two or four doubles in a vector.
using block_tag = hn::CappedTag<double, 4>;
template <class D> inline constexpr bool has_two_blocks = hn::MaxLanes(D()) == 4;

// Lanes of v one or two lanes up, after the last ones of `before`.
template <int Step, class D, class V>
HWY_INLINE V moved_up(D d, V v, V before) {
  if constexpr (has_two_blocks<D>) {
    before = hn::ConcatLowerUpper(d, v, before);
    if constexpr (Step == 2) return before;
  }
  return Step == 2 ? before : hn::CombineShiftRightBytes<8>(d, v, before);
}

// The sums of whole blocks, by the steps of sum_block, which are eight scalars there. Compilers make vectors of those
// with more shuffles than sums, on AVX2 twice as many as on SSSE3. Returns the number of elements.
template <bool Exclusive, class T>
HWY_INLINE std::size_t sum_blocks(const T* x, T* y, std::size_t count, bool reverse, double& carried) {
  const block_tag d;
  const hn::Rebind<T, decltype(d)> dt;
  using V = hn::Vec<block_tag>;
  constexpr int parts = has_two_blocks<block_tag> ? 2 : 4, lanes = 8 / parts;
  const V nothing = hn::Set(d, -0.0);  // a sum with it keeps the sign of a zero
  V carry = hn::Set(d, carried);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const std::size_t at = reverse ? count - i - 8 : i;
    const auto offset = [&](int k) { return at + static_cast<std::size_t>(lanes * (reverse ? parts - 1 - k : k)); };
    with_vectors<parts>(d, [&](const vectors<V, parts>& s) KG_INLINED {
      for (int k = 0; k < parts; ++k) {
        s[k] = widened<running_sum>(hn::LoadU(dt, x + offset(k)));
        if (reverse) s[k] = hn::Reverse(d, s[k]);
      }
      for (int k = parts - 1; k >= 0; --k) s[k] = hn::Add(s[k], moved_up<1>(d, s[k], k > 0 ? s[k - 1] : nothing));
      for (int k = parts - 1; k >= 0; --k) s[k] = hn::Add(s[k], moved_up<2>(d, s[k], k > 0 ? s[k - 1] : nothing));
      for (int k = parts - 1; k >= parts / 2; --k) s[k] = hn::Add(s[k], s[k - parts / 2]);
      V last = s[parts - 1], before = carry;
      if constexpr (has_two_blocks<block_tag>) last = hn::ConcatUpperUpper(d, last, last);
      last = hn::InterleaveUpper(d, last, last);
      for (int k = 0; k < parts; ++k) {
        const V sum = hn::Add(carry, s[k]);
        V result = Exclusive ? moved_up<1>(d, sum, before) : sum;
        before = sum;
        if (reverse) result = hn::Reverse(d, result);
        hn::StoreU(narrowed_to(dt, result), dt, y + offset(k));
      }
      carry = hn::Add(carry, last);
    });
  }
  carried = hn::GetLane(carry);
  return i;
}
#else
template <bool Exclusive, class T>
HWY_INLINE std::size_t sum_blocks(const T*, T*, std::size_t, bool, carried_by<running_sum, T>&) {
  return 0;
}
#endif

// A row by itself: of anything in vectors of eight lanes, else of sums.
template <class Op, bool Exclusive, class T>
void scan_row(const T* x, T* y, std::size_t count, bool reverse) {
  if constexpr (KG_AVX512 && sizeof(T) >= 4) {
#if KG_AVX512
    register_scan<Op, Exclusive, T>{}.run(x, y, count, reverse);
#endif
  } else if constexpr (std::is_floating_point_v<T>) {
    carried_by<Op, T> carry = 0;
    std::size_t i =
        reverse ? sum_blocks<Exclusive>(x, y, count, true, carry) : sum_blocks<Exclusive>(x, y, count, false, carry);
    for (; i < count; i += 8) {
      const std::size_t n = std::min<std::size_t>(8, count - i), at = reverse ? count - i - n : i;
      carry = sum_block<Exclusive>(x + at, y + at, n, reverse, carry);
    }
  } else {
    scan_in_sequence<Op, 1, Exclusive>(x, y, count, reverse);
  }
}

template <class Op, bool Exclusive, class T>
void scan_rows(const T* x, T* y, std::size_t rows, std::size_t count, bool reverse) {
  if constexpr (Op::template in_sequence<T>) {
    constexpr std::size_t together = 4;
    std::size_t r = 0;
    for (; r + together <= rows; r += together) {
      scan_in_sequence<Op, together, Exclusive>(x + r * count, y + r * count, count, reverse);
    }
    for (; r < rows; ++r) scan_in_sequence<Op, 1, Exclusive>(x + r * count, y + r * count, count, reverse);
  } else {
    for (std::size_t r = 0; r < rows; ++r) scan_row<Op, Exclusive>(x + r * count, y + r * count, count, reverse);
  }
}

// A strip of columns at a time, what they carry in a small array.
template <class Op, bool Exclusive, class T>
void scan_columns(const T* x, T* y, std::size_t count, std::size_t inner, bool reverse) {
  using A = carried_by<Op, T>;
  const hn::ScalableTag<A> d;
  const hn::Rebind<T, decltype(d)> dt;
  constexpr std::size_t strip = 512;
  HWY_ALIGN A carry[strip];
  for (std::size_t j = 0; j < inner; j += strip) {
    const std::size_t width = std::min(strip, inner - j);
    std::fill_n(carry, width, Op::template start<A>());
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t at = (reverse ? count - 1 - r : r) * inner + j;
      std::size_t i = 0;
      for (; i + hn::Lanes(d) <= width; i += hn::Lanes(d)) {
        const auto before = hn::LoadU(d, carry + i);
        const auto after = Op::join(d, before, widened<Op>(hn::LoadU(dt, x + at + i)));
        hn::StoreU(narrowed_to(dt, Exclusive ? before : after), dt, y + at + i);
        hn::StoreU(after, d, carry + i);
      }
      for (; i < width; ++i) {
        const A before = carry[i];
        carry[i] = Op::join(before, static_cast<A>(x[at + i]));
        y[at + i] = static_cast<T>(Exclusive ? before : carry[i]);
      }
    }
  }
}

template <class Op, bool Exclusive, class T>
void scan(const T* x, T* y, const scan_geometry& g) {
  const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner);
  if (count == 0 || inner == 0) return;
  if (inner == 1) return scan_rows<Op, Exclusive>(x, y, static_cast<std::size_t>(g.outer), count, g.reverse);
  for (std::int64_t o = 0; o < g.outer; ++o, x += count * inner, y += count * inner) {
    scan_columns<Op, Exclusive>(x, y, count, inner, g.reverse);
  }
}

/// Scans the middle axis. T is the operation's lane type for the elements.
template <class Op, class T>
void run_scan(const scan_geometry& g, const T* x, T* y) {
  g.exclusive ? scan<Op, true>(x, y, g) : scan<Op, false>(x, y, g);
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
