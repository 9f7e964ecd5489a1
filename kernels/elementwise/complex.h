// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels of complex numbers. binary.h and unary.h have those of complex64 that work on pairs of lanes.
//
// Functions follow the tables of C99's Annex G: values at zeros, infinities and NaN, signs of zeros, sides of branch
// cuts. Products and quotients are those of the formulas: an infinite operand may give NaN.
#pragma once
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"

namespace kerngrad::kernels {

#define KG_COMPLEX_UNARY_KERNELS(X) \
  X(Neg, complex128)                \
  X(Square, complex128)             \
  KG_PAIRS(X, Reciprocal)           \
  KG_PAIRS(X, Sqrt)                 \
  KG_PAIRS(X, Exp)                  \
  KG_PAIRS(X, Log)                  \
  KG_PAIRS(X, Sin)                  \
  KG_PAIRS(X, Cos)                  \
  KG_PAIRS(X, Tan)                  \
  KG_PAIRS(X, Sinh)                 \
  KG_PAIRS(X, Cosh)                 \
  KG_PAIRS(X, Tanh)
#define KG_COMPLEX_BINARY_KERNELS(X) \
  X(Add, complex128)                 \
  X(Sub, complex128)                 \
  X(Multiply, complex128)            \
  X(RealDiv, complex128)             \
  KG_PAIRS(X, Pow)                   \
  X(Equal, complex128)               \
  X(NotEqual, complex128)

KG_DECLARE_LIST(complex_unary, KG_COMPLEX_UNARY_KERNELS, KG_DECLARE_FLAT1, KG_ENTRY_FLAT)
KG_DECLARE_LIST(complex_binary, KG_COMPLEX_BINARY_KERNELS, KG_DECLARE_FLAT2, KG_ENTRY_FLAT)

}  // namespace kerngrad::kernels
