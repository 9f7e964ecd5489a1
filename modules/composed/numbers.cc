// SPDX-License-Identifier: Apache-2.0
// Composed functions that work element by element.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_numbers;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// a / b, and 0 where b is 0. Operands broadcast; integers are divided as float32. Gradient: that of the quotient, 0
/// where b is 0.
tensor div_no_nan(const tensor& a, const tensor& b);
/// log(sigmoid(x)), computed as -softplus(-x): accurate in both tails. Differentiable.
tensor log_sigmoid(const tensor& x);

}  // namespace kerngrad
