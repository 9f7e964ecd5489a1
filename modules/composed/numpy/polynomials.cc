// SPDX-License-Identifier: Apache-2.0
// Polynomials, as numpy has them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_polynomials;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The roots of a polynomial from its coefficients, the highest power first, as numpy.roots: a vector of complex128 in
/// no specified order. Zeros before the first coefficient are dropped; zeros after the last one are roots at 0. All
/// roots are found together in double precision (Aberth 1973, Ehrlich 1967). Each is a root of a polynomial whose
/// coefficients differ by about 1e-14 of their sizes. So a root of multiplicity m has about 16 / m digits. Throws
/// unless the coefficients are a vector of finite real numbers, and if 500 steps do not find the roots. No gradient.
tensor roots(const tensor& coefficients);

}  // namespace kerngrad
