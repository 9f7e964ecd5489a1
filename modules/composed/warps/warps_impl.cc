// SPDX-License-Identifier: Apache-2.0
// Images and arrays at positions between their elements: indices and weights along each axis by ops, so that gradients
// reach the positions through the weights, and one weighted gather for their products.
module;
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_interpolation;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

// ------------------------------------------------------------------------------------------ taps

// Elements along one axis for positions [..., points]: offsets in the flat array and weights, [..., taps, points].
struct taps {
  tensor offsets, weights;
};

// The offset of no element: sums of one for each axis stay negative and in int32.
std::int64_t outside_of(int axes) { return -(std::int64_t{1} << 31) / axes; }

tensor joined(std::initializer_list<tensor> parts) { return stack(parts, -2); }

// mod(x, period) folded in the middle, for an array of n elements that is reflected about its outer elements, or half
// an element outside of them.
tensor folded(const tensor& x, double n, bool about_elements) {
  const double half = about_elements ? n - 1 : n, shift = about_elements ? 0 : 0.5;
  if (half == 0) return zeros_like(x);
  return half - abs(mod(x + shift, 2 * half) - half) - shift;
}

// Offsets of taps, whole numbers as floats, `step` elements apart; taps outside of the array have none.
tensor offsets_of(const tensor& at, std::int64_t n, std::int64_t step, int axes) {
  const tensor near = cast(clip(at, -1, static_cast<double>(n)), dtype::int32);
  const tensor inside = logical_and(near >= 0, near < static_cast<std::int32_t>(n));
  return where(inside, near * static_cast<std::int32_t>(step),
               full({}, static_cast<double>(outside_of(axes)), dtype::int32));
}

// Cubic weights of Keys at f - k for the four elements from -1 on.
tensor keys_weights(const tensor& f, double a) {
  const auto near = [&](const tensor& t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const auto far = [&](const tensor& t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  const tensor g = 1 - f;
  return joined({far(f + 1), near(f), near(g), far(g + 1)});
}

// Weights of B-splines for the elements around: degree 2 has f from -1/2 to 1/2, degree 3 from 0 to 1.
tensor spline_weights(const tensor& f, int degree) {
  if (degree == 2) return joined({square(0.5 - f) * 0.5, 0.75 - f * f, square(0.5 + f) * 0.5});
  const tensor g = 1 - f;
  const auto middle = [](const tensor& t) { return (t * t * (t - 2) * 3 + 4) * (1.0 / 6); };
  return joined({g * g * g * (1.0 / 6), middle(f), middle(g), f * f * f * (1.0 / 6)});
}

// The whole numbers around floor, from `first` on: [..., count, points].
tensor around(const tensor& floor, int first, int count) {
  std::vector<double> steps;
  for (int i = 0; i < count; ++i) steps.push_back(first + i);
  return expand_dims(floor, -2) + cast(tensor(steps, shape{count, 1}), floor.type());
}

// Products of the axes' weights and sums of their offsets: [..., taps of all axes, points].
taps of_all_axes(const std::vector<taps>& axes) {
  taps all = axes[0];
  for (std::size_t i = 1; i < axes.size(); ++i) {
    std::vector<std::int64_t> dims(all.weights.dims().begin(), all.weights.dims().end());
    dims[dims.size() - 2] *= axes[i].weights.dims()[axes[i].weights.rank() - 2];
    const auto both = [](const tensor& a, const tensor& b, const auto& f) {
      return f(expand_dims(a, -2), expand_dims(b, -3));
    };
    all.offsets = reshape(both(all.offsets, axes[i].offsets, [](const tensor& a, const tensor& b) { return a + b; }),
                          shape(dims));
    all.weights = reshape(both(all.weights, axes[i].weights, [](const tensor& a, const tensor& b) { return a * b; }),
                          shape(dims));
  }
  return all;
}

// ------------------------------------------------------------------------------------------ grids

// A position in the image, where borders are kept or reflected.
tensor on_image(const tensor& x, std::int64_t size, const grid_sample_options& options) {
  const double n = static_cast<double>(size);
  if (options.outside == image_border::zeros) return x;
  return clip(options.outside == image_border::border ? x : folded(x, n, options.align_corners), 0, n - 1);
}

taps grid_taps(const tensor& grid, std::int64_t size, std::int64_t step, const grid_sample_options& options) {
  const double n = static_cast<double>(size);
  const tensor g = where(isnan(grid), full({}, -1, grid.type()), grid);
  const tensor raw = options.align_corners ? (g + 1) * ((n - 1) / 2) : (g + 1) * (n / 2) - 0.5;
  const bool cubic = options.mode == interpolation::cubic;
  const tensor x = cubic ? raw : on_image(raw, size, options);
  if (options.mode == interpolation::nearest) {
    const tensor near = expand_dims(round(stop_gradient(x)), -2);
    return {offsets_of(near, size, step, 2), ones_like(near)};
  }
  const tensor below = floor(stop_gradient(x)), f = x - below;
  if (!cubic) return {offsets_of(around(below, 0, 2), size, step, 2), joined({1 - f, f})};
  return {offsets_of(on_image(around(below, -1, 4), size, options), size, step, 2), keys_weights(f, -0.75)};
}

void check_images(const composed& call, const tensor& images) {
  call.rank("images", images, 4, 4);
  call.floating("images", images);
  const shape& dims = images.dims();
  if (dims[1] == 0 || dims[2] == 0) call.refuse(shaped("images", images), "images with pixels");
  if (dims[1] * dims[2] >= -outside_of(2)) call.refuse(shaped("images", images), "less than 2^30 pixels");
}

dtype computed_in(const tensor& a, const tensor& b) {
  return a.type() == dtype::float64 || b.type() == dtype::float64 ? dtype::float64 : dtype::float32;
}

}  // namespace

tensor grid_sample(const tensor& images, const tensor& grid, const grid_sample_options& options) {
  constexpr composed call{"grid_sample"};
  check_images(call, images);
  call.rank("grid", grid, 4, 4);
  call.floating("grid", grid);
  const shape &image = images.dims(), &at = grid.dims();
  if (at[3] != 2 || (at[0] != 1 && at[0] != image[0]))
    call.refuse(shaped("grid", grid), "[" + std::to_string(image[0]) + ", rows, columns, 2]");
  const dtype type = computed_in(images, grid);
  const auto [x, y] = unstack<2>(reshape(cast(grid, type), {at[0], at[1] * at[2], 2}), -1);
  const taps both = of_all_axes({grid_taps(y, image[1], image[2], options), grid_taps(x, image[2], 1, options)});
  const tensor pixels = reshape(cast(images, type), {image[0], image[1] * image[2], image[3]});
  const tensor sampled =
      reshape(detail::weighted_gather(pixels, both.offsets, both.weights), {image[0], at[1], at[2], image[3]});
  return detail::narrowed(sampled, detail::promoted({&images, &grid}));
}

tensor affine_grid(const tensor& maps, extent size, bool align_corners) {
  constexpr composed call{"affine_grid"};
  call.rank("maps", maps, 3, 3);
  call.floating("maps", maps);
  if (maps.dims()[1] != 2 || maps.dims()[2] != 3) call.refuse(shaped("maps", maps), "[batch, 2, 3]");
  if (size.height < 1 || size.width < 1) call.refuse("size " + to_string(size.value()), "1 or more");
  const auto positions = [&](std::int64_t n) {
    if (n == 1) return zeros({1}, dtype::float64);
    const double last = align_corners ? 1 : 1 - 1 / static_cast<double>(n);
    return linspace(-last, last, n, dtype::float64);
  };
  const shape all{size.height, size.width};
  const tensor x = broadcast_to(positions(size.width), all),
               y = broadcast_to(reshape(positions(size.height), {size.height, 1}), all);
  const dtype type = computed_in(maps, maps);
  const tensor points = cast(reshape(stack({x, y, ones(all, dtype::float64)}, -1), {1, all.size(), 3}), type);
  const tensor grid = matmul(points, transpose(cast(maps, type), {0, 2, 1}));
  return detail::narrowed(reshape(grid, {maps.dims()[0], size.height, size.width, 2}), maps.type());
}

tensor affine_warp(const tensor& images, const tensor& maps, const grid_sample_options& options,
                   const std::optional<extent>& size) {
  constexpr composed call{"affine_warp"};
  check_images(call, images);
  call.rank("maps", maps, 3, 3);
  const shape& at = maps.dims();
  if (at[1] != 2 || at[2] != 3 || (at[0] != 1 && at[0] != images.dims()[0]))
    call.refuse(shaped("maps", maps), "[" + std::to_string(images.dims()[0]) + ", 2, 3]");
  const extent whole = size.value_or(extent(images.dims()[1], images.dims()[2]));
  return grid_sample(images, affine_grid(maps, whole, options.align_corners), options);
}

// ------------------------------------------------------------------------------------------ coordinates

namespace {

// Array and coordinates of SciPy: elements that splines of degree 2 and 3 need beyond a border that is no reflection.
constexpr std::int64_t spline_border = 12;

// An index in the array for any whole number, as the border says: -1 is outside.
std::int64_t index_on(std::int64_t i, std::int64_t n, array_border mode) {
  const auto fold = [](std::int64_t at, std::int64_t period) { return ((at % period) + period) % period; };
  if (mode == array_border::grid_wrap) return fold(i, n);
  if (mode == array_border::reflect || mode == array_border::nearest) {
    const std::int64_t at = fold(i, 2 * n);
    return at < n ? at : 2 * n - 1 - at;
  }
  if (n == 1) return 0;
  const std::int64_t at = fold(i, 2 * n - 2);
  return at < n ? at : 2 * n - 2 - at;
}

// Coefficients of the splines through the elements along an axis: the inverse filter, whose response z^|k| is cut where
// it is below rounding (Unser, Aldroubi and Eden 1993).
tensor spline_coefficients(const tensor& x, int axis, int degree, array_border mode) {
  const std::int64_t n = x.dims()[axis];
  if (n == 1) return x;
  const double pole = degree == 2 ? std::sqrt(8.0) - 3 : std::sqrt(3.0) - 2, outer = degree == 2 ? 1.0 / 8 : 1.0 / 6;
  const double rounding = x.type() == dtype::float64 ? 1e-17 : 1e-9;
  const std::int64_t reach = static_cast<std::int64_t>(std::ceil(std::log(rounding) / std::log(-pole)));
  return detail::interpolated_axis(x, axis, n, 2 * reach + 1, [&](std::int64_t i, std::int64_t k) -> detail::axis_tap {
    const double distance = std::fabs(static_cast<double>(k - reach));
    return {index_on(i + k - reach, n, mode), std::pow(pole, distance) * -pole / (outer * (1 - pole * pole))};
  });
}

// A coordinate inside of the array, as the border says; those of `constant` are masked later.
tensor on_array(const tensor& x, std::int64_t size, array_border mode) {
  const double n = static_cast<double>(size);
  const auto elsewhere = [&](const tensor& other) { return where(logical_and(x >= 0, x <= n - 1), x, other); };
  switch (mode) {
    case array_border::mirror: return elsewhere(folded(x, n, true));
    case array_border::reflect: return elsewhere(folded(x, n, false));
    case array_border::wrap: return size == 1 ? zeros_like(x) : elsewhere(mod(x, n - 1));
    case array_border::grid_wrap: return elsewhere(mod(x, n));
    case array_border::grid_constant: return clip(x, -8, n + 8);
    case array_border::constant:
    case array_border::nearest: break;
  }
  return clip(x, 0, n - 1);
}

taps coordinate_taps(const tensor& x, std::int64_t size, std::int64_t step, int axes, int order, array_border mode) {
  const double n = static_cast<double>(size);
  const tensor at = on_array(x, size, mode);
  const tensor below = floor(stop_gradient(order % 2 == 0 ? at + 0.5 : at)), f = at - below;
  const tensor near = around(below, -(order / 2), order + 1);
  tensor inside = near;
  switch (mode) {
    case array_border::reflect: inside = folded(near, n, false); break;
    case array_border::grid_wrap: inside = mod(near, n); break;
    case array_border::nearest: inside = clip(near, 0, n - 1); break;
    case array_border::grid_constant: break;
    default: inside = folded(near, n, true);
  }
  const tensor offsets = offsets_of(inside, size, step, axes);
  if (order == 0) return {offsets, ones_like(near)};
  return {offsets, order == 1 ? joined({1 - f, f}) : spline_weights(f, order)};
}

// The array with elements beyond its border, where splines of higher degree need them.
tensor bordered(const tensor& x, array_border mode, double fill) {
  std::vector<std::int64_t> pairs;
  for (int axis = 0; axis < x.rank(); ++axis) pairs.insert(pairs.end(), {spline_border, spline_border});
  return mode == array_border::nearest ? pad(x, pairs, pad_mode::edge) : pad(x, pairs, fill);
}

}  // namespace

tensor map_coordinates(const tensor& x, const tensor& coordinates, const coordinates_options& options) {
  constexpr composed call{"map_coordinates"};
  call.rank("x", x, 1);
  call.real("x", x);
  call.real("coordinates", coordinates);
  call.rank("coordinates", coordinates, 1);
  const int axes = x.rank(), order = options.order;
  if (coordinates.dims()[0] != axes)
    call.refuse(shaped("coordinates", coordinates), "a first axis of size " + std::to_string(axes) + ", the rank of x");
  if (x.size() == 0) call.refuse(shaped("x", x), "an array with elements");
  if (order < 0 || order > 3) call.refuse("order " + std::to_string(order), "0 to 3");
  const array_border mode = options.mode;
  const dtype type = x.type() == dtype::float64 ? dtype::float64 : dtype::float32;
  tensor array = cast(x, type), at = cast(coordinates, type);
  if (order > 1 && options.prefilter) {
    if (mode == array_border::nearest || mode == array_border::grid_constant) {
      array = bordered(array, mode, options.fill);
      at = at + static_cast<double>(spline_border);
    }
    for (int axis = 0; axis < axes; ++axis) array = spline_coefficients(array, axis, order, mode);
  }
  if (array.size() >= -outside_of(axes))
    call.refuse(shaped("x", x), "less than " + std::to_string(-outside_of(axes)) + " elements");
  const std::int64_t points = at.size() / axes;
  const tensor_list along = unstack(reshape(at, {axes, points}), 0);
  std::vector<taps> each;
  tensor inside;
  std::int64_t step = array.size();
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t n = array.dims()[axis];
    step /= n;
    const tensor& of_axis = along[axis];
    each.push_back(coordinate_taps(of_axis, n, step, axes, order, mode));
    if (mode != array_border::constant) continue;
    const tensor here = logical_and(of_axis >= 0, of_axis <= static_cast<double>(n - 1));
    inside = inside.defined() ? logical_and(inside, here) : here;
  }
  const taps all = of_all_axes(each);
  const tensor list = expand_dims(all.offsets, 0);
  tensor y = reshape(detail::weighted_gather(reshape(array, {1, array.size(), 1}), list, expand_dims(all.weights, 0)),
                     {points});
  if (mode == array_border::constant) y = where(inside, y, full({}, options.fill, type));
  if (mode == array_border::grid_constant && options.fill != 0)
    y = y + sum(where(all.offsets < 0, all.weights, zeros_like(all.weights)), -2) * options.fill;
  const std::span<const std::int64_t> dims = coordinates.dims().dims();
  return reshape(y, shape(dims.subspan(1)));
}

}  // namespace kerngrad
