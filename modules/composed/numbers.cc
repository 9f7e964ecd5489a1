// SPDX-License-Identifier: Apache-2.0
// Composed functions that work element by element.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_numbers;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The quotient a / b, and 0 where b is 0. Operands broadcast; integers are divided as by `div`. Gradient: that of the
/// quotient, 0 where b is 0.
tensor div_no_nan(const tensor& a, const tensor& b);
/// log(sigmoid(x)), computed as -softplus(-x): accurate in both tails. Dtypes are those of `softplus`. Differentiable.
tensor log_sigmoid(const tensor& x);
/// log(exp(a) + exp(b)), without overflow. Operands broadcast and are real; integers are computed in float32. If the
/// two exponentials add up to about 1, the result is near 0 and has the absolute error of a number near 1.
/// Differentiable to any order. If a equals b, both get half of the gradient.
tensor log_add_exp(const tensor& a, const tensor& b);

/// Options of is_close and all_close: the tolerances, relative and absolute, and if NaN is close to NaN.
struct close_options {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
/// True for each pair of elements that are close: abs(a - b) <= atol + rtol * abs(b), where b is the reference. Equal
/// infinities are close. Operands broadcast. They are compared in float32 if both have it or half precision, else in
/// float64. For complex numbers, abs is the magnitude. Throws for tolerances below 0.
tensor is_close(const tensor& a, const tensor& b, const close_options& options = {});
/// True for each pair of elements that are close: `is_close` with the arguments of numpy.isclose.
inline tensor isclose(const tensor& a, const tensor& b, double rtol = 1e-5, double atol = 1e-8,
                      bool equal_nan = false) {
  return is_close(a, b, {rtol, atol, equal_nan});
}
/// True if all elements of a and b are close to each other, as `is_close` compares them.
bool all_close(const tensor& a, const tensor& b, const close_options& options = {});
/// True if all elements of a and b are close to each other: `all_close` with the arguments of numpy.allclose.
inline bool allclose(const tensor& a, const tensor& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
  return all_close(a, b, {rtol, atol, equal_nan});
}

}  // namespace kerngrad
