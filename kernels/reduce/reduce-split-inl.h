// SPDX-License-Identifier: Apache-2.0
// The folds of reduce-inl.h by several threads, once per target. Chunks are whole nodes of the trees there, so that the
// results are theirs, bit for bit: 2^k blocks of a row, 2^k blocks of rows of a strip, or strips.
#if defined(KERNGRAD_KERNELS_REDUCE_SPLIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_REDUCE_SPLIT_INL_H_
#undef KERNGRAD_KERNELS_REDUCE_SPLIT_INL_H_
#else
#define KERNGRAD_KERNELS_REDUCE_SPLIT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/common/parallel.h"
#include "kernels/reduce/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

constexpr std::size_t chunk_least = 32768;   // elements in a chunk: about two microseconds
constexpr std::size_t most_chunks = 64;      // of a row at the same time: their results are on the stack
constexpr std::size_t most_row_chunks = 32;  // the same of chunks of rows, which have a strip of results each

// True if there are chunks for several threads.
inline bool has_chunks(std::size_t elements) { return elements >= 4 * chunk_least && threads_allowed() > 1; }

constexpr std::size_t quotient_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

template <class Op, class T>
HWY_NOINLINE T split_row(const T* x, std::size_t n, T identity) {
  constexpr std::size_t chunk = 16 * row_block;
  T part[most_chunks];
  pending_results<Op, T> chunks;
  for (std::size_t start = 0; start < n; start += most_chunks * chunk) {
    const std::size_t now = std::min(most_chunks, quotient_up(n - start, chunk));
    parallel_chunks(now, [&](std::size_t i) {
      const std::size_t begin = start + i * chunk;
      part[i] = fold_row<Op>(x + begin, std::min(chunk, n - begin), identity);
    });
    for (std::size_t i = 0; i < now; ++i) chunks.add(part[i]);
  }
  return chunks.finish();
}

// fold_strip with chunks of `rows` rows, 2^k blocks.
template <class Op, class T>
HWY_NOINLINE void split_strip(T* y, const T* x, std::size_t count, std::size_t stride, std::size_t width,
                              std::size_t rows, T identity) {
  HWY_ALIGN T part[most_row_chunks][column_strip<T>];
  pending_rows<Op, T> chunks(width);
  for (std::size_t start = 0; start < count; start += most_row_chunks * rows) {
    const std::size_t now = std::min(most_row_chunks, quotient_up(count - start, rows));
    parallel_chunks(now, [&](std::size_t i) {
      const std::size_t begin = start + i * rows;
      fold_strip<Op>(part[i], x + begin * stride, std::min(rows, count - begin), stride, width, identity);
    });
    for (std::size_t i = 0; i < now; ++i) {
      std::copy_n(part[i], width, chunks.next());
      chunks.carry();
    }
  }
  chunks.finish(y);
}

// Calls strip(begin, width) for all strips of `strip_width` columns, some of them a chunk.
template <class Strip>
void each_strip_split(std::size_t count, std::size_t width, std::size_t strip_width, Strip strip) {
  const std::size_t together = std::max<std::size_t>(1, chunk_least / (count * strip_width)) * strip_width;
  parallel_chunks(quotient_up(width, together), [&](std::size_t chunk) {
    const std::size_t end = std::min(width, (chunk + 1) * together);
    for (std::size_t j = chunk * together; j < end; j += strip_width) strip(j, std::min(strip_width, end - j));
  });
}

// fold_columns, cut into strips or each strip into rows: whatever there is more of.
template <class Op, class T>
HWY_NOINLINE void split_columns(T* y, const T* x, std::size_t count, std::size_t width, T identity) {
  std::size_t rows = column_block;
  while (rows * std::min(width, column_strip<T>) < chunk_least) rows *= 2;
  if (quotient_up(width, column_strip<T>) > quotient_up(count, rows)) {
    each_strip_split(count, width, column_strip<T>, [&](std::size_t j, std::size_t now) {
      fold_strip<Op>(y + j, x + j, count, width, now, identity);
    });
    return;
  }
  for (std::size_t j = 0; j < width; j += column_strip<T>)
    split_strip<Op>(y + j, x + j, count, width, std::min(column_strip<T>, width - j), rows, identity);
}

// fold by several threads, where a slice is large.
template <class Op, class T>
void split_fold(const T* x, T* y, std::int64_t outer, std::size_t count, std::size_t inner, T identity) {
  if (!has_chunks(count * inner)) return fold<Op>(x, y, outer, count, inner, identity);
  fold_slices<Op>(x, y, outer, count, inner, identity, split_row<Op, T>, split_columns<Op, T>);
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
