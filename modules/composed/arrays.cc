// SPDX-License-Identifier: Apache-2.0
// Composed functions that make arrays and change their shapes.
module;
#include "kernels/common/abi.h"
#include "modules/core/deleted.h"
export module kerngrad:composed_arrays;

import :std;
import :core;
import :tensor;
import :engine;
import :axes;

export namespace kerngrad {

/// x without axes of size 1: without all of them, or without the given axes. The result shares the elements of x. Any
/// dtype. Throws if a given axis has another size. Gradient: dy in x's shape.
tensor squeeze(const tensor& x, const axes& over = all_axes);
/// The elements of x on one axis, in row-major order and without a copy. Any dtype. Gradient: dy in x's shape.
tensor flatten(const tensor& x);
/// The elements of x on one axis: `flatten` under NumPy's name.
inline tensor ravel(const tensor& x) { return flatten(x); }
/// Returns x if it has the given sizes, where -1 stands for any size. Throws otherwise. Any dtype. Gradient: dy.
tensor ensure_shape(const tensor& x, std::span<const std::int64_t> sizes);
inline tensor ensure_shape(const tensor& x, std::initializer_list<std::int64_t> sizes) {
  return ensure_shape(x, std::span(sizes.begin(), sizes.size()));
}
/// x with one or several axes moved to other positions: `moveaxis(x, 0, -1)`, `moveaxis(x, {0, 1}, {-1, -2})`. The
/// other axes keep their order. Any dtype. Throws if `from` and `to` have different lengths, and for an axis or
/// position that is given twice. Gradient: dy with the axes moved back.
tensor moveaxis(const tensor& x, const axes& from, const axes& to);
/// Inserts several axes of size 1, without a copy. `positions` are those of the new axes in the result. Any dtype.
/// Throws for a position outside of the result or given twice, and for more than 8 axes. Gradient: dy in x's shape.
tensor expand_dims(const tensor& x, std::span<const std::int64_t> positions);
inline tensor expand_dims(const tensor& x, std::initializer_list<std::int64_t> positions) {
  return expand_dims(x, std::span(positions.begin(), positions.size()));
}

/// A matrix with 1 on a diagonal and 0 elsewhere, square unless `columns` is given. A positive `offset` counts
/// diagonals above the main one, a negative one those below it. The result is [batch..., rows, columns]: one matrix for
/// each index of `batch`. Throws for sizes below 0.
tensor eye(std::int64_t rows, std::optional<std::int64_t> columns = {}, std::int64_t offset = 0,
           dtype type = dtype::float32, const shape& batch = {});
tensor eye(std::int64_t rows, std::optional<std::int64_t> columns, std::initializer_list<std::int64_t> batch,
           dtype type = dtype::float32) =
    KG_DELETED("the batch comes last: eye(rows, columns, 0, kg::dtype::float32, batch)");

/// The order of a grid's axes, as in numpy.meshgrid. With `xy`, for images, the first vector varies along axis 1 and
/// the second along axis 0. With `ij`, for matrices, the first varies along axis 0 and the second along axis 1. Each
/// further vector varies along the axis of its own number.
enum class indexing : std::uint8_t { xy, ij };
/// The coordinates of a grid that vectors span, one tensor per vector. Vectors of 3 and 2 elements give two matrices of
/// 2 rows and 3 columns, or with `indexing::ij` of 3 rows and 2 columns. A scalar counts as a vector of one element.
/// Any dtype. Throws for other ranks and for more than 8 vectors. Gradient: dy summed over the grid.
tensor_list meshgrid(std::span<const tensor> vectors, indexing order = indexing::xy);
inline tensor_list meshgrid(std::initializer_list<tensor> vectors, indexing order = indexing::xy) {
  return meshgrid(std::span(vectors.begin(), vectors.size()), order);
}

/// x with two axes exchanged. Any dtype. Gradient: dy with the same axes exchanged.
tensor swapaxes(const tensor& x, axis_index a, axis_index b);
/// Moves the elements by `shift` positions along an axis. Without an axis, x is flattened first and reshaped
/// afterwards. Elements that leave at one end come in at the other. Any dtype. Gradient: dy moved back.
tensor roll(const tensor& x, std::int64_t shift, axis_index axis);
tensor roll(const tensor& x, std::int64_t shift);
/// Moves the elements along several axes, by one shift for each axis. Throws if the numbers of shifts and axes differ.
/// The rest is as for `roll` along one axis.
tensor roll(const tensor& x, std::span<const std::int64_t> shifts, std::span<const std::int64_t> over);
inline tensor roll(const tensor& x, std::initializer_list<std::int64_t> shifts,
                   std::initializer_list<std::int64_t> over) {
  return roll(x, std::span(shifts.begin(), shifts.size()), std::span(over.begin(), over.size()));
}
/// Repeats each slice along an axis `count` times; without an axis, each element of the flattened x. Copies of a slice
/// are adjacent. Any dtype. Throws for a count below 0. Gradient: dy summed over the copies.
tensor repeat(const tensor& x, std::int64_t count, axis_index axis);
tensor repeat(const tensor& x, std::int64_t count);
/// The slices of x along an axis at int32 or int64 indices; without an axis, the elements of the flattened x. The axes
/// of the indices replace the axis. Negative indices count from the back. Any dtype. Throws for indices out of range.
/// Gradient: dy added up at the indices.
tensor take(const tensor& x, const tensor& indices, axis_index axis);
tensor take(const tensor& x, const tensor& indices);
/// The differences between neighbors along an axis: each element minus the one before it. With an `order` above 1 this
/// is repeated; each time the axis gets one element shorter. Booleans are subtracted as int32. Throws for a scalar, and
/// for an order below 0 or above the axis' size. Differentiable.
tensor diff(const tensor& x, std::int64_t order = 1, axis_index axis = -1);

}  // namespace kerngrad
