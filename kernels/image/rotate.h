// SPDX-License-Identifier: Apache-2.0
// Entry points of rotated images, and of the adjoint.
#pragma once
#include <cmath>

#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// Images x and results y [batch, height, width, channels]; no size is 0. Pixel (i, j) of y is that of x at the row
/// ((j - center_x) sine + (i - center_y) cosine) + center_y and the column ((j - center_x) cosine - (i - center_y)
/// sine)
/// + center_x, both computed in double precision in this order and rounded to the next whole number, a half upwards.
struct rotate_geometry {
  std::int64_t batch, height, width, channels;
  double sine, cosine, center_x, center_y;
  const void* fill;  ///< a pixel of the entry's dtype: what lies outside of the image
};

//   RotateWithOffset      in = {x}   out = {y}
//   RotateWithOffsetGrad  in = {dy}  out = {dx}  the adjoint without `fill`: each pixel of dy added where it was taken
//                                                from, in the order of the pixels
#define KG_ROTATE_MOVES(X) KG_SIZES(X, RotateWithOffset)
#define KG_ROTATE_SUMS(X) KG_FLOATS(X, RotateWithOffsetGrad)
#define KG_ROTATE_KERNELS(X) KG_ROTATE_MOVES(X) KG_ROTATE_SUMS(X)

KG_ROTATE_MOVES(KG_DECLARE_BYTES)
KG_ROTATE_SUMS(KG_DECLARE_KERNEL)

/// The kernels, those that move pixels for one dtype of each size.
inline constexpr entry rotate_kernels[] = {
#define KG_KERNEL_ROTATE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_ROTATE_KERNELS(KG_KERNEL_ROTATE)
#undef KG_KERNEL_ROTATE
};
inline constexpr entry rotate_simd[] = {
#define KG_ENTRY_ROTATE(Name, type) serving(rotate_kernels, served_op{#Name, #Name}, dtype::type),
    KG_ALL(KG_ENTRY_ROTATE, RotateWithOffset) KG_FLOATS(KG_ENTRY_ROTATE, RotateWithOffsetGrad)
#undef KG_ENTRY_ROTATE
};

}  // namespace kerngrad::kernels
