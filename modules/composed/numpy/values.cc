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

/// Options of nan_to_num: the replacements of NaN, infinity and -infinity. For the infinities they are by default the
/// largest and the smallest finite number of the dtype.
struct nan_to_num_options {
  double nan = 0;
  std::optional<double> posinf{}, neginf{};
};
/// Replaces NaN and the infinities by numbers, in x's shape and dtype: `nan_to_num(tensor({nan, 2.}))` is [0, 2].
/// Integers and booleans are returned unchanged. Throws for complex numbers. Gradient: dy where x is finite, else 0.
tensor nan_to_num(const tensor& x, const nan_to_num_options& options = {});
/// Rounds x to a number of decimals, ties to even: `round(tensor({1.25, 2.71}), 1)` is [1.2, 2.7]. A negative number
/// rounds to tens, hundreds and so on. As in NumPy, x * 10^decimals is rounded, and the error of that product may
/// decide ties. Integers are unchanged for 0 and more decimals; for fewer they are rounded in float64. Throws for
/// complex numbers. Gradient: 0.
tensor round(const tensor& x, int decimals);
/// Converts degrees to radians, x * pi / 180: `deg2rad(tensor({180.}))` is [3.14159...]. Integers give float32. Throws
/// for complex numbers. Differentiable.
tensor deg2rad(const tensor& x);
/// `deg2rad` under NumPy's other name.
inline tensor radians(const tensor& x) { return deg2rad(x); }
/// Converts radians to degrees, x * 180 / pi. The rest is as for `deg2rad`.
tensor rad2deg(const tensor& x);
/// `rad2deg` under NumPy's other name.
inline tensor degrees(const tensor& x) { return rad2deg(x); }
/// sin(pi x) / (pi x), and 1 at 0: `sinc(tensor({0., 0.5}))` is [1, 0.6366...]. Integers give float32; complex numbers
/// are allowed. Near 0 it is computed by a power series of 5 terms. Differentiable.
tensor sinc(const tensor& x);
/// The step function: 0 where x is negative, 1 where it is positive, `middle` where it is 0, NaN where it is NaN.
/// `heaviside(tensor({-2., 0.}), tensor(0.5))` is [0, 0.5]. Operands broadcast; the dtype is the promoted one, int32
/// for two booleans. Throws for complex numbers. Differentiable in `middle`.
tensor heaviside(const tensor& x, const tensor& middle);

/// `count` powers of `base` with exponents evenly spaced from `start` to `stop`, both included: `logspace(0, 2, 3)` is
/// [1, 10, 100]. Computed in float64. Throws for a count below 0.
tensor logspace(double start, double stop, std::int64_t count = 50, double base = 10, dtype type = dtype::float32);
/// `count` numbers from `start` to `stop`, both included, with a constant ratio: `geomspace(1, 8, 4)` is [1, 2, 4, 8].
/// Computed in float64. Throws for a count below 0, and for ends that are 0, not finite or of different signs.
tensor geomspace(double start, double stop, std::int64_t count = 50, dtype type = dtype::float32);

/// Chooses each element from the choice whose condition is the first to be true, else from `otherwise`, as
/// numpy.select. `select({x < 0, x < 1}, {0 * x, x}, tensor(1.))` limits x to [0, 1]. Conditions are bool. All operands
/// broadcast; the dtypes of choices are promoted. Throws without conditions, and if the numbers of conditions and
/// choices differ. Gradient: dy for the choice that was taken, 0 for the others.
tensor select(std::span<const tensor> conditions, std::span<const tensor> choices, const tensor& otherwise);
inline tensor select(std::initializer_list<tensor> conditions, std::initializer_list<tensor> choices,
                     const tensor& otherwise) {
  return select(std::span(conditions.begin(), conditions.size()), std::span(choices.begin(), choices.size()),
                otherwise);
}
/// Chooses each element from the choice whose condition is the first to be true, else the number `otherwise`, which
/// takes the dtype of the first choice. The rest is as for `select` with tensors.
tensor select(std::span<const tensor> conditions, std::span<const tensor> choices, double otherwise);
inline tensor select(std::initializer_list<tensor> conditions, std::initializer_list<tensor> choices,
                     double otherwise) {
  return select(std::span(conditions.begin(), conditions.size()), std::span(choices.begin(), choices.size()),
                otherwise);
}
/// Evaluates a piecewise function: for each element, the function of the last condition that is true. `piecewise(x, {x
/// < 0}, {[](auto& t) { return -t; }, [](auto& t) { return t; }})` is `abs(x)`. With one more function than conditions,
/// the last function is for all other elements; else these are 0. Functions take all of x and keep its shape; the
/// result has x's dtype. Conditions are bool of x's shape. Throws for another number of functions. Differentiable where
/// the functions are.
tensor piecewise(const tensor& x, std::span<const tensor> conditions,
                 std::span<const std::function<tensor(const tensor&)>> functions);
inline tensor piecewise(const tensor& x, std::initializer_list<tensor> conditions,
                        std::initializer_list<std::function<tensor(const tensor&)>> functions) {
  return piecewise(x, std::span(conditions.begin(), conditions.size()), std::span(functions.begin(), functions.size()));
}

/// Converts flat indices, in row-major order, to one index per axis of an array of shape `dims`:
/// `unravel_index(tensor({4}), {2, 3})` is a list of [1] and [1]. Indices are int32 or int64; each result has their
/// shape and dtype. Throws for indices out of range. No gradient.
tensor_list unravel_index(const tensor& indices, const shape& dims);
/// Converts indices, one tensor per axis of an array of shape `dims`, to flat indices, int64: the inverse of
/// `unravel_index`. Indices are int32 or int64 and broadcast. Throws for indices out of range and for another number of
/// axes. No gradient.
tensor ravel_multi_index(std::span<const tensor> indices, const shape& dims);
inline tensor ravel_multi_index(std::initializer_list<tensor> indices, const shape& dims) {
  return ravel_multi_index(std::span(indices.begin(), indices.size()), dims);
}

}  // namespace kerngrad
