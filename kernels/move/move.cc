// SPDX-License-Identifier: Apache-2.0
// Moving elements: strided copies, borders, gathers, scatters and their adjoints, bands, one-hot, scans. See move.h for
// the geometries.
//
// Elements are moved as bytes of their size, so NaN payloads and the sign of zero survive. Sums of GatherGrad and
// UnsortedSegmentSum are added in the order of the indices: float32 in double and rounded once, float64 with one
// rounding each; integers wrap. Cumsum and Cumprod carry doubles and round every result once, in the order of
// scan-inl.h; integers wrap. CumMax and CumMin give the first of equal elements, and the first NaN from there on. The
// results are the same on every target. Reference: kernels/move/reference_move.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/move.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/move/copy-inl.h"
#include "kernels/move/move.h"
#include "kernels/move/sums-inl.h"
#include "kernels/reduce/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <dtype Type, class T = cell_t<Type>>
void StridedCopy(const copy_geometry& g, const T* x, T* y) {
  strided_copy(x, y, g);
}

// Rows of n elements, one after the other in x, with `gap` elements of the border between them in y. Returns the ends.
template <class T>
HWY_INLINE T* spread_rows(const T*& x, T* y, std::int64_t rows, std::size_t n, std::size_t gap, T value) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    if (r != 0) {
      fill_run(value, y, gap);
      y += gap;
    }
    copy_run(x, y, n);
  }
  return y;
}

// In the order of the result, each element once: what lies between two rows of x is one run of the border.
template <dtype Type, class T = cell_t<Type>>
void PadV2(const pad_geometry& g, const T* x, T* y) {
  const T value = get(static_cast<const T*>(g.value));
  std::size_t gap[max_rank];  // the border between two rows when the index of that axis counts up
  std::size_t lead = 0, border = 0, step = 1, count = 1;
  for (int i = g.rank - 1; i >= 0; --i) {
    gap[i] = border;
    lead += static_cast<std::size_t>(g.before[i]) * step;
    border += static_cast<std::size_t>(g.before[i] + g.after[i]) * step;
    step *= static_cast<std::size_t>(g.before[i] + g.dims[i] + g.after[i]);
    count *= static_cast<std::size_t>(g.dims[i]);
  }
  if (count == 0) return fill_run(value, y, step);
  const std::size_t n = static_cast<std::size_t>(g.dims[g.rank - 1]);
  const int plane = g.rank - 2;
  std::int64_t index[max_rank] = {};
  fill_run(value, y, lead);
  y += lead;
  for (;;) {
    y = plane < 0 ? spread_rows(x, y, 1, n, 0, value) : spread_rows(x, y, g.dims[plane], n, gap[plane], value);
    int i = plane - 1;
    for (; i >= 0 && ++index[i] == g.dims[i]; --i) index[i] = 0;
    if (i < 0) break;
    fill_run(value, y, gap[i]);
    y += gap[i];
  }
  fill_run(value, y, border - lead);
}

template <dtype Type, class T = cell_t<Type>>
void GatherV2(const gather_geometry& g, const T* x, const std::int32_t* indices, T* y) {
  if (g.inner == 0) return;
  for (std::int64_t b = 0; b < g.batch; ++b, indices += g.count) {
    for (std::int64_t o = 0; o < g.outer; ++o, x += g.axis * g.inner) {
      if (g.inner == 1) {
        for (std::int64_t j = 0; j < g.count; ++j) put(get(x + indices[j]), y++);
        continue;
      }
      for (std::int64_t j = 0; j < g.count; ++j, y += g.inner) {
        copy_run(x + indices[j] * g.inner, y, static_cast<std::size_t>(g.inner));
      }
    }
  }
}

// y[i] += x[i]
template <class T>
HWY_INLINE void add_row(const T* HWY_RESTRICT x, T* HWY_RESTRICT y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const std::int64_t L = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + L <= n; i += L) hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  for (; i < n; ++i) y[i] += x[i];
}

template <dtype Type, class T = storage_t<Type>>
void GatherGrad(const gather_geometry& g, const T* dy, const std::int32_t* indices, T* dx) {
  if constexpr (Type == dtype::float32) {
    carried_sums sums;
    for (std::int64_t b = 0; b < g.batch; ++b, indices += g.count)
      for (std::int64_t o = 0; o < g.outer; ++o, dx += g.axis * g.inner, dy += g.count * g.inner)
        sums.add({dy, indices, g.count, g.inner, g.inner, 0, g.axis}, dx, true, nullptr);
  } else {
    std::fill_n(dx, g.batch * g.outer * g.axis * g.inner, T{0});
    for (std::int64_t b = 0; b < g.batch; ++b, indices += g.count) {
      for (std::int64_t o = 0; o < g.outer; ++o, dx += g.axis * g.inner) {
        for (std::int64_t j = 0; j < g.count; ++j, dy += g.inner) add_row(dy, dx + indices[j] * g.inner, g.inner);
      }
    }
  }
}

template <dtype Type, class T = wrapping_t<storage_t<Type>>>
void UnsortedSegmentSum(const segment_geometry& g, const T* x, const std::int32_t* ids, T* y) {
  if constexpr (Type == dtype::float32) {
    carried_sums().add({x, ids, g.rows, g.inner, g.inner, 0, g.segments}, y, true, nullptr);
  } else {
    std::fill_n(y, g.segments * g.inner, T{0});
    for (std::int64_t r = 0; r < g.rows; ++r) {
      if (ids[r] >= 0 && ids[r] < g.segments) add_row(x + r * g.inner, y + ids[r] * g.inner, g.inner);
    }
  }
}

template <dtype Type, class T = cell_t<Type>>
void ScatterRows(const scatter_geometry& g, const T* x, const std::int32_t* indices, T* y) {
  if (g.inner == 1) {
    for (std::int64_t r = 0; r < g.rows; ++r, x += g.step) put(get(x), y + indices[r]);
    return;
  }
  for (std::int64_t r = 0; r < g.rows; ++r, x += g.step)
    copy_run(x, y + indices[r] * g.inner, static_cast<std::size_t>(g.inner));
}

template <dtype Type, class T = cell_t<Type>>
void BandPart(const band_geometry& g, const T* x, T* y) {
  alignas(16) constexpr std::uint8_t zero[16] = {};
  const T value = get(reinterpret_cast<const T*>(zero));
  std::int64_t row = g.first % g.rows;
  for (std::int64_t r = 0; r < g.count; ++r, x += g.columns, y += g.columns) {
    const std::int64_t begin = std::clamp(row - g.lower, std::int64_t{0}, g.columns);
    const std::int64_t end = g.upper >= g.columns - row ? g.columns : std::max(begin, row + g.upper + 1);
    fill_run(value, y, static_cast<std::size_t>(begin));
    copy_run(x + begin, y + begin, static_cast<std::size_t>(end - begin));
    fill_run(value, y + end, static_cast<std::size_t>(g.columns - end));
    if (++row == g.rows) row = 0;
  }
}

template <dtype Type, class T = storage_t<Type>>
void OneHot(const one_hot_geometry& g, const std::int32_t* indices, T* y) {
  const T on = static_cast<T>(g.on), off = static_cast<T>(g.off);
  std::fill_n(y, g.outer * g.depth * g.inner, off);
  for (std::int64_t o = 0; o < g.outer; ++o, y += g.depth * g.inner, indices += g.inner) {
    for (std::int64_t i = 0; i < g.inner; ++i) {
      if (indices[i] >= 0 && indices[i] < g.depth) y[indices[i] * g.inner + i] = on;
    }
  }
}

// Elements as a scan sees them: of sums and products unsigned integers, which wrap.
template <class Op, dtype Type> using scanned_t = typename Op::template lane<storage_t<Type>>;

template <dtype Type, class T = scanned_t<running_sum, Type>>
void Cumsum(const scan_geometry& g, const T* x, T* y) {
  run_scan<running_sum>(g, x, y);
}

template <dtype Type, class T = scanned_t<running_product, Type>>
void Cumprod(const scan_geometry& g, const T* x, T* y) {
  run_scan<running_product>(g, x, y);
}

template <dtype Type, class T = scanned_t<running_extreme<true>, Type>>
void CumMax(const scan_geometry& g, const T* x, T* y) {
  run_scan<running_extreme<true>>(g, x, y);
}

template <dtype Type, class T = scanned_t<running_extreme<false>, Type>>
void CumMin(const scan_geometry& g, const T* x, T* y) {
  run_scan<running_extreme<false>>(g, x, y);
}

}  // namespace

KG_DEFINE_KERNELS(KG_MOVE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_MOVE_KERNELS)

}  // namespace kerngrad::kernels
#endif
