// SPDX-License-Identifier: Apache-2.0
// The strided copy, once per target: which loops a geometry gets, and the loops.
//
// The axes are ordered by their stride in the output and merged. The innermost one decides: a run of neighbours in the
// input and the output, one element repeated, a run backwards, every k-th element, or a plane to transpose. Short runs
// are taken together with the longest other axis, so that one loop without a call serves many of them.
#if defined(KERNGRAD_KERNELS_COPY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_COPY_INL_H_
#undef KERNGRAD_KERNELS_COPY_INL_H_
#else
#define KERNGRAD_KERNELS_COPY_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hwy/highway.h"
#include "kernels/move/copy-run-inl.h"
#include "kernels/move/move.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Transposes a square of side 16 / sizeof(T) (twice that where vectors have 32 bytes) in registers: interleaving the
// first half of the rows with the second half, log2(side) times. Rows r and r + side share a vector in the wide form.
template <class T, bool Wide>
HWY_INLINE void transpose_square(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride) {
  constexpr int side = 16 / sizeof(T);
  const hn::CappedTag<T, side> part;
  const hn::CappedTag<T, Wide ? 2 * side : side> d;
  with_vectors<2 * side>(d, [&](auto all) KG_INLINED {
    auto row = all.template row<side>(0), next = all.template row<side>(1);
    for (int half = 0; half < (Wide ? 2 : 1); ++half) {
#pragma clang loop unroll(full)
      for (int r = 0; r < side; ++r) {
        const T* p = in + r * in_stride + half * side;
        if constexpr (Wide) row[r] = hn::Combine(d, hn::LoadU(part, p + side * in_stride), hn::LoadU(part, p));
        else row[r] = hn::LoadU(d, p);
      }
#pragma clang loop unroll(full)
      for (int done = 1; done < side; done *= 2) {
#pragma clang loop unroll(full)
        for (int r = 0; r < side / 2; ++r) {
          next[2 * r] = hn::InterleaveLower(d, row[r], row[r + side / 2]);
          next[2 * r + 1] = hn::InterleaveUpper(d, row[r], row[r + side / 2]);
        }
        std::swap(row, next);
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < side; ++r) hn::StoreU(row[r], d, out + (half * side + r) * out_stride);
    }
  });
}

// out[c * out_stride + r] = in[r * in_stride + c]
template <class T, bool Wide>
HWY_INLINE void transpose_tile(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride,
                               std::ptrdiff_t rows, std::ptrdiff_t columns) {
  constexpr std::ptrdiff_t side = (Wide ? 32 : 16) / sizeof(T);
  const std::ptrdiff_t whole_r = rows / side * side, whole_c = columns / side * side;
  for (std::ptrdiff_t r = 0; r < whole_r; r += side) {
    for (std::ptrdiff_t c = 0; c < whole_c; c += side) {
      transpose_square<T, Wide>(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride);
    }
  }
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    for (std::ptrdiff_t r = c < whole_c ? whole_r : 0; r < rows; ++r) {
      put(get(in + r * in_stride + c), out + c * out_stride + r);
    }
  }
}

// The same in tiles. A tile is transposed into a small buffer and its lines are copied from there, so that whole cache
// lines of the output are written at once: rows at a stride of a power of two share the sets of the first cache and
// would evict half-written lines. Planes of a few lines need no buffer.
template <class T>
void transpose_plane(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride, std::ptrdiff_t rows,
                     std::ptrdiff_t columns) {
  constexpr bool wide = HWY_MAX_BYTES >= 32 && sizeof(T) != 1 && !HWY_HAVE_SCALABLE;
  constexpr std::ptrdiff_t side = (wide ? 32 : 16) / sizeof(T);
  constexpr std::ptrdiff_t tile_rows = sizeof(T) == 8 ? 32 : 256;  // measured
  constexpr std::ptrdiff_t tile_columns = std::max<std::ptrdiff_t>(side, 64 / sizeof(T));
  const bool is_small = rows * columns * static_cast<std::ptrdiff_t>(sizeof(T)) <= 2048;
  const std::ptrdiff_t most_rows = is_small ? rows : tile_rows, most_columns = is_small ? columns : tile_columns;
  HWY_ALIGN T buffer[tile_columns * tile_rows];
  T* const to = is_small ? out : buffer;
  const std::ptrdiff_t to_stride = is_small ? out_stride : tile_rows;
  for (std::ptrdiff_t r0 = 0; r0 < rows; r0 += most_rows) {
    const std::ptrdiff_t height = std::min(rows - r0, most_rows);
    for (std::ptrdiff_t c0 = 0; c0 < columns; c0 += most_columns) {
      const std::ptrdiff_t width = std::min(columns - c0, most_columns);
      transpose_tile<T, wide>(in + r0 * in_stride + c0, in_stride, to, to_stride, height, width);
      if (is_small) continue;
      copy_rows(buffer, tile_rows, out + c0 * out_stride + r0, out_stride, width, static_cast<std::size_t>(height));
    }
  }
}

struct axis {
  std::ptrdiff_t n, in, out;
};

// Axes without length 1, outermost output stride first, neighbours merged where both sides allow it. Returns how many
// are left, at least two (the missing ones have length 1), or 0 when there is nothing to copy.
int normal_form(const std::int64_t* dims, const std::int64_t* in_strides, const std::int64_t* out_strides, int given,
                axis* axes) {
  const auto size = [](std::ptrdiff_t stride) { return stride < 0 ? -stride : stride; };
  int rank = 0;
  for (int i = 0; i < given; ++i) {
    if (dims[i] == 0) return 0;
    if (dims[i] == 1) continue;
    int at = rank++;
    for (; at > 0 && size(axes[at - 1].out) < size(out_strides[i]); --at) axes[at] = axes[at - 1];
    axes[at] = {dims[i], in_strides[i], out_strides[i]};
  }
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (kept > 0 && axes[kept - 1].in == axes[i].n * axes[i].in && axes[kept - 1].out == axes[i].n * axes[i].out) {
      axes[kept - 1] = {axes[kept - 1].n * axes[i].n, axes[i].in, axes[i].out};
    } else {
      axes[kept++] = axes[i];
    }
  }
  while (kept < 2) {
    for (int i = kept++; i > 0; --i) axes[i] = axes[i - 1];
    axes[0] = {1, 0, 0};
  }
  return kept;
}

enum class run { plane, copy, fill, reverse, strided, interleave, deinterleave };

// A plane of two axes; `b` is the inner one.
template <class T>
void copy_plane(const T* in, T* out, const axis& a, const axis& b, run way) {
  const std::size_t n = static_cast<std::size_t>(b.n);
  switch (way) {
    case run::plane: return transpose_plane(in, b.in, out, a.out, b.n, a.n);
    case run::interleave:
      return with_count(b.n, [&](auto k) HWY_ATTR { interleave<decltype(k)::value>(in, b.in, out, a.n); });
    case run::deinterleave:
      return with_count(a.n, [&](auto k) HWY_ATTR { deinterleave<decltype(k)::value>(in, out, a.out, b.n); });
    case run::copy:
      if (a.in == 0 && a.out == b.n && n * sizeof(T) < 512) return repeat_run(in, out, a.n, n);
      return copy_rows(in, a.in, out, a.out, a.n, n);
    default: break;
  }
  const bool parts = b.n >= 2 && b.n <= 4 && a.in == b.n && a.out == b.n;
  if (way == run::reverse && parts) {
    return with_count(b.n, [&](auto k) HWY_ATTR { reverse_parts<decltype(k)::value>(in - (b.n - 1), out, a.n); });
  }
  for (std::ptrdiff_t i = 0; i < a.n; ++i, in += a.in, out += a.out) {
    if (way == run::fill) {
      fill_run(get(in), out, n);
    } else if (way == run::reverse) {
      reverse_run(in, out, n);
    } else {
      strided_run(in, b.in, out, b.out, b.n);
    }
  }
}

// How the innermost axis is copied; the axis that makes a plane with it is moved to the end of the others.
run way_of(const axis& inner, axis* others, int rank) {
  if (inner.out != 1) return run::strided;
  const axis& next = others[rank - 1];
  if (inner.n >= 2 && inner.n <= 4 && next.out == inner.n && next.in == 1) return run::interleave;
  if (inner.in == 1) return run::copy;
  if (inner.in == 0) return run::fill;
  if (inner.in == -1) return run::reverse;
  for (int i = rank - 1; i >= 0; --i) {
    if (others[i].in != 1) continue;
    const bool all_parts = others[i].n == inner.in && inner.in <= 4;
    if (!all_parts && (others[i].n < 4 || inner.n < 4)) continue;
    std::rotate(others + i, others + i + 1, others + rank);
    return all_parts ? run::deinterleave : run::plane;
  }
  return run::strided;
}

// Calls copy_plane for every index of the `rank` outer axes.
template <class T>
void copy_planes(const T* in, T* out, const axis* axes, int rank, const axis& outer, const axis& inner, run way) {
  std::ptrdiff_t index[max_rank + 1] = {};
  for (;;) {
    copy_plane(in, out, outer, inner, way);
    int i = rank - 1;
    for (; i >= 0; --i) {
      in += axes[i].in;
      out += axes[i].out;
      if (++index[i] < axes[i].n) break;
      in -= axes[i].n * axes[i].in;
      out -= axes[i].n * axes[i].out;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

template <class T>
HWY_NOINLINE void copy_axes(const T* in, T* out, axis* axes, int rank) {
  if (rank == 0) return;
  const axis inner = axes[--rank];
  const run way = way_of(inner, axes, rank);
  axis outer = axes[rank - 1];
  std::ptrdiff_t part = outer.n;
  if (way != run::plane && way != run::interleave && way != run::deinterleave && outer.n < 8) {
    // Few rows: those of the longest axis instead, so many of them that the output stays in the first cache.
    axis* longest = std::max_element(axes, axes + rank, [](const axis& a, const axis& b) { return a.n < b.n; });
    const std::ptrdiff_t bytes = (longest->out < 0 ? -longest->out : longest->out) * std::ptrdiff_t{sizeof(T)};
    if (longest->n > outer.n && bytes <= 1024) {
      std::rotate(longest, longest + 1, axes + rank);
      outer = axes[rank - 1];
      part = std::min(outer.n, 16384 / bytes);
    }
  }
  for (std::ptrdiff_t start = 0; start < outer.n; start += part) {
    const axis rows{std::min(part, outer.n - start), outer.in, outer.out};
    copy_planes(in + start * outer.in, out + start * outer.out, axes, rank - 1, rows, inner, way);
  }
}

template <class T>
void strided_copy(const T* in, T* out, const copy_geometry& g) {
  axis axes[max_rank + 2];
  copy_axes(in + g.in_offset, out + g.out_offset, axes, normal_form(g.dims, g.in_strides, g.out_strides, g.rank, axes));
}
// A pair is an axis of two of its own.
inline void strided_copy(const cell_pair* in, cell_pair* out, const copy_geometry& g) {
  std::int64_t dims[max_rank + 1], in_strides[max_rank + 1], out_strides[max_rank + 1];
  for (int i = 0; i < g.rank; ++i) {
    dims[i] = g.dims[i];
    in_strides[i] = 2 * g.in_strides[i];
    out_strides[i] = 2 * g.out_strides[i];
  }
  dims[g.rank] = 2;
  in_strides[g.rank] = out_strides[g.rank] = 1;
  axis axes[max_rank + 3];
  const int rank = normal_form(dims, in_strides, out_strides, g.rank + 1, axes);
  copy_axes(reinterpret_cast<const std::uint64_t*>(in + g.in_offset),
            reinterpret_cast<std::uint64_t*>(out + g.out_offset), axes, rank);
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
