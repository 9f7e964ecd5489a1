// SPDX-License-Identifier: Apache-2.0
// The loops of the folds over the middle axis of [outer, count, inner], once per target.
//
// The tree of every fold depends on the geometry and the target only, never on alignment:
//   inner == 1: blocks of 4096 elements, in a block eight vectors of partial results joined pairwise, then the lanes;
//               the results of the blocks are joined pairwise. A float sum of n elements is off by at most
//               about (4096 / (8 * lanes) + log2 n + 8) half units of the sum of magnitudes.
//   inner > 1:  vectors along inner, eight rows joined pairwise per pass, blocks of 128 rows, blocks joined pairwise.
//   narrow:     for inner < 16 several rows are taken as one wide row, whose parts are joined pairwise at the end.
//
// A fold is a class with `join(d, a, b)` on vectors, `lanes(d, v)`, which joins the lanes of one, and a `reader`.
#if defined(KERNGRAD_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_REDUCE_INL_H_
#undef KERNGRAD_KERNELS_REDUCE_INL_H_
#else
#define KERNGRAD_KERNELS_REDUCE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t row_block = 4096;     // elements of a row that are folded without a tree
constexpr std::size_t column_block = 128;   // rows that are folded without a tree when inner > 1
constexpr std::size_t column_bytes = 1024;  // width of a column strip
constexpr int levels = 42;                  // a fold of 2^41 blocks is beyond any address space

template <class T> using single = hn::CappedTag<T, 1>;

template <class Op, class T>
HWY_INLINE T join(T a, T b) {
  const single<T> d;
  return hn::GetLane(Op::join(d, hn::Set(d, a), hn::Set(d, b)));
}

// Folds the lanes of `v` pairwise, the lower half with the upper one: for types without a horizontal instruction.
template <class Op, class D, class V>
HWY_INLINE hn::TFromD<D> halved_lanes([[maybe_unused]] D d, V v) {
#if HWY_HAVE_SCALABLE  // how many halves there are is known when it runs
  using T = hn::TFromD<D>;
  HWY_ALIGN T lane[hn::MaxLanes(d)];
  hn::Store(v, d, lane);
  for (std::size_t half = hn::Lanes(d) / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lane[i] = join<Op>(lane[i], lane[half + i]);
  }
  return lane[0];
#else
  if constexpr (hn::MaxLanes(D{}) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return halved_lanes<Op>(half, Op::join(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
}

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

// How a fold reads what it joins. A fold whose elements go through a map first has another reader for them: `load`
// the same, and `load_first` with `fill` in the lanes from n on.
struct as_is {
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load(D d, const T* p) {
    return hn::LoadU(d, p);
  }
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load_first(D d, const T* p, std::size_t n, T fill) {
    return load_tail(d, p, n, fill);
  }
};

template <class Op, class T>
T fold_block(const T* HWY_RESTRICT x, std::size_t n, T identity) {
  using Read = typename Op::reader;
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  auto v0 = hn::Set(d, identity), v1 = v0;
  std::size_t i = 0;
  if (n >= 8 * L) {
    auto v2 = v0, v3 = v0, v4 = v0, v5 = v0, v6 = v0, v7 = v0;
    for (; i + 8 * L <= n; i += 8 * L) {
      v0 = Op::join(d, v0, Read::load(d, x + i));
      v1 = Op::join(d, v1, Read::load(d, x + i + L));
      v2 = Op::join(d, v2, Read::load(d, x + i + 2 * L));
      v3 = Op::join(d, v3, Read::load(d, x + i + 3 * L));
      v4 = Op::join(d, v4, Read::load(d, x + i + 4 * L));
      v5 = Op::join(d, v5, Read::load(d, x + i + 5 * L));
      v6 = Op::join(d, v6, Read::load(d, x + i + 6 * L));
      v7 = Op::join(d, v7, Read::load(d, x + i + 7 * L));
    }
    v0 = Op::join(d, Op::join(d, v0, v4), Op::join(d, v2, v6));
    v1 = Op::join(d, Op::join(d, v1, v5), Op::join(d, v3, v7));
  }
  for (; i + L <= n; i += L) v0 = Op::join(d, v0, Read::load(d, x + i));
  if (i < n) v1 = Op::join(d, v1, Read::load_first(d, x + i, n - i, identity));
  return Op::lanes(d, Op::join(d, v0, v1));
}

// Results of blocks, joined like the carries of a binary counter: a pairwise tree with one pending result per level.
template <class Op, class T>
class pending_results {
 public:
  void add(T part) {
    for (std::uint64_t carries = done_++; (carries & 1) != 0; carries >>= 1) part = join<Op>(result_[--top_], part);
    result_[top_++] = part;
  }
  T finish() {
    T all = result_[--top_];
    while (top_ > 0) all = join<Op>(result_[--top_], all);
    return all;
  }

 private:
  T result_[levels];
  int top_ = 0;
  std::uint64_t done_ = 0;
};

template <class Op, class T>
T fold_row(const T* x, std::size_t n, T identity) {
  if (n == 0) return identity;
  if (n <= row_block) return fold_block<Op>(x, n, identity);
  pending_results<Op, T> blocks;
  for (std::size_t i = 0; i < n; i += row_block)
    blocks.add(fold_block<Op>(x + i, std::min(row_block, n - i), identity));
  return blocks.finish();
}

// so_far joined with kRows rows: with a tree of eight, one after the other of fewer.
template <class Op, class Read, int kRows, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> join_rows(D d, hn::Vec<D> so_far, const T* x, std::size_t stride) {
  if constexpr (kRows == 8) {
    const auto a = Op::join(d, Read::load(d, x), Read::load(d, x + stride));
    const auto b = Op::join(d, Read::load(d, x + 2 * stride), Read::load(d, x + 3 * stride));
    const auto c = Op::join(d, Read::load(d, x + 4 * stride), Read::load(d, x + 5 * stride));
    const auto e = Op::join(d, Read::load(d, x + 6 * stride), Read::load(d, x + 7 * stride));
    return Op::join(d, so_far, Op::join(d, Op::join(d, a, b), Op::join(d, c, e)));
  } else {
#pragma clang loop unroll(full)
    for (std::size_t r = 0; r < kRows; ++r) so_far = Op::join(d, so_far, Read::load(d, x + r * stride));
    return so_far;
  }
}

// A fold of rows under way: its next pass begins with first[j & keep].
template <class T>
struct rows_to_fold {
  const T* first;
  std::size_t keep;
  T* acc;
  const T* x;
  std::size_t rows, stride, width;

  // acc[j] = first[j & keep] joined with the next kRows rows. width >= Lanes(d): the last vector overlaps its neighbour
  // and is computed from the old values before these are overwritten.
  template <class Op, class Read, int kRows, class D>
  HWY_INLINE void pass(D d) {
    const std::size_t L = hn::Lanes(d), last = width - L;
    const auto end = join_rows<Op, Read, kRows>(d, hn::LoadU(d, first + (last & keep)), x + last, stride);
    for (std::size_t j = 0; j < last; j += L) {
      hn::StoreU(join_rows<Op, Read, kRows>(d, hn::LoadU(d, first + (j & keep)), x + j, stride), d, acc + j);
    }
    hn::StoreU(end, d, acc + last);
    first = acc;
    keep = ~std::size_t{0};
    rows -= kRows;
    x += kRows * stride;
  }

  template <class Op, class Read, class D>
  HWY_INLINE void passes(D d) {
    if (rows == 0) return pass<Op, Read, 0>(d);
    while (rows >= 8) pass<Op, Read, 8>(d);
    if (rows >= 4) pass<Op, Read, 4>(d);
    if (rows >= 2) pass<Op, Read, 2>(d);
    if (rows != 0) pass<Op, Read, 1>(d);
  }
};

// The same for any width. All folds of rows share this code: inlined, it was half of a reduction's code.
template <class Op, class Read, class T>
HWY_NOINLINE void fold_rows_from(const T* first, std::size_t keep, T* acc, const T* x, std::size_t rows,
                                 std::size_t stride, std::size_t width) {
  const hn::ScalableTag<T> wide;
  const hn::CappedTag<T, 16 / sizeof(T)> half;
  const single<T> narrow;
  rows_to_fold<T> fold{first, keep, acc, x, rows, stride, width};
  if (width >= hn::Lanes(wide)) {
    fold.template passes<Op, Read>(wide);
  } else if (width >= hn::Lanes(half)) {
    fold.template passes<Op, Read>(half);
  } else if (width != 0) {
    fold.template passes<Op, Read>(narrow);
  }
}

// acc[j] = acc[j] joined with x[r * stride + j] for all r < rows.
template <class Op, class Read, class T>
HWY_INLINE void fold_rows(T* acc, const T* x, std::size_t rows, std::size_t stride, std::size_t width) {
  fold_rows_from<Op, Read>(acc, ~std::size_t{0}, acc, x, rows, stride, width);
}

// y[j] = the identity joined with x[r * stride + j] for all r < rows.
template <class Op, class Read, class T>
HWY_INLINE void fold_first_rows(T* y, const T* x, std::size_t rows, std::size_t stride, std::size_t width, T identity) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T first[hn::MaxLanes(d)];  // the same vector for every column
  hn::Store(hn::Set(d, identity), d, first);
  fold_rows_from<Op, Read>(first, 0, y, x, rows, stride, width);
}

// The columns that are folded side by side.
template <class T> inline constexpr std::size_t column_strip = column_bytes / sizeof(T);

// Results of blocks of rows, joined as in fold_row: one pending row of `width` results per level.
template <class Op, class T>
class pending_rows {
 public:
  explicit pending_rows(std::size_t width) : width_(width) {}
  // Memory for the next block's results, before `carry`.
  T* next() { return row_[top_++]; }
  void carry() {
    for (std::uint64_t carries = done_++; (carries & 1) != 0; carries >>= 1) join_last();
  }
  void finish(T* y) {
    while (top_ > 1) join_last();
    std::copy_n(row_[0], width_, y);
  }

 private:
  void join_last() {
    fold_rows<Op, as_is>(row_[top_ - 2], row_[top_ - 1], 1, 0, width_);
    --top_;
  }

  HWY_ALIGN T row_[levels][column_strip<T>];
  std::size_t width_;
  int top_ = 0;
  std::uint64_t done_ = 0;
};

// y[j] = all rows of x[r * stride + j] for the columns of a strip; blocks of rows.
template <class Op, class T>
HWY_NOINLINE void fold_strip(T* y, const T* x, std::size_t count, std::size_t stride, std::size_t width, T identity) {
  using Read = typename Op::reader;
  if (count <= column_block) return fold_first_rows<Op, Read>(y, x, count, stride, width, identity);
  pending_rows<Op, T> blocks(width);
  for (std::size_t r = 0; r < count; r += column_block) {
    fold_first_rows<Op, Read>(blocks.next(), x + r * stride, std::min(column_block, count - r), stride, width,
                              identity);
    blocks.carry();
  }
  blocks.finish(y);
}

// y[j] = all rows of x[., j].
template <class Op, class T>
void fold_columns(T* y, const T* x, std::size_t count, std::size_t width, T identity) {
  for (std::size_t j = 0; j < width; j += column_strip<T>)
    fold_strip<Op>(y + j, x + j, count, width, std::min(column_strip<T>, width - j), identity);
}

// inner < 16: `k` rows side by side are one row of up to 128 elements, which `columns` folds.
template <class Op, class T, class Columns>
HWY_NOINLINE void fold_narrow(T* y, const T* x, std::size_t count, std::size_t inner, T identity, Columns columns) {
  std::size_t k = 128 / inner;
  if (count < 2 * k) return fold_columns<Op>(y, x, count, inner, identity);
  T wide[128];
  const std::size_t whole = count / k * k;
  columns(wide, x, whole / k, k * inner, identity);
  fold_rows<Op, typename Op::reader>(wide, x + whole * inner, 1, 0, (count - whole) * inner);
  while (k > 1) {
    const std::size_t kept = (k + 1) / 2;
    fold_rows<Op, as_is>(wide, wide + kept * inner, 1, 0, (k - kept) * inner);
    k = kept;
  }
  std::copy_n(wide, inner, y);
}

// y[o, i] = the fold of x[o, ., i] for x of [outer, count, inner]: `row` folds one row, `columns` folds columns.
template <class Op, class T, class Row, class Columns>
HWY_INLINE void fold_slices(const T* x, T* y, std::int64_t outer, std::size_t count, std::size_t inner, T identity,
                            Row row, Columns columns) {
  if (inner == 0) return;
  for (std::int64_t o = 0; o < outer; ++o, x += count * inner, y += inner) {
    if (inner == 1) {
      *y = row(x, count, identity);
    } else if (inner < 16) {
      fold_narrow<Op>(y, x, count, inner, identity, columns);
    } else {
      columns(y, x, count, inner, identity);
    }
  }
}
template <class Op, class T>
void fold(const T* x, T* y, std::int64_t outer, std::size_t count, std::size_t inner, T identity) {
  fold_slices<Op>(x, y, outer, count, inner, identity, fold_row<Op, T>, fold_columns<Op, T>);
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
