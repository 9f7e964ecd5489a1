// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over vectors of channels. A multiplier above 1 is reduced to 1 by repeating the channels of
// the input: the filter [filter_h, filter_w, in_c, multiplier] is [filter_h, filter_w, out_c] as it lies.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window/depthwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/window/depthwise-grad-inl.h"
#include "kernels/window/depthwise-inl.h"
#include "kernels/window/depthwise.h"
#include "kernels/window/depthwise_plan.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// The convolution for a larger multiplier.
template <class T>
void forward_repeated(const window_geometry& g, const T* x, const T* w, T* y) {
  if (repeats_all(g)) {
    scratch<T> wide(product_of(input_count(g), g.out_c / g.in_c));
    repeat(x, input_count(g), g.out_c / g.in_c, wide.data());
    depthwise_forward(widened(g), wide.data(), w, y);
    return;
  }
  const pixel_row_chunks chunks(g.batch * g.out_h, saturated_product(g.out_w, g.out_c, g.filter_h, g.filter_w));
  run_in_chunks(chunks.count, chunks.products, [&](std::ptrdiff_t chunk) {
    scratch<T> room;
    for (std::ptrdiff_t row = chunks.low(chunk); row < chunks.high(chunk); ++row) {
      const repeated_rows<T> r(g, x + row / g.out_h * g.in_h * g.in_w * g.in_c, row % g.out_h, room);
      T* to = y + row * g.out_w * g.out_c;
      packed_filter<T> packed;
      if (r.g.in_h > 0) forward_rows(r.g, r.x, w + r.weights, to, 0, 1, packed);
      else std::fill_n(to, g.out_w * g.out_c, T{0});
    }
  });
}

/// sums[i] = the sum of `multiplier` elements.
template <class T>
void add_up(const T* from, std::ptrdiff_t count, std::ptrdiff_t multiplier, T* sums) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    T sum = 0;
    for (std::ptrdiff_t q = 0; q < multiplier; ++q) sum += *from++;
    sums[i] = sum;
  }
}

/// The gradient for multiplier 1 and stride 1: the convolution of dy with the filter reversed.
template <class T>
void reversed_forward(const window_geometry& forward, const T* dy, const T* w, T* dx) {
  window_geometry g = forward;
  scratch<T> reversed(product_of(g.filter_h, g.filter_w, g.in_c));
  T* to = reversed.data();
  for (std::ptrdiff_t tap = g.filter_h * g.filter_w - 1; tap >= 0; --tap) {
    to = std::copy_n(w + tap * g.in_c, g.in_c, to);
  }
  std::swap(g.in_h, g.out_h);
  std::swap(g.in_w, g.out_w);
  g.pad_top = (g.filter_h - 1) * g.dilation_h - g.pad_top;
  g.pad_left = (g.filter_w - 1) * g.dilation_w - g.pad_left;
  depthwise_forward(g, dy, reversed.data(), dx);
}

/// The gradient for any stride: every input pixel gathers from the output pixels it reached. Those of equal remainder
/// modulo the stride do so alike. With a multiplier above 1 a row of gradients of out_c channels is gathered first, and
/// added up for each channel of the input.
template <class T>
void gather_gradient(const window_geometry& all, const T* dy, const T* w, T* dx) {
  const window_geometry g = widened(all);
  const std::ptrdiff_t multiplier = all.out_c / all.in_c;
  const phase_reaches row_phases = reaches_by_phase(g.in_h, g.out_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top);
  const phase_reaches column_phases =
      reaches_by_phase(g.in_w, g.out_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  const bool every_column = static_cast<std::ptrdiff_t>(column_phases.size()) == std::min(g.stride_w, g.in_w);
  const pixel_row_chunks chunks(g.batch * g.in_h,
                                saturated_product(g.out_w, g.in_c, g.filter_h, g.filter_w) / g.stride_h);
  run_in_chunks(chunks.count, chunks.products, [&](std::ptrdiff_t chunk) {
    std::vector<reach> rows;
    scratch<T> wide;
    if (multiplier > 1) wide.reach(product_of(g.in_w, g.in_c));
    for (std::ptrdiff_t row = chunks.low(chunk); row < chunks.high(chunk); ++row) {
      const std::ptrdiff_t b = row / g.in_h, iy = row % g.in_h;
      rows.clear();
      if (const auto phase = row_phases.find(iy % g.stride_h); phase != row_phases.end()) {
        for (const reach& r : phase->second) {
          const std::ptrdiff_t output = r.output + iy / g.stride_h;
          if (output >= 0 && output < g.out_h) rows.push_back({output, r.tap});
        }
      }
      T* const narrow = dx + row * g.in_w * all.in_c;
      T* const to = multiplier > 1 ? wide.data() : narrow;
      if (rows.empty() || !every_column) std::fill_n(to, g.in_w * g.in_c, T{0});
      for (const auto& [p, columns] : column_phases) {
        if (rows.empty()) break;
        const gathered_row<T> r{g, dy + b * g.out_h * g.out_w * g.in_c, w, to + p * g.in_c, rows, columns};
        gather_row(r, (g.in_w - p + g.stride_w - 1) / g.stride_w);
      }
      if (multiplier > 1) add_up(to, g.in_w * all.in_c, multiplier, narrow);
    }
  });
}

/// The filter's gradient. Chunks of rows have sums of their own, which are added up in their order.
template <class T>
void filter_gradient(const window_geometry& g, const T* x, const T* dy, T* dw) {
  const std::ptrdiff_t size = g.filter_h * g.filter_w * g.out_c, multiplier = g.out_c / g.in_c;
  if (output_count(g) == 0) {
    std::fill_n(dw, size, T{0});
    return;
  }
  scratch<T> room;
  const T* wide = multiplier == 1 ? x : nullptr;
  if (multiplier > 1 && repeats_all(g)) {
    wide = room.reach(product_of(input_count(g), multiplier));
    repeat(x, input_count(g), multiplier, room.data());
  }
  const pixel_row_chunks chunks(g.batch * g.out_h, saturated_product(g.out_w, size));
  scratch<T> others(product_of(chunks.count - 1, size));
  run_in_chunks(chunks.count, chunks.products, [&](std::ptrdiff_t i) {
    T* sums = i == 0 ? dw : others.data() + (i - 1) * size;
    std::fill_n(sums, size, T{0});
    if (wide != nullptr) {
      add_filter_gradient(widened(g), wide, dy, sums, chunks.low(i), chunks.high(i));
      return;
    }
    scratch<T> rows;
    for (std::ptrdiff_t row = chunks.low(i); row < chunks.high(i); ++row) {
      const repeated_rows<T> r(g, x + row / g.out_h * g.in_h * g.in_w * g.in_c, row % g.out_h, rows);
      add_filter_gradient(r.g, r.x, dy + row * g.out_w * g.out_c, sums + r.weights, 0, 1);
    }
  });
  for (std::ptrdiff_t i = 0; i + 1 < chunks.count; ++i) {
    const T* other = others.data() + i * size;
    for (std::ptrdiff_t k = 0; k < size; ++k) dw[k] += other[k];
  }
}

/// DepthwiseConv2dNative. Sums in the type itself by fused multiply-add where the target has it, taps row by row,
/// skipping padding; |error| <= k * eps * sum |x * w| with k = filter_h * filter_w.
/// Reference: kernels/window/reference_depthwise.cc.
template <dtype Type, class T = storage_t<Type>>
void DepthwiseConv2dNative(const window_geometry& g, const T* x, const T* w, T* y) {
  if (g.in_c == g.out_c) {
    depthwise_forward(g, x, w, y);
  } else if (g.out_c > 0) {
    forward_repeated(g, x, w, y);
  }
}

/// DepthwiseConv2dNativeBackpropInput. Numerics as for the convolution with k = filter_h * filter_w * multiplier.
/// Reference: kernels/window/reference_depthwise.cc.
template <dtype Type, class T = storage_t<Type>>
void DepthwiseConv2dNativeBackpropInput(const window_geometry& g, const T* dy, const T* w, T* dx) {
  if (g.out_c == 0 || g.in_c == 0) {
    std::fill_n(dx, input_count(g), T{0});
  } else if (g.stride_h != 1 || g.stride_w != 1) {
    gather_gradient(g, dy, w, dx);
  } else if (g.in_c == g.out_c) {
    reversed_forward(g, dy, w, dx);
  } else {
    const std::ptrdiff_t multiplier = g.out_c / g.in_c;
    scratch<T> wide(product_of(input_count(g), multiplier));
    reversed_forward(widened(g), dy, w, wide.data());
    add_up(wide.data(), input_count(g), multiplier, dx);
  }
}

/// DepthwiseConv2dNativeBackpropFilter: sums of a row of pixels, added up row after row.
/// |error| <= k * eps * sum |x * dy| with k = batch * out_h * out_w. Reference: kernels/window/reference_depthwise.cc.
template <dtype Type, class T = storage_t<Type>>
void DepthwiseConv2dNativeBackpropFilter(const window_geometry& g, const T* x, const T* dy, T* dw) {
  if (g.out_c > 0) filter_gradient(g, x, dy, dw);
}

}  // namespace

KG_DEFINE_KERNELS(KG_DEPTHWISE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_DEPTHWISE_KERNELS)
}  // namespace kerngrad::kernels
#endif
