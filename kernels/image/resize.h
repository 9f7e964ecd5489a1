// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that resize images, and of their adjoints.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// Images x [batch, in_h, in_w, channels] and y [batch, out_h, out_w, channels]. No size is 0, heights and widths are
/// at most 2^30. Along an axis of `in` pixels of x and `out` pixels of y, pixel i of y lies at this position of x:
///   i * (in - 1) / (out - 1)      with align_corners and out > 1
///   (i + 1/2) * in / out - 1/2    with half_pixel_centers, never together with align_corners
///   i * in / out                  else
/// Fractions are exact: no position depends on how a quotient is rounded.
struct resize_geometry {
  std::int64_t batch, in_h, in_w, channels, out_h, out_w;
  bool align_corners, half_pixel_centers;
};

//   ResizeBilinear             in = {x}      out = {y}   interpolated between the four pixels around the position,
//   first
//                                                        between rows; positions outside of x are moved to its edge
//   ResizeNearestNeighbor      in = {x}      out = {y}   the pixel at the position: with align_corners rounded to the
//                                                        next whole number, a half upwards; with half_pixel_centers the
//                                                        one that (i + 1/2) * in / out lies in; else rounded down
//   ResizeBilinearGrad         in = {dy, x}  out = {dx}  the adjoints: each element of dy given back in the shares in
//   ResizeNearestNeighborGrad  in = {dy, x}  out = {dx}  which it was taken. x is not read
// X of the kernels that compute, Bytes of the one that moves bytes.
#define KG_RESIZE_KERNELS(X, Bytes) \
  KG_FLOATS(X, ResizeBilinear)      \
  KG_SIZES(Bytes, ResizeNearestNeighbor) KG_FLOATS(X, ResizeBilinearGrad) KG_FLOATS(X, ResizeNearestNeighborGrad)
// Every op with its dtypes.
#define KG_RESIZE_OPS(X)       \
  KG_FLOATS(X, ResizeBilinear) \
  KG_ALL(X, ResizeNearestNeighbor) KG_FLOATS(X, ResizeBilinearGrad) KG_FLOATS(X, ResizeNearestNeighborGrad)

KG_RESIZE_KERNELS(KG_DECLARE_KERNEL, KG_DECLARE_BYTES)

inline constexpr entry resize_kernels[] = {
#define KG_KERNEL_RESIZE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_RESIZE_KERNELS(KG_KERNEL_RESIZE, KG_KERNEL_RESIZE)
#undef KG_KERNEL_RESIZE
};

inline constexpr entry resize_simd[] = {
#define KG_ENTRY_RESIZE(Name, type) serving(resize_kernels, served_op{#Name, #Name}, dtype::type),
    KG_RESIZE_OPS(KG_ENTRY_RESIZE)
#undef KG_ENTRY_RESIZE
};

}  // namespace kerngrad::kernels
