// SPDX-License-Identifier: Apache-2.0
// Convolution of volumes: each slice of the result is a convolution of the slices that its window meets, as images,
// with the slices of the filter; all their taps are summed up in registers. Slices that meet the same taps go together.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/volume/conv3d.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <vector>

#include "kernels/matmul/gemm-inl.h"
#include "kernels/volume/conv3d.h"
#include "kernels/window/conv_plan.h"
#include "kernels/window/convolve-inl.h"

#ifndef KERNGRAD_KERNELS_CONV3D_COMMON
#define KERNGRAD_KERNELS_CONV3D_COMMON
namespace kerngrad::kernels {
namespace {

/// The window over `images` slices.
window_geometry window_of_slices(const volume_geometry& g, std::ptrdiff_t images) {
  return {.batch = images,
          .in_h = g.height.in,
          .in_w = g.width.in,
          .in_c = g.in_c,
          .out_h = g.height.out,
          .out_w = g.width.out,
          .out_c = g.out_c,
          .filter_h = g.height.filter,
          .filter_w = g.width.filter,
          .stride_h = g.height.stride,
          .stride_w = g.width.stride,
          .dilation_h = g.height.dilation,
          .dilation_w = g.width.dilation,
          .pad_top = g.height.pad,
          .pad_left = g.width.pad};
}

/// The geometry of an unpadded 1x1x1 convolution with stride 1 as that of one slice.
volume_geometry flattened(volume_geometry g) {
  const auto keeps = [](const volume_axis& a) { return a.filter == 1 && a.stride == 1 && a.pad == 0 && a.in == a.out; };
  if (keeps(g.depth) && keeps(g.height) && keeps(g.width)) {
    g.height.in = g.height.out = g.batch * g.depth.in * g.height.in;
    g.depth.in = g.depth.out = g.batch = 1;
  }
  return g;
}

/// The slices of a result that meet the same taps of the depth: which slices of the source and of the result they are.
struct slice_group {
  std::ptrdiff_t count, src_first, src_step, dst_first, dst_step;
  std::ptrdiff_t tap_step;  // slices of the source from tap to tap: those that one slice meets are evenly spaced

  /// The pixels of an axis between which `step` slices of the result are, the first of them slice `phase`.
  slice_group(const tap_axis& axis, const tap_run& r, std::ptrdiff_t phase, std::ptrdiff_t step)
      : count(r.count),
        src_first(r.first * axis.stride + axis.at(r.low)),
        src_step(axis.stride),
        dst_first(phase + r.first * step),
        dst_step(step),
        tap_step(r.high - r.low > 1 ? axis.at(r.low + 1) - axis.at(r.low) : 0) {}
};

/// One side of a convolution: a stack of volumes, slices of `size` elements, `slices` to a volume.
template <class T>
struct volume_side {
  T* data;
  std::ptrdiff_t slices, size;

  T* first(std::ptrdiff_t slice) const { return data + slice * size; }
  image_stack each(std::ptrdiff_t count, std::ptrdiff_t step) const { return {count, step * size, slices * size}; }
};

/// The slices of a result that meet no tap, and those of a result without taps at all, are zeros.
template <class T>
void clear_unless(bool complete, const volume_side<T>& side, std::ptrdiff_t batch) {
  if (!complete) std::fill_n(side.data, batch * side.slices * side.size, T{0});
}

std::ptrdiff_t slices_in(const std::vector<tap_run>& runs) {
  std::ptrdiff_t count = 0;
  for (const tap_run& r : runs) count += r.count;
  return count;
}

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_CONV3D_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// The weights of each slice of the filter that a group of slices meets.
template <class T>
std::vector<const T*> weights_of(const tap_run& r, const tap_axis& axis, const T* w, std::ptrdiff_t filter_slice) {
  std::vector<const T*> found;
  for (std::ptrdiff_t i = r.low; i < r.high; ++i) found.push_back(w + axis.element_of(i) * filter_slice);
  return found;
}

/// Conv3D. Sums in the type itself by fused multiply-add where the target has it, over the taps slice by slice and row
/// by row, in an order given by shape and target alone; |error| <= k * eps * sum |x * w| with k = the filter's taps *
/// in_c. Padding takes no part, whatever the weights that it meets. Reference: kernels/volume/reference_conv3d.cc.
template <dtype Type, class T = storage_t<Type>>
void Conv3D(const volume_geometry& geometry, const T* x_data, const T* w, T* y_data) {
  const volume_geometry g = flattened(geometry);
  const volume_side<const T> x{x_data, g.depth.in, g.in_slice()};
  const volume_side<T> y{y_data, g.depth.out, g.out_slice()};
  if (g.batch * g.depth.out * g.out_slice() == 0) return;
  const window_axes axes(window_of_slices(g, 1));
  const auto deep =
      tap_axis::of_filter(g.depth.out, g.depth.in, g.depth.filter, g.depth.stride, g.depth.dilation, g.depth.pad);
  const bool meet = axes.meet() && deep.taps() > 0 && g.in_c > 0;
  const std::vector<tap_run> runs = meet ? deep.runs() : std::vector<tap_run>{};
  clear_unless(slices_in(runs) == g.depth.out, y, g.batch);
  const std::ptrdiff_t pixels = g.batch * g.depth.out * g.height.out * g.width.out;
  for (const tap_run& r : runs) {
    const slice_group group(deep, r, 0, 1);
    const std::vector<const T*> weights = weights_of(r, deep, w, g.filter_slice());
    conv_job<T> job{.src = x.first(group.src_first),
                    .src_at = x.each(group.count, group.src_step),
                    .slice = group.tap_step * x.size,
                    .images = g.batch * group.count,
                    .src_rows = g.height.in,
                    .src_columns = g.width.in,
                    .src_channels = g.in_c,
                    .src_pixel = g.in_c,
                    .dst = y.first(group.dst_first),
                    .dst_at = y.each(group.count, group.dst_step),
                    .dst_size = y.size,
                    .dst_channels = g.out_c,
                    .dst_pixel = g.out_c,
                    .w = weights,
                    .w_row = g.out_c,
                    .filter_h = g.height.filter,
                    .filter_w = g.width.filter,
                    .swap = false,
                    // Few pixels are not worth packing.
                    .keep_flat = pixels <= 5 * tile_rows && (loads_parts || g.out_c % lanes<T>() == 0),
                    .covered = true};
    job.lattices.push_back({axes.down, axes.right, 0, g.width.out * g.out_c, g.out_c});
    convolve_images(job);
  }
}

/// Conv3DBackpropInputV2. The input's elements of equal remainders modulo the strides are a convolution of dy with
/// stride 1 and the filter reversed, whatever strides and dilations. Numerics as for Conv3D with k = the filter's taps
/// * out_c. Reference: kernels/volume/reference_conv3d.cc.
template <dtype Type, class T = storage_t<Type>>
void Conv3DBackpropInputV2(const volume_geometry& geometry, const T* dy_data, const T* w, T* dx_data) {
  const volume_geometry g = flattened(geometry);
  const volume_side<const T> dy{dy_data, g.depth.out, g.out_slice()};
  const volume_side<T> dx{dx_data, g.depth.in, g.in_slice()};
  if (g.batch * g.depth.in * g.in_slice() == 0) return;
  const auto phases = [](const volume_axis& a) {
    return phase_axes(a.in, a.out, a.filter, a.stride, a.dilation, a.pad);
  };
  const phase_axes deep = phases(g.depth), rows = phases(g.height), columns = phases(g.width);
  const bool meet = g.out_c > 0 && !rows.axes.empty() && !columns.axes.empty();
  std::ptrdiff_t reached = 0;
  for (const tap_axis& axis : deep.axes) reached += meet ? slices_in(axis.runs()) : 0;
  clear_unless(reached == g.depth.in, dx, g.batch);
  for (std::size_t phase = 0; meet && phase < deep.axes.size(); ++phase) {
    const tap_axis& axis = deep.axes[phase];
    for (const tap_run& r : axis.runs()) {
      const slice_group group(axis, r, deep.phases[phase], g.depth.stride);
      const std::vector<const T*> weights = weights_of(r, axis, w, g.filter_slice());
      conv_job<T> job{.src = dy.first(group.src_first),
                      .src_at = dy.each(group.count, group.src_step),
                      .slice = group.tap_step * dy.size,
                      .images = g.batch * group.count,
                      .src_rows = g.height.out,
                      .src_columns = g.width.out,
                      .src_channels = g.out_c,
                      .src_pixel = g.out_c,
                      .dst = dx.first(group.dst_first),
                      .dst_at = dx.each(group.count, group.dst_step),
                      .dst_size = dx.size,
                      .dst_channels = g.in_c,
                      .dst_pixel = g.in_c,
                      .w = weights,
                      .w_row = g.out_c,
                      .filter_h = g.height.filter,
                      .filter_w = g.width.filter,
                      .swap = true,
                      .keep_flat = false,
                      .covered = rows.complete && columns.complete};
      for (std::size_t i = 0; i < rows.axes.size(); ++i) {
        for (std::size_t j = 0; j < columns.axes.size(); ++j) {
          job.lattices.push_back({rows.axes[i], columns.axes[j],
                                  (rows.phases[i] * g.width.in + columns.phases[j]) * g.in_c,
                                  g.height.stride * g.width.in * g.in_c, g.width.stride * g.in_c});
        }
      }
      convolve_images(job);
    }
  }
}

/// Conv3DBackpropFilterV2: for each slice of the filter the gradient of a filter of images, over all slices that it
/// meets. |error| <= k * eps * sum |x * dy| with k = batch * the result's pixels. Padding takes no part, whatever the
/// gradients that it meets. Reference: kernels/volume/reference_conv3d.cc.
template <dtype Type, class T = storage_t<Type>>
void Conv3DBackpropFilterV2(const volume_geometry& g, const T* x_data, const T* dy_data, T* dw) {
  const volume_side<const T> x{x_data, g.depth.in, g.in_slice()};
  const volume_side<const T> dy{dy_data, g.depth.out, g.out_slice()};
  const std::ptrdiff_t total = g.depth.filter * g.filter_slice();
  if (total == 0) return;
  const auto deep =
      tap_axis::of_filter(g.depth.out, g.depth.in, g.depth.filter, g.depth.stride, g.depth.dilation, g.depth.pad);
  if (deep.taps() < g.depth.filter) std::fill_n(dw, total, T{0});
  for (std::ptrdiff_t i = 0; i < deep.taps(); ++i) {
    const clipped_axis met = deep.pixels_inside(deep.at(i));
    const window_geometry window = window_of_slices(g, g.batch * met.count());
    const filter_gradient_job<T> job{.g = window,
                                     .x = x.first(met.low * g.depth.stride + deep.at(i)),
                                     .x_at = x.each(met.count(), g.depth.stride),
                                     .dy = dy.first(met.low),
                                     .dy_at = dy.each(met.count(), 1)};
    sum_filter_gradient(job, dw + deep.element_of(i) * g.filter_slice());
  }
}

}  // namespace

KG_DEFINE_KERNELS(KG_CONV3D_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_CONV3D_KERNELS)
}  // namespace kerngrad::kernels
#endif
