// SPDX-License-Identifier: Apache-2.0
// Polynomials, as numpy has them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_polynomials;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The roots of a polynomial by its coefficients, the highest power first: complex128, in no certain order, as
/// numpy.roots. Zeros before the first coefficient are dropped, zeros after the last one are roots at 0. All roots are
/// found at once (Aberth 1973, Ehrlich 1967) in double precision. The backward error is near rounding: each root is one
/// of a polynomial whose coefficients differ by about 1e-14 of their sizes. So a root of multiplicity m has about
/// 16 / m digits. Throws for coefficients that are no vector of finite real numbers, and where 500 steps do not find
/// the roots. No gradient.
tensor roots(const tensor& coefficients);

}  // namespace kerngrad
