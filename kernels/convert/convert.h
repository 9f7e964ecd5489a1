// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that change the dtype.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Cast: in[0] of the entry's dtype to out[0] of dtype `to`, both any dtypes. Float to integer truncates towards zero,
/// saturates, and turns NaN into 0; integer to a narrower integer wraps; numbers become floats by one rounding to the
/// nearest, ties to even; anything to boolean is x != 0 (true for NaN); a complex source gives its real part, except to
/// complex numbers and to boolean (true when either part is not 0).
struct cast_geometry {
  std::int64_t count;
  dtype to;
};

/// The others. Complex: in[0] real and in[1] imaginary parts. Real, Imag: one part. ComplexAbs: the magnitude, which
/// overflows only when the result does; an infinite part gives infinity whatever the other is.
struct convert_geometry {
  std::int64_t count;  ///< elements, complex numbers counting as one
};

// Kernels by the dtype of their operands.
#define KG_CONVERT_KERNELS(X) \
  KG_ALL(X, Cast) KG_PAIRS(X, Real) KG_PAIRS(X, Imag) KG_PAIRS(X, ComplexAbs) KG_FLOATS(X, Complex)

KG_DECLARE_KERNELS(convert, KG_CONVERT_KERNELS)

}  // namespace kerngrad::kernels
