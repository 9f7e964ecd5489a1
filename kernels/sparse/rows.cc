// SPDX-License-Identifier: Apache-2.0
// Moving rows of sparse and ragged tensors: into the positions of their rows, and as runs of neighbours.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sparse/rows.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/move/copy-run-inl.h"
#include "kernels/sparse/rows.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Counting sort by rows: how many indices each row has, where each row begins, then each index to its position.
template <class T, class Index>
void fill_empty_rows(const fill_rows_geometry& g, const Index* indices, const T* values, const T* of_empty,
                     Index* to_indices, T* to_values, std::uint8_t* was_empty, Index* positions) {
  const T missing = get(of_empty);
  scratch<std::int64_t> next(g.rows);  // where the next index of a row goes
  std::fill_n(next.data(), g.rows, std::int64_t{0});
  for (std::int64_t i = 0; i < g.count; ++i) ++next.data()[indices[i * g.rank]];
  std::int64_t made = 0;
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const std::int64_t count = next.data()[row];
    next.data()[row] = made;
    was_empty[row] = count == 0;
    if (count == 0) {
      Index* index = to_indices + made * g.rank;
      *index = static_cast<Index>(row);
      std::fill_n(index + 1, g.rank - 1, Index{0});
      put(missing, to_values + made);
    }
    made += std::max<std::int64_t>(count, 1);
  }
  for (std::int64_t i = 0; i < g.count; ++i) {
    const Index* index = indices + i * g.rank;
    const std::int64_t position = next.data()[*index]++;
    copy_run(index, to_indices + position * g.rank, static_cast<std::size_t>(g.rank));
    put(get(values + i), to_values + position);
    positions[i] = static_cast<Index>(position);
  }
  *g.made = made;
}

template <dtype Type, class T = cell_t<Type>>
void SparseFillEmptyRows(const fill_rows_geometry& g, const void* indices, const T* values, const void*,
                         const T* missing, void* to_indices, T* to_values, std::uint8_t* was_empty, void* positions) {
  const auto fill = [&]<class Index>(Index) {
    fill_empty_rows(g, static_cast<const Index*>(indices), values, missing, static_cast<Index*>(to_indices), to_values,
                    was_empty, static_cast<Index*>(positions));
  };
  if (g.wide) fill(std::int64_t{});
  else fill(std::int32_t{});
}

template <class T>
HWY_INLINE void fill_gap(const row_runs_geometry& g, T* y, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  const T* fill = static_cast<const T*>(g.fill);
  if (g.inner == 1) fill_run(get(fill), y + begin, static_cast<std::size_t>(end - begin));
  else repeat_run(fill, y + begin * g.inner, end - begin, static_cast<std::size_t>(g.inner));
}

/// Chunks of runs, each with the gaps before its runs; the last one has the gap after them all, too. A short run takes
/// what is after it along, as long as that is no more than the next runs and gaps of the chunk will write.
template <dtype Type, class T = cell_t<Type>>
void CopyRuns(const row_runs_geometry& g, const T* x, T* y) {
  constexpr std::int64_t elements = 1 << 14;  // of a chunk, roughly
  constexpr std::int64_t piece = 32 / sizeof(T);
  const std::int64_t all = saturated_product(g.rows, g.inner);
  const std::int64_t each = std::max<std::int64_t>(1, g.count / std::max<std::int64_t>(1, all / elements));
  const auto chunks = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(1, (g.count + each - 1) / each));
  const std::int64_t inner = g.inner, x_end = saturated_product(g.x_rows, inner);
  run_in_chunks(chunks, all, [&](std::ptrdiff_t chunk) HWY_ATTR {
    const std::int64_t first = chunk * each, last = std::min(g.count, first + each);
    std::int64_t row = first == 0 ? 0 : g.runs[first - 1].to + g.runs[first - 1].count;
    const std::int64_t end = last > first ? (g.runs[last - 1].to + g.runs[last - 1].count) * inner : 0;
    for (const row_run *run = g.runs + first, *behind = g.runs + last; run != behind; ++run) {
      if (row < run->to) fill_gap(g, y, row, run->to);
      row = run->to + run->count;
      const std::int64_t from = run->from * inner, to = run->to * inner, count = run->count * inner;
      if (count <= piece && to + piece <= end && from + piece <= x_end)
        std::memcpy(static_cast<void*>(y + to), x + from, piece * sizeof(T));
      else copy_run(x + from, y + to, static_cast<std::size_t>(count));
    }
    if (last == g.count) fill_gap(g, y, row, g.rows);
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_SPARSE_ROWS_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_SPARSE_ROWS_KERNELS)
}  // namespace kerngrad::kernels
#endif
