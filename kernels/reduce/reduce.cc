// SPDX-License-Identifier: Apache-2.0
// Reductions of the middle axis of [outer, count, inner]; the loops and their tree are in reduce-inl.h, the same by
// several threads in reduce-split-inl.h, the sums of bytes in reduce-bytes-inl.h.
//
// Sum, Prod: integers wrap; bytes are added up in int64. Mean: the sum in the operand's type, divided in double and
// rounded once; where that sum leaves the range, it is computed again in double. Max, Min: a NaN gives NaN; the sign of
// a zero result is not specified when zeros of both signs occur. NanMax, NanMin: the same of the elements that are not
// NaN. ArgMax, ArgMin: the first among equals; NaN is passed over unless it is the first element, then the answer is 0.
// Reference: kernels/reduce/reference_reduce.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/reduce/reduce-bytes-inl.h"
#include "kernels/reduce/reduce-inl.h"
#include "kernels/reduce/reduce-split-inl.h"
#include "kernels/reduce/reduce.h"
#include "kernels/common/target-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

constexpr std::size_t search_block = 2048;  // elements between two looks at the best value of ArgMax

// Wrapping arithmetic needs unsigned lanes.
template <class T>
using wrapping_t =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

struct Plus {
  using reader = as_is;
  template <class T> using lane = wrapping_t<T>;
  template <dtype K> static constexpr lane<part_t<K>> identity() { return 0; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) { return hn::Add(a, b); }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    return hn::GetLane(hn::SumOfLanes(d, v));
  }
};

struct Times {
  using reader = as_is;
  template <class T> using lane = wrapping_t<T>;
  template <dtype K> static constexpr lane<part_t<K>> identity() { return 1; }
  template <class D, class V> static HWY_INLINE V join(D d, V a, V b) {
    if constexpr (std::is_same_v<hn::TFromD<D>, std::uint64_t>) {
      // Highway has no 64-bit product: low * low, and the two mixed products into the upper half.
      const hn::RepartitionToNarrow<D> half;
      const auto x = hn::BitCast(half, a), y = hn::BitCast(half, b);
      const auto upper_x = hn::BitCast(half, hn::ShiftRight<32>(a)), upper_y = hn::BitCast(half, hn::ShiftRight<32>(b));
      const auto mixed = hn::Add(hn::MulEven(upper_x, y), hn::MulEven(x, upper_y));
      return hn::Add(hn::BitCast(d, hn::MulEven(x, y)), hn::ShiftLeft<32>(hn::BitCast(d, mixed)));
    } else {
      return hn::Mul(a, b);
    }
  }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) { return halved_lanes<Times>(d, v); }
};

struct Larger {
  using reader = as_is;
  template <class T> using lane = T;
  template <dtype K> static constexpr part_t<K> identity() {
    using limits = std::numeric_limits<part_t<K>>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  /// True if x goes before the best so far, which is no NaN: not if x is NaN.
  template <class T> static bool better_scalar(T x, T best) { return x > best; }
  /// The one of both that goes first, `best` if neither does.
  template <class D, class V> static HWY_INLINE V better(D, V x, V best) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>() && !KG_MAX_GIVES_SECOND)
      return hn::IfThenElse(hn::Gt(x, best), x, best);
    else return hn::Max(x, best);
  }
  template <class D, class V> static HWY_INLINE V join(D d, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::IfThenElse(hn::Eq(b, b), better(d, b, a), b);
    else return hn::Max(a, b);
  }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    using T = hn::TFromD<D>;
    if constexpr (hwy::IsFloat<T>()) {
      if (!hn::AllFalse(d, hn::IsNaN(v))) return std::numeric_limits<T>::quiet_NaN();
      return hn::GetLane(hn::MaxOfLanes(d, v));
    } else {
      return halved_lanes<Larger>(d, v);
    }
  }
};

struct Smaller {
  using reader = as_is;
  template <class T> using lane = T;
  template <dtype K> static constexpr part_t<K> identity() {
    using limits = std::numeric_limits<part_t<K>>;
    if (K == dtype::boolean) return 1;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
  template <class T> static bool better_scalar(T x, T best) { return x < best; }
  template <class D, class V> static HWY_INLINE V better(D, V x, V best) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>() && !KG_MAX_GIVES_SECOND)
      return hn::IfThenElse(hn::Lt(x, best), x, best);
    else return hn::Min(x, best);
  }
  template <class D, class V> static HWY_INLINE V join(D d, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::IfThenElse(hn::Eq(b, b), better(d, b, a), b);
    else return hn::Min(a, b);
  }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    using T = hn::TFromD<D>;
    if constexpr (hwy::IsFloat<T>()) {
      if (!hn::AllFalse(d, hn::IsNaN(v))) return std::numeric_limits<T>::quiet_NaN();
      return hn::GetLane(hn::MinOfLanes(d, v));
    } else {
      return halved_lanes<Smaller>(d, v);
    }
  }
};

// Reads NaN as the identity of a fold.
template <class Fold>
struct without_nan {
  template <class D, class V>
  static HWY_INLINE V numbers(D d, V v) {
    constexpr bool greatest = std::is_same_v<Fold, Larger>;
    const auto none = greatest ? hn::Neg(hn::Inf(d)) : hn::Inf(d);
    return hn::IfThenElse(hn::IsNaN(v), none, v);
  }
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load(D d, const T* p) {
    return numbers(d, as_is::load(d, p));
  }
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load_first(D d, const T* p, std::size_t n, T fill) {
    return numbers(d, as_is::load_first(d, p, n, fill));
  }
};

// No NaN comes this far, so one comparison joins two elements.
template <class Fold>
struct of_numbers : Fold {
  using reader = without_nan<Fold>;
  template <class D, class V> static HWY_INLINE V join(D d, V a, V b) { return Fold::better(d, b, a); }
};

// Type of the elements that an operation sees: parts of complex numbers, and unsigned integers where they wrap.
template <class Op, dtype Type>
using lane_of = typename Op::template lane<part_t<Type>>;

template <class Op, dtype Type, class T = lane_of<Op, Type>>
void fold_axis(const reduce_geometry& g, const T* x, T* y) {
  const T identity = Op::template identity<Type>();
  constexpr std::size_t parts = parts_of<storage_t<Type>>::count;  // complex numbers, which only sums take, have two
  const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner) * parts;
  split_fold<Op>(x, y, g.outer, count, inner, identity);
}

// Bytes are added up in 64 bits.
template <dtype Type, class T = lane_of<Plus, Type>,
          class Total = std::conditional_t<Type == dtype::uint8, std::uint64_t, T>>
void Sum(const reduce_geometry& g, const T* x, Total* y) {
  if constexpr (Type == dtype::uint8) sum_bytes(x, y, g);
  else fold_axis<Plus, Type>(g, x, y);
}

template <dtype Type, class T = lane_of<Times, Type>>
void Prod(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<Times, Type>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void Max(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<Larger, Type>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void Min(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<Smaller, Type>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void NanMax(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<of_numbers<Larger>, Type>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void NanMin(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<of_numbers<Smaller>, Type>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void All(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<Smaller, Type>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void Any(const reduce_geometry& g, const T* x, T* y) {
  fold_axis<Larger, Type>(g, x, y);
}

// The mean of numbers whose sum leaves the range of T, in units of 2^64, with the roundings added up apart (Neumaier
// 1974).
template <class T>
HWY_NOINLINE T mean_in_range(const T* x, std::int64_t count, std::int64_t step) {
  constexpr double unit = 0x1p64;
  double sum = 0, lost = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double v = static_cast<double>(x[i * step]) / unit, next = sum + v;
    lost += std::fabs(sum) >= std::fabs(v) ? (sum - next) + v : (v - next) + sum;
    sum = next;
  }
  return static_cast<T>((sum + lost) / static_cast<double>(count) * unit);
}

template <class T>
HWY_NOINLINE void bring_into_range(const T* x, T* y, const reduce_geometry& g) {
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
    if (std::isfinite(y[i])) continue;
    const T again = mean_in_range(x + i / g.inner * g.count * g.inner + i % g.inner, g.count, g.inner);
    if (std::isfinite(again)) y[i] = again;
  }
}

// Means of both parts of complex numbers.
template <dtype Type, class T = part_t<Type>>
void Mean(const reduce_geometry& numbers, const T* x, T* y) {
  fold_axis<Plus, Type>(numbers, x, y);
  const reduce_geometry g{numbers.outer, numbers.count, numbers.inner * parts_of<storage_t<Type>>::count};
  const double count = static_cast<double>(g.count);  // float would not hold every count
  bool finite = true;                                 // loops without branches, for vectors
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) y[i] = static_cast<T>(static_cast<double>(y[i]) / count);
  for (std::int64_t i = 0; i < g.outer * g.inner; ++i) finite &= std::fabs(y[i]) <= std::numeric_limits<T>::max();
  if (!finite && g.count > 0) bring_into_range(x, y, g);
}

// The best of `start` (not NaN) and the n elements at x, NaN passed over. Eight vectors: one that waits for itself
// takes the time of two loads and more.
template <class Order, class T>
T best_of(const T* HWY_RESTRICT x, std::size_t n, T start) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  const auto from = [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, x + i); };
  auto v0 = hn::Set(d, start), v1 = v0;
  std::size_t i = 0;
  if (n >= 8 * L) {
    auto v2 = v0, v3 = v0, v4 = v0, v5 = v0, v6 = v0, v7 = v0;
    for (; i + 8 * L <= n; i += 8 * L) {
      v0 = Order::better(d, from(i), v0), v1 = Order::better(d, from(i + L), v1);
      v2 = Order::better(d, from(i + 2 * L), v2), v3 = Order::better(d, from(i + 3 * L), v3);
      v4 = Order::better(d, from(i + 4 * L), v4), v5 = Order::better(d, from(i + 5 * L), v5);
      v6 = Order::better(d, from(i + 6 * L), v6), v7 = Order::better(d, from(i + 7 * L), v7);
    }
    v0 = Order::better(d, Order::better(d, v0, v4), Order::better(d, v2, v6));
    v1 = Order::better(d, Order::better(d, v1, v5), Order::better(d, v3, v7));
  }
  for (; i + L <= n; i += L) v0 = Order::better(d, from(i), v0);
  if (i < n) v1 = Order::better(d, load_tail(d, x + i, n - i, start), v1);
  return Order::lanes(d, Order::better(d, v0, v1));
}

// The best value so far, and where to look for its first position.
template <class T> struct candidate {
  T value;
  std::size_t from;
};

// `best` and the elements from begin to end, block by block.
template <class Order, class T>
candidate<T> best_block(const T* x, std::size_t begin, std::size_t end, candidate<T> best) {
  for (std::size_t i = begin; i < end; i += search_block) {
    const T found = best_of<Order>(x + i, std::min(search_block, end - i), best.value);
    if (Order::better_scalar(found, best.value)) best = {found, i};
  }
  return best;
}

// The same of a long row: chunks start from the first element, and the first of equal ones is kept.
template <class Order, class T>
candidate<T> best_block_split(const T* x, std::size_t n, candidate<T> first) {
  const std::size_t chunk =
      quotient_up(std::max(chunk_least, quotient_up(n, most_chunks)), search_block) * search_block;
  const std::size_t chunks = quotient_up(n, chunk);
  candidate<T> found[most_chunks];
  parallel_chunks(
      chunks, [&](std::size_t i) { found[i] = best_block<Order>(x, i * chunk, std::min(n, (i + 1) * chunk), first); });
  candidate<T> best = first;
  for (std::size_t i = 0; i < chunks; ++i)
    if (Order::better_scalar(found[i].value, best.value)) best = found[i];
  return best;
}

// The first position from `position` on that holds the value; there is one. Four vectors are asked at once.
template <class T>
std::size_t position_of(const T* x, std::size_t position, std::size_t n, T value) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  const auto wanted = hn::Set(d, value);
  const auto found = [&](std::size_t i) HWY_ATTR { return hn::Eq(hn::LoadU(d, x + position + i), wanted); };
  while (position + 4 * L <= n &&
         hn::AllFalse(d, hn::Or(hn::Or(found(0), found(L)), hn::Or(found(2 * L), found(3 * L)))))
    position += 4 * L;
  for (; position + L <= n; position += L) {
    const auto lane = hn::FindFirstTrue(d, found(0));
    if (lane >= 0) return position + static_cast<std::size_t>(lane);
  }
  while (x[position] != value) ++position;
  return position;
}

// Only the block that holds the best value is searched for its first position.
template <class Order, class T>
std::size_t position_in_row(const T* x, std::size_t n) {
  if (n == 0 || x[0] != x[0]) return 0;
  if (n < 16) {
    std::size_t position = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (Order::better_scalar(x[i], x[position])) position = i;
    return position;
  }
  const candidate<T> first{x[0], 0};
  const candidate<T> best = has_chunks(n) ? best_block_split<Order>(x, n, first) : best_block<Order>(x, 0, n, first);
  return position_of(x, best.from, n, best.value);
}

constexpr std::size_t position_strip = 256;  // columns whose best values are looked for together

// The best of the rows from begin to end of a strip, of which the first row counts as if it were before them. The best
// values so far are in an array of this function alone, and the compiler vectorises the inner loop.
template <class Order, class T>
HWY_NOINLINE void position_in_strip(std::int32_t* HWY_RESTRICT y, const T* x, std::size_t begin, std::size_t end,
                                    std::size_t stride, std::size_t width, T* values = nullptr) {
  HWY_ALIGN T best[position_strip];
  std::fill_n(y, width, 0);
  std::copy_n(x, width, best);
  for (std::size_t r = begin; r < end; ++r) {
    const T* HWY_RESTRICT row = x + r * stride;
    for (std::size_t i = 0; i < width; ++i) {
      const bool better = Order::better_scalar(row[i], best[i]);
      best[i] = better ? row[i] : best[i];
      y[i] = better ? static_cast<std::int32_t>(r) : y[i];
    }
  }
  if (values != nullptr) std::copy_n(best, width, values);
}

// Findings of a chunk of rows in a strip.
template <class T> struct found_in_strip {
  T best[position_strip];
  std::int32_t position[position_strip];
};

// Keeps of two chunks the better elements, of equal ones those of the first.
template <class Order, class T>
void keep_better(found_in_strip<T>& HWY_RESTRICT first, const found_in_strip<T>& HWY_RESTRICT next, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    const bool better = Order::better_scalar(next.best[i], first.best[i]);
    first.best[i] = better ? next.best[i] : first.best[i];
    first.position[i] = better ? next.position[i] : first.position[i];
  }
}

// The same of all rows by several threads, in chunks of rows.
template <class Order, class T>
void split_position_in_strip(std::int32_t* y, const T* x, std::size_t count, std::size_t stride, std::size_t width) {
  constexpr std::size_t most = 16;  // chunks: what they find is on the stack
  const std::size_t rows = std::max(quotient_up(chunk_least, width), quotient_up(count, most));
  const std::size_t chunks = quotient_up(count, rows);
  found_in_strip<T> found[most];
  parallel_chunks(chunks, [&](std::size_t i) {
    const std::size_t begin = i * rows, end = std::min(count, begin + rows);
    position_in_strip<Order>(found[i].position, x, begin, end, stride, width, found[i].best);
  });
  for (std::size_t i = 1; i < chunks; ++i) keep_better<Order>(found[0], found[i], width);
  std::copy_n(found[0].position, width, y);
}

template <class Order, class T>
void position_in_columns(std::int32_t* y, const T* x, std::size_t count, std::size_t inner) {
  if (count == 0) return void(std::fill_n(y, inner, 0));
  const auto alone = [&](std::size_t j, std::size_t width) {
    position_in_strip<Order>(y + j, x + j, 1, count, inner, width);
  };
  const bool split = has_chunks(count * inner);
  if (split && inner >= 8 * position_strip) return each_strip_split(count, inner, position_strip, alone);
  for (std::size_t j = 0; j < inner; j += position_strip) {
    const std::size_t width = std::min(position_strip, inner - j);
    if (split) split_position_in_strip<Order>(y + j, x + j, count, inner, width);
    else alone(j, width);
  }
}

template <class Order, class T>
void position_on_axis(const reduce_geometry& g, const T* x, std::int32_t* y) {
  const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner);
  for (std::int64_t o = 0; o < g.outer; ++o, x += count * inner, y += inner) {
    if (inner == 1) {
      *y = static_cast<std::int32_t>(position_in_row<Order>(x, count));
    } else {
      position_in_columns<Order>(y, x, count, inner);
    }
  }
}

template <dtype Type, class T = storage_t<Type>>
void ArgMax(const reduce_geometry& g, const T* x, std::int32_t* y) {
  position_on_axis<Larger>(g, x, y);
}

template <dtype Type, class T = storage_t<Type>>
void ArgMin(const reduce_geometry& g, const T* x, std::int32_t* y) {
  position_on_axis<Smaller>(g, x, y);
}

}  // namespace

KG_DEFINE_KERNELS(KG_REDUCE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_REDUCE_KERNELS)

}  // namespace kerngrad::kernels
#endif
