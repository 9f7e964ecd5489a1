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

/// The elements around a position that its value is made of: the nearest one, a half going to the even index; the two
/// on each axis; or four on each axis, with the cubic weights of Keys (1981).
enum class interpolation : std::uint8_t { nearest, linear, cubic };
/// The image beyond its pixels: zeros, the pixel at the border, or the image reflected about its borders.
enum class image_border : std::uint8_t { zeros, border, reflection };

/// Options of grid_sample. -1 and 1 are the outer borders of the first and the last pixel, or with `align_corners`
/// their middles.
struct grid_sample_options {
  interpolation mode = interpolation::linear;
  image_border outside = image_border::zeros;
  bool align_corners = false;
};
/// Images [batch, height, width, channels] at the positions of a grid [batch, rows, columns, 2], which has x and y of
/// each pixel of the result: [batch, rows, columns, channels]. One grid [1, ...] serves all images. As
/// torch.nn.functional.grid_sample of channels-last images; cubic weights have its a = -0.75. NaN counts as -1. Floats;
/// positions are computed in float32, or in float64 if an operand is float64. Throws for shapes that do not fit and for
/// images without pixels. Differentiable in images and grid to any order, where the position is between two pixels.
tensor grid_sample(const tensor& images, const tensor& grid, const grid_sample_options& options = {});

/// The grid of an affine map: maps [batch, 2, 3] give for each pixel (x, y) of the result the position
/// map (x, y, 1), with -1 and 1 as in grid_sample: [batch, height, width, 2]. As torch.nn.functional.affine_grid.
/// Floats. Throws for another shape and for a size below 1. Differentiable.
tensor affine_grid(const tensor& maps, extent size, bool align_corners = false);
/// Images [batch, height, width, channels] under affine maps [batch, 2, 3] or [1, 2, 3], from positions of the result
/// to positions of the image: grid_sample at affine_grid. The size is that of the images unless it is given.
/// Differentiable in images and maps.
tensor affine_warp(const tensor& images, const tensor& maps, const grid_sample_options& options = {},
                   const std::optional<extent>& size = {});

/// The array beyond its elements [a b c d], as scipy.ndimage has it: `constant` the value `fill` and nothing between it
/// and the array, `grid_constant` the same with interpolation, `nearest` d d d, `mirror` c b a, `reflect` d c b,
/// `wrap` with a period of one element less than the array, `grid_wrap` a b c.
enum class array_border : std::uint8_t { constant, grid_constant, nearest, mirror, reflect, wrap, grid_wrap };
/// Options of map_coordinates: the degree of the spline, 0 to 3. Splines of degree 2 and 3 pass through the elements,
/// or with `prefilter` false take x as their coefficients.
struct coordinates_options {
  int order = 3;
  array_border mode = array_border::constant;
  double fill = 0;
  bool prefilter = true;
};
/// x at coordinates [rank of x, ...], which count its elements from 0 on: a result of the coordinates' other axes. As
/// scipy.ndimage.map_coordinates. float64 gives float64, other real numbers float32. Throws for another first axis,
/// for an empty x, for an order outside of 0 to 3 and for complex numbers. Differentiable in x and coordinates; degree
/// 0 has no gradient of the coordinates.
tensor map_coordinates(const tensor& x, const tensor& coordinates, const coordinates_options& options = {});

/// Options of resize_bicubic. Pixel i of n lies at (i + 1/2) in / out - 1/2, or with `align_corners` at
/// i (in - 1) / (out - 1). `a` is the parameter of the cubic weights: -0.75 as in PyTorch, -0.5 as in JAX.
struct bicubic_options {
  bool align_corners = false;
  double a = -0.75;
};
/// Images [batch, height, width, channels] of another size, by cubic interpolation, the pixels at the border going on
/// outside. As torch.nn.functional.interpolate with mode "bicubic", without smoothing of smaller images. Floats. Throws
/// for sizes below 1 and for images without pixels. Differentiable.
tensor resize_bicubic(const tensor& images, extent size, const bicubic_options& options = {});
/// Images [batch, height, width, channels] of another size: each pixel is the mean of those from floor(i in / out) to
/// before ceil((i + 1) in / out). As torch.nn.functional.interpolate with mode "area". Dtypes, errors and gradient are
/// those of resize_bicubic.
tensor resize_area(const tensor& images, extent size);

}  // namespace kerngrad
