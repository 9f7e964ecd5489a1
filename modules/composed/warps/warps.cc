// SPDX-License-Identifier: Apache-2.0
// Images and arrays at positions between their elements: grids, coordinates, affine maps and other sizes.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_warps;

import :std;
import :core;
import :tensor;
import :ops_window;

export namespace kerngrad {

/// The interpolation of a value between elements. `nearest` takes the nearest element, the one with the even index at a
/// half. `linear` takes two elements on each axis, `cubic` four with the weights of Keys (1981).
enum class interpolation : std::uint8_t { nearest, linear, cubic };
/// Values outside of an image: zeros, the nearest pixel of the border, or the image reflected at its borders.
enum class image_border : std::uint8_t { zeros, border, reflection };

/// Options of grid_sample. The positions -1 and 1 are the outer edges of the first and the last pixel, or with
/// `align_corners` their centers.
struct grid_sample_options {
  interpolation mode = interpolation::linear;
  image_border outside = image_border::zeros;
  bool align_corners = false;
};
/// Samples images [batch, height, width, channels] at the positions of a grid [batch, rows, columns, 2], as
/// torch.nn.functional.grid_sample with channels last. The grid has x and y of each pixel of the result [batch, rows,
/// columns, channels]; one grid [1, ...] serves all images. Cubic weights have a = -0.75. A position NaN counts as -1.
/// Floats; positions are computed in float32, or in float64 if an operand is float64. Throws for shapes that do not fit
/// and for images without pixels. Differentiable to any order in images and grid if no position is exactly on a pixel.
tensor grid_sample(const tensor& images, const tensor& grid, const grid_sample_options& options = {});

/// The grid [batch, height, width, 2] of affine maps [batch, 2, 3], as torch.nn.functional.affine_grid. The entry of a
/// pixel is the product of the map and (x, y, 1), where x and y are the pixel's coordinates. Coordinates go from -1 to
/// 1 over the width and the height, with `align_corners` as in `grid_sample`. Floats. Throws for maps of another shape
/// and for a size below 1. Differentiable.
tensor affine_grid(const tensor& maps, extent size, bool align_corners = false);
/// Warps images [batch, height, width, channels] by affine maps [batch, 2, 3] or [1, 2, 3]: grid_sample at affine_grid.
/// A map takes positions in the result to positions in the image. The size of the result is by default that of the
/// images. Throws for maps of another shape. Dtypes and other errors are those of `grid_sample`. Differentiable in
/// images and maps.
tensor affine_warp(const tensor& images, const tensor& maps, const grid_sample_options& options = {},
                   const std::optional<extent>& size = {});

/// Values outside of an array [a b c d], as in scipy.ndimage; the examples are to the right of d. `constant` is the
/// value `fill`, without interpolation between it and the array; `grid_constant` interpolates. `nearest` is d d d,
/// `mirror` c b a, `reflect` d c b. `wrap` repeats with a period of one element less than the array, `grid_wrap` is a b
/// c.
enum class array_border : std::uint8_t { constant, grid_constant, nearest, mirror, reflect, wrap, grid_wrap };
/// Options of map_coordinates. `order` is the degree of the spline, 0 to 3. Splines of degree 2 and 3 pass through the
/// elements; if `prefilter` is false, x has the coefficients of the spline.
struct coordinates_options {
  int order = 3;
  array_border mode = array_border::constant;
  double fill = 0;
  bool prefilter = true;
};
/// Interpolates x at coordinates [rank of x, ...], as scipy.ndimage.map_coordinates. Coordinates count elements from 0;
/// the result has the axes of the coordinates after the first one. float64 gives float64, other real numbers float32.
/// Throws for another first axis, for an empty x, for an order outside of 0 to 3 and for complex numbers.
/// Differentiable in x and coordinates; for order 0 the coordinates have no gradient.
tensor map_coordinates(const tensor& x, const tensor& coordinates, const coordinates_options& options = {});

/// Options of resize_bicubic. For sizes in and out, pixel i of the result is at (i + 1/2) in / out - 1/2 of the image.
/// With `align_corners` it is at i (in - 1) / (out - 1). `a` is the parameter of the cubic weights: -0.75 as in
/// PyTorch, -0.5 as in JAX.
struct bicubic_options {
  bool align_corners = false;
  double a = -0.75;
};
/// Resizes images [batch, height, width, channels] by cubic interpolation, as torch.nn.functional.interpolate with mode
/// "bicubic". Border pixels are repeated outside of the image. There is no antialiasing for a smaller size. Images are
/// of a floating dtype, which the result keeps. Throws for sizes below 1 and for images without pixels. Differentiable.
tensor resize_bicubic(const tensor& images, extent size, const bicubic_options& options = {});
/// Resizes images [batch, height, width, channels] by means, as torch.nn.functional.interpolate with mode "area". Pixel
/// i averages the pixels from floor(i in / out) to before ceil((i + 1) in / out). Dtypes, errors and gradient are those
/// of resize_bicubic.
tensor resize_area(const tensor& images, extent size);

}  // namespace kerngrad
