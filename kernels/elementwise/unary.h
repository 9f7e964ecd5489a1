// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels of one operand.
#pragma once
#include "kernels/elementwise/flat.h"

namespace kerngrad::kernels {

// X(kind, name, dtypes of the operand, expression on a vector `x` with tag `d`). Kinds:
//   SHORT    the loop is unrolled
//   LONG     a function of math-inl.h: one copy of it per kernel
//   FOUR     the name of such a function; with OfAll after it, the name of one on several vectors
//   COMPLEX  the vector holds float32 pairs (real, imaginary)
//   TEST     the expression is a mask and the result boolean
#define KG_UNARY_KERNELS(X)                                  \
  X(SHORT, Abs, KG_SIGNED, Magnitude(d, x))                  \
  X(SHORT, Neg, KG_SIGNED, hn::Neg(x))                       \
  X(COMPLEX, Neg, KG_COMPLEX, hn::Neg(x))                    \
  X(SHORT, Sign, KG_SIGNED, Sign(d, x))                      \
  X(SHORT, Square, KG_NUMERIC, Product(d, x, x))             \
  X(COMPLEX, Square, KG_COMPLEX, ComplexProduct(d, x, x))    \
  X(SHORT, Sqrt, KG_FLOATS, hn::Sqrt(x))                     \
  X(SHORT, Reciprocal, KG_FLOATS, hn::Div(hn::Set(d, 1), x)) \
  X(LONG, Rsqrt, KG_FLOATS, Rsqrt(d, x))                     \
  X(FOUR, Exp, KG_FLOATS, Exp)                               \
  X(LONG, Exp2, KG_FLOATS, Exp2(d, x))                       \
  X(LONG, Expm1, KG_FLOATS, Expm1(d, x))                     \
  X(LONG, Log, KG_FLOATS, Log(d, x))                         \
  X(LONG, Log2, KG_FLOATS, Log2(d, x))                       \
  X(LONG, Log10, KG_FLOATS, Log10(d, x))                     \
  X(LONG, Log1p, KG_FLOATS, Log1p(d, x))                     \
  X(LONG, Cbrt, KG_FLOATS, Cbrt(d, x))                       \
  X(LONG, Sin, KG_FLOATS, Sin(d, x))                         \
  X(LONG, Cos, KG_FLOATS, Cos(d, x))                         \
  X(LONG, Tan, KG_FLOATS, Tan(d, x))                         \
  X(LONG, Asin, KG_FLOATS, Asin(d, x))                       \
  X(LONG, Acos, KG_FLOATS, Acos(d, x))                       \
  X(LONG, Atan, KG_FLOATS, Atan(d, x))                       \
  X(LONG, Sinh, KG_FLOATS, Sinh(d, x))                       \
  X(LONG, Cosh, KG_FLOATS, Cosh(d, x))                       \
  X(LONG, Tanh, KG_FLOATS, Tanh(d, x))                       \
  X(LONG, Asinh, KG_FLOATS, Asinh(d, x))                     \
  X(LONG, Acosh, KG_FLOATS, Acosh(d, x))                     \
  X(LONG, Atanh, KG_FLOATS, Atanh(d, x))                     \
  X(LONG, Erf, KG_FLOATS, Erf(d, x))                         \
  X(LONG, Erfc, KG_FLOATS, Erfc(d, x))                       \
  X(FOUR, Sigmoid, KG_FLOATS, Sigmoid)                       \
  X(LONG, Softplus, KG_FLOATS, Softplus(d, x))               \
  X(LONG, Elu, KG_FLOATS, Elu(d, x))                         \
  X(LONG, Selu, KG_FLOATS, Selu(d, x))                       \
  X(LONG, Gelu, KG_FLOATS, Gelu(d, x))                       \
  X(LONG, Silu, KG_FLOATS, Silu(d, x))                       \
  X(SHORT, Ceil, KG_NUMERIC, Ceiling(d, x))                  \
  X(SHORT, Floor, KG_NUMERIC, Floored(d, x))                 \
  X(SHORT, Round, KG_NUMERIC, Rounded(d, x))                 \
  X(SHORT, Trunc, KG_NUMERIC, Truncated(d, x))               \
  X(SHORT, Relu, KG_NUMERIC, Relu(d, x))                     \
  X(SHORT, Relu6, KG_NUMERIC, Relu6(d, x))                   \
  X(SHORT, BitwiseNot, KG_BITS, hn::Not(x))                  \
  X(TEST, IsNan, KG_FLOATS, hn::IsNaN(x))                    \
  X(TEST, IsInf, KG_FLOATS, hn::IsInf(x))                    \
  X(TEST, IsFinite, KG_FLOATS, hn::IsFinite(x))              \
  X(TEST, LogicalNot, KG_BOOLEAN, hn::Eq(x, hn::Zero(d)))

KG_DECLARE_LIST(unary, KG_UNARY_KERNELS, KG_DECLARE_MAP1, KG_ENTRY_MAP)

// Kernels with parameters.
#define KG_PARAMETRIC_KERNELS(X) KG_FLOATS(X, LeakyRelu) KG_SIGNED(X, Step) KG_NUMERIC(X, ClipByValue)

KG_DECLARE_KERNELS(parametric, KG_PARAMETRIC_KERNELS)

}  // namespace kerngrad::kernels
