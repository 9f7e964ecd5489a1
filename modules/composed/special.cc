// SPDX-License-Identifier: Apache-2.0
// Incomplete gamma and beta functions with their gradients, and activations that are made of other ops.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_special;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The regularized lower incomplete gamma function P(a, x) of a > 0 and x >= 0; NaN below. Operands broadcast. float64
/// is right to 8 ulp for operands up to 200. Differentiable in x. A gradient for a throws.
tensor gammainc(const tensor& a, const tensor& x);
/// The upper function 1 - P(a, x), without its cancellation. Domain and gradient are those of `gammainc`; float64 is
/// right to 8 ulp for operands from 0.5 to 200.
tensor gammaincc(const tensor& a, const tensor& x);
/// The regularized incomplete beta function of a, b > 0 and x from 0 to 1; NaN outside. Operands broadcast. float64 is
/// right to 8 ulp for a and b from 0.5 to 200. Differentiable in x. A gradient for a or b throws.
tensor betainc(const tensor& a, const tensor& b, const tensor& x);

/// log(x / (1 - x)), accurate near 1/2, where it is 0; infinite at 0 and 1, NaN outside.
tensor logit(const tensor& x);
/// x tanh(softplus(x)) (Misra 2019).
tensor mish(const tensor& x);
/// x relu6(x + 3) / 6 (Howard et al. 2019). Gradient at -3 and 3: that of the flat side at -3, of the line at 3.
tensor hard_swish(const tensor& x);

}  // namespace kerngrad
