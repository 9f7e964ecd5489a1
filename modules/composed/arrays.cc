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

/// x without axes of size 1, without a copy: without all of them, or those that are named. Any dtype. Throws for a
/// named axis of another size. Gradient: dy under x's shape.
tensor squeeze(const tensor& x, const axes& over = all_axes);
/// The elements of x on one axis, without a copy. Any dtype. Gradient: dy under x's shape.
tensor flatten(const tensor& x);
/// `flatten` under NumPy's name.
inline tensor ravel(const tensor& x) { return flatten(x); }
/// x itself, if it has the sizes; -1 stands for any size. Throws otherwise.
tensor ensure_shape(const tensor& x, std::span<const std::int64_t> sizes);
inline tensor ensure_shape(const tensor& x, std::initializer_list<std::int64_t> sizes) {
  return ensure_shape(x, std::span(sizes.begin(), sizes.size()));
}
/// x with an axis, or several, at other places, the others in their order: `moveaxis(x, 0, -1)`,
/// `moveaxis(x, {0, 1}, {-1, -2})`. Any dtype. Throws for another number of places than of axes, and for an axis or
/// a place that is named twice. Gradient: that of the transposition.
tensor moveaxis(const tensor& x, const axes& from, const axes& to);
/// Several new axes of size 1, by their places in the result, without a copy. Any dtype. Throws for a place that the
/// result does not have or that is named twice, and above 8 axes. Gradient: dy under x's shape.
tensor expand_dims(const tensor& x, std::span<const std::int64_t> places);
inline tensor expand_dims(const tensor& x, std::initializer_list<std::int64_t> places) {
  return expand_dims(x, std::span(places.begin(), places.size()));
}

/// A matrix with 1 on a diagonal and 0 elsewhere, square unless the number of columns is given. The diagonal is the
/// main one, or `offset` places above it, below it where that is negative. For each index of `batch` there is one: the
/// result is [batch..., rows, columns]. Throws for sizes below 0.
tensor eye(std::int64_t rows, std::optional<std::int64_t> columns = {}, std::int64_t offset = 0,
           dtype type = dtype::float32, const shape& batch = {});
tensor eye(std::int64_t rows, std::optional<std::int64_t> columns, std::initializer_list<std::int64_t> batch,
           dtype type = dtype::float32) =
    KG_DELETED("the batch comes last: eye(rows, columns, 0, kg::dtype::float32, batch)");

/// The order of a grid's axes: `xy` for images, where the first vector runs along the columns, `ij` for matrices.
enum class indexing : std::uint8_t { xy, ij };
/// For each vector its coordinates on the grid that all of them span: of vectors with 3 and 2 elements two matrices of
/// 2 rows and 3 columns, with `indexing::ij` of 3 rows and 2 columns. Vectors have rank 0 or 1 and any dtype, and are
/// at most 8. Gradient: dy added up over the grid.
tensor_list meshgrid(std::span<const tensor> vectors, indexing order = indexing::xy);
inline tensor_list meshgrid(std::initializer_list<tensor> vectors, indexing order = indexing::xy) {
  return meshgrid(std::span(vectors.begin(), vectors.size()), order);
}

/// x with two axes exchanged. Any dtype. Gradient: dy with the same axes exchanged.
tensor swapaxes(const tensor& x, axis_index a, axis_index b);
/// The elements moved on by `shift` places along an axis, or without one along all elements in their order; those that
/// leave it at one end come in at the other. Any dtype. Gradient: dy moved back.
tensor roll(const tensor& x, std::int64_t shift, axis_index axis);
tensor roll(const tensor& x, std::int64_t shift);
/// The same along one axis after the other. Throws for another number of shifts than of axes.
tensor roll(const tensor& x, std::span<const std::int64_t> shifts, std::span<const std::int64_t> over);
inline tensor roll(const tensor& x, std::initializer_list<std::int64_t> shifts,
                   std::initializer_list<std::int64_t> over) {
  return roll(x, std::span(shifts.begin(), shifts.size()), std::span(over.begin(), over.size()));
}
/// Each slice along an axis, or without one each element, `count` times, one next to the other. Any dtype. Throws for a
/// count below 0. Gradient: dy added up over the copies.
tensor repeat(const tensor& x, std::int64_t count, axis_index axis);
tensor repeat(const tensor& x, std::int64_t count);
/// The slices of x along an axis, or without one its elements in their order, at int32 or int64 indices, of which
/// negative ones count from the back. Any dtype. Throws for indices outside. Gradient: dy added up at its places.
tensor take(const tensor& x, const tensor& indices, axis_index axis);
tensor take(const tensor& x, const tensor& indices);
/// Each element less the one before it along an axis, `order` times: the axis has as many elements less. Booleans are
/// subtracted as int32. Throws for an order below 0 or above the axis' size. Differentiable.
tensor diff(const tensor& x, std::int64_t order = 1, axis_index axis = -1);

}  // namespace kerngrad
