// SPDX-License-Identifier: Apache-2.0
// Choices, rounding, angles, spaced numbers and flat indices, by NumPy's names.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_values;

import :std;
import :core;
import :tensor;
import :engine;

export namespace kerngrad {

/// An identity matrix of a dtype: `eye(2, dtype::int32)` is [[1, 0], [0, 1]]. Throws for a size below 0.
tensor eye(std::int64_t rows, dtype type);

/// Options of nan_to_num: the numbers in place of NaN, infinity and -infinity, the latter two by default the greatest
/// and least finite number of the dtype.
struct nan_to_num_options {
  double nan = 0;
  std::optional<double> posinf{}, neginf{};
};
/// x with numbers in place of NaN and the infinities, of its shape and dtype: `nan_to_num(tensor({nan, 2.}))` is [0,
/// 2]. Integers and booleans stay as they are. Throws for complex numbers. Gradient: dy where x is finite, else 0.
tensor nan_to_num(const tensor& x, const nan_to_num_options& options = {});
/// x rounded to a number of decimals, ties to even; a negative number counts from the decimal point to the left:
/// `round(tensor({1.25, 2.71}), 1)` is [1.2, 2.7]. As in NumPy, the scaled number is rounded: its own rounding may
/// decide. Integers stay as they are for 0 and more decimals, and are rounded in float64 below. Throws for complex
/// numbers. Gradient: that of `round`.
tensor round(const tensor& x, int decimals);
/// Degrees as radians, x * pi / 180: `deg2rad(tensor({180.}))` is [3.14159...]. Integers give float32. Throws for
/// complex numbers. Differentiable.
tensor deg2rad(const tensor& x);
/// `deg2rad` under NumPy's other name.
inline tensor radians(const tensor& x) { return deg2rad(x); }
/// Radians as degrees, x * 180 / pi. The rest is as for `deg2rad`.
tensor rad2deg(const tensor& x);
/// `rad2deg` under NumPy's other name.
inline tensor degrees(const tensor& x) { return rad2deg(x); }
/// sin(pi x) / (pi x), and 1 at 0: `sinc(tensor({0., 0.5}))` is [1, 0.6366...]. Integers give float32;
/// complex numbers are allowed. Differentiable, at 0 too, where a power series of 5 terms serves.
tensor sinc(const tensor& x);
/// 0 where x is below 0, 1 above, `middle` at 0, and NaN where x is NaN: `heaviside(tensor({-2., 0.}), tensor(0.5))` is
/// [0, 0.5]. Operands broadcast; the dtype is the promoted one, int32 of two booleans. Throws for complex numbers.
/// Differentiable in `middle`.
tensor heaviside(const tensor& x, const tensor& middle);

/// `count` powers of `base` with exponents evenly spaced from `start` to `stop`, both included: `logspace(0, 2, 3)` is
/// [1, 10, 100]. Computed in float64. Throws for a count below 0.
tensor logspace(double start, double stop, std::int64_t count = 50, double base = 10, dtype type = dtype::float32);
/// `count` numbers from `start` to `stop`, both included, each a constant multiple of the one before: `geomspace(1, 8,
/// 4)` is [1, 2, 4, 8]. Computed in float64. Throws for ends that are 0, not finite or of two signs, and a count below
/// 0.
tensor geomspace(double start, double stop, std::int64_t count = 50, dtype type = dtype::float32);

/// For each element the choice of the first condition that holds, else `otherwise`: `select({x < 0, x < 1}, {0 * x,
/// x}, tensor(1.))` is x between bounds 0 and 1. Conditions are bool; all operands broadcast, choices are promoted.
/// Throws for another number of choices and for none. Gradient: dy where a choice was taken.
tensor select(std::span<const tensor> conditions, std::span<const tensor> choices, const tensor& otherwise);
inline tensor select(std::initializer_list<tensor> conditions, std::initializer_list<tensor> choices,
                     const tensor& otherwise) {
  return select(std::span(conditions.begin(), conditions.size()), std::span(choices.begin(), choices.size()),
                otherwise);
}
/// The same with a number, which takes the dtype of the first choice.
tensor select(std::span<const tensor> conditions, std::span<const tensor> choices, double otherwise);
inline tensor select(std::initializer_list<tensor> conditions, std::initializer_list<tensor> choices,
                     double otherwise) {
  return select(std::span(conditions.begin(), conditions.size()), std::span(choices.begin(), choices.size()),
                otherwise);
}
/// For each element the function of the last condition that holds, of x; of one function more than conditions the last
/// is for the rest, which is 0 without it. Functions take all of x and keep its shape; the result has x's dtype:
/// `piecewise(x, {x < 0}, {[](auto& t) { return -t; }, [](auto& t) { return t; }})` is `abs(x)`. Conditions are bool of
/// x's shape. Throws for another number of functions. Differentiable where the functions are.
tensor piecewise(const tensor& x, std::span<const tensor> conditions,
                 std::span<const std::function<tensor(const tensor&)>> functions);
inline tensor piecewise(const tensor& x, std::initializer_list<tensor> conditions,
                        std::initializer_list<std::function<tensor(const tensor&)>> functions) {
  return piecewise(x, std::span(conditions.begin(), conditions.size()), std::span(functions.begin(), functions.size()));
}

/// For each axis of an array of shape `dims` the indices of its elements with these flat indices, in row-major order:
/// `unravel_index(tensor({4}), {2, 3})` is a list of [1] and [1]. Indices are int32 or int64, the results have their
/// shape and dtype. Throws for indices outside. No gradient.
tensor_list unravel_index(const tensor& indices, const shape& dims);
/// The flat indices, int64, of elements of an array of shape `dims`, by their indices on each axis: the inverse of
/// `unravel_index`. Indices are int32 or int64 and broadcast. Throws for indices outside and another number of axes.
tensor ravel_multi_index(std::span<const tensor> indices, const shape& dims);
inline tensor ravel_multi_index(std::initializer_list<tensor> indices, const shape& dims) {
  return ravel_multi_index(std::span(indices.begin(), indices.size()), dims);
}

}  // namespace kerngrad
