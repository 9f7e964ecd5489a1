// SPDX-License-Identifier: Apache-2.0
// Reductions of the middle axis of [outer, count, inner].
//
// The tree of every fold depends on the geometry and the target only, never on alignment:
//   inner == 1: blocks of 4096 elements, in a block eight vectors of partial results joined pairwise, then the lanes;
//               the results of the blocks are joined pairwise. A float sum of n elements is off by at most
//               about (4096 / (8 * lanes) + log2 n + 8) half units of the sum of magnitudes.
//   inner > 1:  vectors along inner, eight rows joined pairwise per pass, blocks of 128 rows, blocks joined pairwise.
//   narrow:     for inner < 16 several rows are taken as one wide row, whose parts are joined pairwise at the end.
//
// Sum, Prod: integers wrap. Mean: the sum in the operand's type, divided in double and rounded once.
// Max, Min: a NaN gives NaN; the sign of a zero result is not specified when zeros of both signs occur.
// ArgMax, ArgMin: the first among equals; NaN is passed over unless it is the first element, then the answer is 0.
// Reference: kernels/reference/reduce.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t row_block = 4096;     // elements of a row that are folded without a tree
constexpr std::size_t column_block = 128;   // rows that are folded without a tree when inner > 1
constexpr std::size_t column_bytes = 1024;  // width of a column strip
constexpr std::size_t search_block = 2048;  // elements between two looks at the best value of ArgMax
constexpr int levels = 42;                  // a fold of 2^41 blocks is beyond any address space

// The element in memory: complex numbers are pairs of floats, which only Sum takes.
template <dtype K> struct element {
  using type = storage_t<K>;
};
template <> struct element<dtype::complex64> {
  using type = float;
};
template <dtype K> using element_t = typename element<K>::type;

// Wrapping arithmetic needs unsigned lanes.
template <class T> struct wrapping {
  using type = std::make_unsigned_t<T>;
};
template <> struct wrapping<float> {
  using type = float;
};
template <> struct wrapping<double> {
  using type = double;
};

template <class T> using single = hn::CappedTag<T, 1>;

template <class Op, class T>
HWY_INLINE T join(T a, T b) {
  const single<T> d;
  return hn::GetLane(Op::join(d, hn::Set(d, a), hn::Set(d, b)));
}

// Folds the lanes of `v` pairwise through memory: for types without a horizontal instruction.
template <class Op, class D, class V>
HWY_INLINE hn::TFromD<D> stored_lanes(D d, V v) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lane[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lane);
  for (std::size_t half = hn::Lanes(d) / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lane[i] = join<Op>(lane[i], lane[i + half]);
  }
  return lane[0];
}

struct Plus {
  template <class T> using lane = typename wrapping<T>::type;
  template <dtype K> static constexpr lane<element_t<K>> identity() { return 0; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) { return hn::Add(a, b); }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    return hn::GetLane(hn::SumOfLanes(d, v));
  }
};

struct Times {
  template <class T> using lane = typename wrapping<T>::type;
  template <dtype K> static constexpr lane<element_t<K>> identity() { return 1; }
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
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) { return stored_lanes<Times>(d, v); }
};

struct Larger {
  template <class T> using lane = T;
  template <dtype K> static constexpr element_t<K> identity() {
    using limits = std::numeric_limits<element_t<K>>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  /// True where x goes before the best so far: false for NaN.
  template <class V> static HWY_INLINE auto better(V x, V best) { return hn::Gt(x, best); }
  template <class T> static bool better_scalar(T x, T best) { return x > best; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const V larger = hn::IfThenElse(hn::Gt(b, a), b, a);  // a if either is NaN
      return hn::IfThenElse(hn::IsNaN(b), b, larger);
    } else {
      return hn::Max(a, b);
    }
  }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    using T = hn::TFromD<D>;
    if constexpr (hwy::IsFloat<T>()) {
      if (!hn::AllFalse(d, hn::IsNaN(v))) return std::numeric_limits<T>::quiet_NaN();
      return hn::GetLane(hn::MaxOfLanes(d, v));
    } else {
      return stored_lanes<Larger>(d, v);
    }
  }
};

struct Smaller {
  template <class T> using lane = T;
  template <dtype K> static constexpr element_t<K> identity() {
    using limits = std::numeric_limits<element_t<K>>;
    if (K == dtype::boolean) return 1;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
  template <class V> static HWY_INLINE auto better(V x, V best) { return hn::Lt(x, best); }
  template <class T> static bool better_scalar(T x, T best) { return x < best; }
  template <class D, class V> static HWY_INLINE V join(D, V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const V smaller = hn::IfThenElse(hn::Lt(b, a), b, a);
      return hn::IfThenElse(hn::IsNaN(b), b, smaller);
    } else {
      return hn::Min(a, b);
    }
  }
  template <class D, class V> static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    using T = hn::TFromD<D>;
    if constexpr (hwy::IsFloat<T>()) {
      if (!hn::AllFalse(d, hn::IsNaN(v))) return std::numeric_limits<T>::quiet_NaN();
      return hn::GetLane(hn::MinOfLanes(d, v));
    } else {
      return stored_lanes<Smaller>(d, v);
    }
  }
};

// The n < Lanes(d) elements at p, the other lanes `fill`; reads nothing beyond them.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_tail(D d, const T* p, std::size_t n, T fill) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T lane[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(hn::Set(d, fill), d, lane);
  for (std::size_t i = 0; i < n; ++i) lane[i] = p[i];
  return hn::Load(d, lane);
#else
  const auto valid = hn::FirstN(d, n);
  return hn::IfThenElse(valid, hn::MaskedLoad(valid, d, p), hn::Set(d, fill));
#endif
}

template <class Op, class T>
T fold_block(const T* HWY_RESTRICT x, std::size_t n, T identity) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  auto v0 = hn::Set(d, identity), v1 = v0;
  std::size_t i = 0;
  if (n >= 8 * L) {
    auto v2 = v0, v3 = v0, v4 = v0, v5 = v0, v6 = v0, v7 = v0;
    for (; i + 8 * L <= n; i += 8 * L) {
      v0 = Op::join(d, v0, hn::LoadU(d, x + i));
      v1 = Op::join(d, v1, hn::LoadU(d, x + i + L));
      v2 = Op::join(d, v2, hn::LoadU(d, x + i + 2 * L));
      v3 = Op::join(d, v3, hn::LoadU(d, x + i + 3 * L));
      v4 = Op::join(d, v4, hn::LoadU(d, x + i + 4 * L));
      v5 = Op::join(d, v5, hn::LoadU(d, x + i + 5 * L));
      v6 = Op::join(d, v6, hn::LoadU(d, x + i + 6 * L));
      v7 = Op::join(d, v7, hn::LoadU(d, x + i + 7 * L));
    }
    v0 = Op::join(d, Op::join(d, v0, v4), Op::join(d, v2, v6));
    v1 = Op::join(d, Op::join(d, v1, v5), Op::join(d, v3, v7));
  }
  for (; i + L <= n; i += L) v0 = Op::join(d, v0, hn::LoadU(d, x + i));
  if (i < n) v1 = Op::join(d, v1, load_tail(d, x + i, n - i, identity));
  return Op::lanes(d, Op::join(d, v0, v1));
}

// Blocks are joined like the carries of a binary counter: a pairwise tree with one pending result per level.
template <class Op, class T>
T fold_row(const T* x, std::size_t n, T identity) {
  if (n == 0) return identity;
  T pending[levels];
  int top = 0;
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < n; i += row_block, ++done) {
    T part = fold_block<Op>(x + i, std::min(row_block, n - i), identity);
    for (std::uint64_t carry = done; (carry & 1) != 0; carry >>= 1) part = join<Op>(pending[--top], part);
    pending[top++] = part;
  }
  T all = pending[--top];
  while (top > 0) all = join<Op>(pending[--top], all);
  return all;
}

template <class Op, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> join_rows(D d, hn::Vec<D> so_far, const T* x, std::size_t rows, std::size_t stride) {
  if (rows != 8) {
    for (std::size_t r = 0; r < rows; ++r) so_far = Op::join(d, so_far, hn::LoadU(d, x + r * stride));
    return so_far;
  }
  const auto a = Op::join(d, hn::LoadU(d, x), hn::LoadU(d, x + stride));
  const auto b = Op::join(d, hn::LoadU(d, x + 2 * stride), hn::LoadU(d, x + 3 * stride));
  const auto c = Op::join(d, hn::LoadU(d, x + 4 * stride), hn::LoadU(d, x + 5 * stride));
  const auto e = Op::join(d, hn::LoadU(d, x + 6 * stride), hn::LoadU(d, x + 7 * stride));
  return Op::join(d, so_far, Op::join(d, Op::join(d, a, b), Op::join(d, c, e)));
}

// acc[j] = acc[j] joined with up to eight rows of x. width >= Lanes(d): the last vector overlaps its neighbour and is
// computed from the old values before these are overwritten.
template <class Op, class D, class T = hn::TFromD<D>>
HWY_INLINE void fold_pass(D d, T* acc, const T* x, std::size_t rows, std::size_t stride, std::size_t width) {
  const std::size_t L = hn::Lanes(d), last = width - L;
  const auto end = join_rows<Op>(d, hn::LoadU(d, acc + last), x + last, rows, stride);
  for (std::size_t j = 0; j < last; j += L) {
    hn::StoreU(join_rows<Op>(d, hn::LoadU(d, acc + j), x + j, rows, stride), d, acc + j);
  }
  hn::StoreU(end, d, acc + last);
}

// acc[j] = acc[j] joined with x[r * stride + j] for all r < rows.
template <class Op, class T>
void fold_rows(T* acc, const T* x, std::size_t rows, std::size_t stride, std::size_t width) {
  const hn::ScalableTag<T> wide;
  const single<T> narrow;
  if (width == 0) return;
  for (std::size_t r = 0; r < rows; r += 8, x += 8 * stride) {
    const std::size_t now = std::min<std::size_t>(8, rows - r);
    if (width >= hn::Lanes(wide)) {
      fold_pass<Op>(wide, acc, x, now, stride, width);
    } else {
      fold_pass<Op>(narrow, acc, x, now, stride, width);
    }
  }
}

// y[j] = all rows of x[., j]; strips of columns, blocks of rows, the blocks joined as in fold_row.
template <class Op, class T>
void fold_columns(T* y, const T* x, std::size_t count, std::size_t width, T identity) {
  constexpr std::size_t strip = column_bytes / sizeof(T);
  HWY_ALIGN T pending[levels][strip];
  for (std::size_t j = 0; j < width; j += strip) {
    const std::size_t now = std::min(strip, width - j);
    if (count <= column_block) {
      std::fill_n(y + j, now, identity);
      fold_rows<Op>(y + j, x + j, count, width, now);
      continue;
    }
    int top = 0;
    std::uint64_t done = 0;
    for (std::size_t r = 0; r < count; r += column_block, ++done) {
      std::fill_n(pending[top], now, identity);
      fold_rows<Op>(pending[top++], x + r * width + j, std::min(column_block, count - r), width, now);
      for (std::uint64_t carry = done; (carry & 1) != 0; carry >>= 1, --top) {
        fold_rows<Op>(pending[top - 2], pending[top - 1], 1, 0, now);
      }
    }
    for (; top > 1; --top) fold_rows<Op>(pending[top - 2], pending[top - 1], 1, 0, now);
    std::copy_n(pending[0], now, y + j);
  }
}

// inner < 16: `k` rows side by side are one row of up to 128 elements.
template <class Op, class T>
void fold_narrow(T* y, const T* x, std::size_t count, std::size_t inner, T identity) {
  std::size_t k = 128 / inner;
  if (count < 2 * k) return fold_columns<Op>(y, x, count, inner, identity);
  T wide[128];
  const std::size_t whole = count / k * k;
  fold_columns<Op>(wide, x, whole / k, k * inner, identity);
  fold_rows<Op>(wide, x + whole * inner, 1, 0, (count - whole) * inner);
  while (k > 1) {
    const std::size_t kept = (k + 1) / 2;
    fold_rows<Op>(wide, wide + kept * inner, 1, 0, (k - kept) * inner);
    k = kept;
  }
  std::copy_n(wide, inner, y);
}

template <class Op>
struct Fold {
  template <dtype K>
  static void run(const void* const* in, void* const* out, const reduce_geometry& g) {
    using T = typename Op::template lane<element_t<K>>;
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out[0]);
    const T identity = Op::template identity<K>();
    const std::size_t parts = K == dtype::complex64 ? 2 : 1;
    const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner) * parts;
    if (inner == 0) return;
    for (std::int64_t o = 0; o < g.outer; ++o, x += count * inner, y += inner) {
      if (inner == 1) {
        *y = fold_row<Op>(x, count, identity);
      } else if (inner < 16) {
        fold_narrow<Op>(y, x, count, inner, identity);
      } else {
        fold_columns<Op>(y, x, count, inner, identity);
      }
    }
  }
};

struct Average {
  template <dtype K>
  static void run(const void* const* in, void* const* out, const reduce_geometry& g) {
    Fold<Plus>::run<K>(in, out, g);
    using T = element_t<K>;
    T* y = static_cast<T*>(out[0]);
    const double count = static_cast<double>(g.count);  // float would not hold every count
    for (std::int64_t i = 0; i < g.outer * g.inner; ++i) y[i] = static_cast<T>(static_cast<double>(y[i]) / count);
  }
};

// The best of `start` (not NaN) and the n elements at x, NaN passed over.
template <class Order, class T>
T best_of(const T* HWY_RESTRICT x, std::size_t n, T start) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  const auto better = [](auto v, auto best) HWY_ATTR { return hn::IfThenElse(Order::better(v, best), v, best); };
  auto v0 = hn::Set(d, start), v1 = v0, v2 = v0, v3 = v0;
  std::size_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    v0 = better(hn::LoadU(d, x + i), v0);
    v1 = better(hn::LoadU(d, x + i + L), v1);
    v2 = better(hn::LoadU(d, x + i + 2 * L), v2);
    v3 = better(hn::LoadU(d, x + i + 3 * L), v3);
  }
  for (; i + L <= n; i += L) v0 = better(hn::LoadU(d, x + i), v0);
  if (i < n) v1 = better(load_tail(d, x + i, n - i, start), v1);
  return Order::lanes(d, better(better(v0, v1), better(v2, v3)));
}

// The best value block by block; only the block that holds it is searched for its first place.
template <class Order, class T>
std::size_t position_in_row(const T* x, std::size_t n) {
  if (n == 0 || x[0] != x[0]) return 0;
  T best = x[0];
  std::size_t place = 0;
  if (n < 16) {
    for (std::size_t i = 1; i < n; ++i) {
      if (Order::better_scalar(x[i], best)) best = x[place = i];
    }
    return place;
  }
  for (std::size_t i = 0; i < n; i += search_block) {
    const T found = best_of<Order>(x + i, std::min(search_block, n - i), best);
    if (Order::better_scalar(found, best)) {
      best = found;
      place = i;
    }
  }
  const hn::ScalableTag<T> d;
  const auto wanted = hn::Set(d, best);
  for (; place + hn::Lanes(d) <= n; place += hn::Lanes(d)) {
    const auto lane = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + place), wanted));
    if (lane >= 0) return place + static_cast<std::size_t>(lane);
  }
  while (x[place] != best) ++place;
  return place;
}

// A strip of columns at a time, the best values so far in a small array; the compiler vectorises the inner loop.
template <class Order, class T>
void position_in_columns(std::int32_t* HWY_RESTRICT y, const T* x, std::size_t count, std::size_t inner) {
  constexpr std::size_t strip = 256;
  T best[strip];
  for (std::size_t j = 0; j < inner; j += strip) {
    const std::size_t now = std::min(strip, inner - j);
    std::fill_n(y + j, now, 0);
    if (count != 0) std::copy_n(x + j, now, best);
    for (std::size_t r = 1; r < count; ++r) {
      const T* HWY_RESTRICT row = x + r * inner + j;
      for (std::size_t i = 0; i < now; ++i) {
        const bool better = Order::better_scalar(row[i], best[i]);
        best[i] = better ? row[i] : best[i];
        y[j + i] = better ? static_cast<std::int32_t>(r) : y[j + i];
      }
    }
  }
}

template <class Order>
struct Position {
  template <dtype K>
  static void run(const void* const* in, void* const* out, const reduce_geometry& g) {
    using T = element_t<K>;
    const T* x = static_cast<const T*>(in[0]);
    std::int32_t* y = static_cast<std::int32_t*>(out[0]);
    const std::size_t count = static_cast<std::size_t>(g.count), inner = static_cast<std::size_t>(g.inner);
    for (std::int64_t o = 0; o < g.outer; ++o, x += count * inner, y += inner) {
      if (inner == 1) {
        *y = static_cast<std::int32_t>(position_in_row<Order>(x, count));
      } else {
        position_in_columns<Order>(y, x, count, inner);
      }
    }
  }
};

// Which shape a name stands for; a name that is listed twice is declared twice alike.
namespace shape_of {
#define KG_REDUCE(Name, types, shape) using Name = shape;
#include "kernels/reduce.inc"
#undef KG_REDUCE
}  // namespace shape_of
}  // namespace

#define KG_REDUCE(Name, types, shape) types(KG_BODY, Name)
#define KG_BODY(Name, type)                                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) {          \
    shape_of::Name::run<dtype::type>(in, out, *static_cast<const reduce_geometry*>(geometry)); \
  }
#include "kernels/reduce.inc"
#undef KG_REDUCE
#undef KG_BODY

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {

#define KG_REDUCE(Name, types, shape) types(KG_DISPATCH, Name)
#define KG_DISPATCH(Name, type)                                                       \
  HWY_EXPORT(Name##_##type);                                                          \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    HWY_DYNAMIC_DISPATCH(Name##_##type)(in, out, geometry);                           \
  }
#include "kernels/reduce.inc"
#undef KG_REDUCE
#undef KG_DISPATCH

}  // namespace kerngrad::kernels
#endif
