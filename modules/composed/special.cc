// SPDX-License-Identifier: Apache-2.0
// Incomplete gamma and beta functions with their gradients, and activations that are made of other ops.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_special;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The regularized lower incomplete gamma function P(a, x) for a > 0 and x >= 0; NaN outside. Operands broadcast.
/// float64 has an error of at most 8 ulp (units in the last place) for operands up to 200. Differentiable in x. A
/// gradient for a throws.
tensor gammainc(const tensor& a, const tensor& x);
/// The regularized upper incomplete gamma function 1 - P(a, x), without the cancellation of that difference. Domain and
/// gradient are those of `gammainc`. float64 has an error of at most 8 ulp for operands from 0.5 to 200.
tensor gammaincc(const tensor& a, const tensor& x);
/// The regularized incomplete beta function for a, b > 0 and x from 0 to 1; NaN outside. Operands broadcast. float64
/// has an error of at most 8 ulp for a and b from 0.5 to 200. Differentiable in x. A gradient for a or b throws.
tensor betainc(const tensor& a, const tensor& b, const tensor& x);

/// log(x / (1 - x)), the inverse of `sigmoid`. Accurate near 1/2, where it is 0; infinite at 0 and 1, NaN outside.
/// Floats; half precision is computed in float32. Differentiable.
tensor logit(const tensor& x);
/// x tanh(softplus(x)) (Misra 2019). Floats; half precision is computed in float32. Differentiable.
tensor mish(const tensor& x);
/// x relu6(x + 3) / 6 (Howard et al. 2019). Floats; half precision is computed in float32. Differentiable. At -3 the
/// derivative is 0, that of the flat side; at 3 it is 1, that of the line x.
tensor hard_swish(const tensor& x);

}  // namespace kerngrad
