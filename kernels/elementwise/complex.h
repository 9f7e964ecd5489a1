// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels of complex numbers. binary.h and unary.h have those of complex64 that work on pairs of lanes.
//
// Functions follow the tables of C99's Annex G: values at zeros, infinities and NaN, signs of zeros, sides of branch
// cuts. Products and quotients are those of the formulas: an infinite operand may give NaN.
#pragma once
#include "kernels/common/pairs.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"

namespace kerngrad::kernels {

#define KG_COMPLEX_UNARY_KERNELS(X) \
  KG_WIDE_PAIRS(X, Neg)             \
  KG_WIDE_PAIRS(X, Square)          \
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
  KG_WIDE_PAIRS(X, Add)              \
  KG_WIDE_PAIRS(X, Sub)              \
  KG_WIDE_PAIRS(X, Multiply)         \
  KG_WIDE_PAIRS(X, RealDiv)          \
  KG_PAIRS(X, Pow)                   \
  KG_WIDE_PAIRS(X, Equal)            \
  KG_WIDE_PAIRS(X, NotEqual)

KG_COMPLEX_UNARY_KERNELS(KG_DECLARE_FLAT1)
KG_COMPLEX_BINARY_KERNELS(KG_DECLARE_FLAT2)
inline constexpr entry complex_unary_simd[] = {KG_COMPLEX_UNARY_KERNELS(KG_ENTRY_FLAT1)};
inline constexpr entry complex_binary_simd[] = {KG_COMPLEX_BINARY_KERNELS(KG_ENTRY_FLAT2)};
namespace reference {
KG_COMPLEX_UNARY_KERNELS(KG_DECLARE_PLAIN_FLAT1)
KG_COMPLEX_BINARY_KERNELS(KG_DECLARE_PLAIN_FLAT2)
inline constexpr entry complex_unary_reference[] = {KG_COMPLEX_UNARY_KERNELS(KG_ENTRY_FLAT1)};
inline constexpr entry complex_binary_reference[] = {KG_COMPLEX_BINARY_KERNELS(KG_ENTRY_FLAT2)};
}  // namespace reference

}  // namespace kerngrad::kernels
