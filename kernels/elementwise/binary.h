// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels of two operands: in[0] and in[1] give out[0].
#pragma once
#include "kernels/elementwise/flat.h"

namespace kerngrad::kernels {

/// Operands broadcast to a common shape. Axes are merged where possible; strides count elements. The innermost
/// stride of each operand is 0 or 1, the output is contiguous.
struct broadcast_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank];
  std::int64_t strides[3][max_rank];  ///< per operand; two are used here, three by Select
};

// X(kind, name, dtypes of the operands, expression on vectors `a` and `b` with tag `d`). Kinds:
//   SHORT         the loop is unrolled
//   LONG          one copy of the expression per kernel
//   COMPLEX       the vectors hold float32 pairs (real, imaginary)
//   TEST          the expression is a mask and the result boolean
//   COMPLEX_TEST  the same on complex numbers, one for each 64-bit lane
#define KG_BINARY_KERNELS(X)                                            \
  X(SHORT, Add, KG_NUMERIC, hn::Add(a, b))                              \
  X(COMPLEX, Add, KG_COMPLEX, hn::Add(a, b))                            \
  X(SHORT, Sub, KG_NUMERIC, hn::Sub(a, b))                              \
  X(COMPLEX, Sub, KG_COMPLEX, hn::Sub(a, b))                            \
  X(SHORT, Multiply, KG_NUMERIC, Product(d, a, b))                      \
  X(COMPLEX, Multiply, KG_COMPLEX, ComplexProduct(d, a, b))             \
  X(SHORT, RealDiv, KG_FLOATS, hn::Div(a, b))                           \
  X(COMPLEX, RealDiv, KG_COMPLEX, ComplexQuotient(d, a, b))             \
  X(LONG, FloorDiv, KG_NUMERIC, FloorDiv(d, a, b))                      \
  X(LONG, Mod, KG_NUMERIC, FloorMod(d, a, b))                           \
  X(LONG, Fmod, KG_NUMERIC, TruncatedRemainder(d, a, b))                \
  X(SHORT, Copysign, KG_FLOATS, hn::CopySign(a, b))                     \
  X(SHORT, Maximum, KG_ORDERED, Maximum(d, a, b))                       \
  X(SHORT, Minimum, KG_ORDERED, Minimum(d, a, b))                       \
  X(SHORT, SquaredDifference, KG_NUMERIC, SquaredDifference(d, a, b))   \
  X(LONG, Pow, KG_SIGNED, Power(d, a, b))                               \
  X(LONG, Atan2, KG_FLOATS, Atan2(d, a, b))                             \
  X(LONG, Hypot, KG_FLOATS, Hypot(d, a, b))                             \
  X(LONG, Xlogy, KG_FLOATS, Xlogy(d, a, b))                             \
  X(SHORT, BitwiseAnd, KG_BITS, hn::And(a, b))                          \
  X(SHORT, BitwiseOr, KG_BITS, hn::Or(a, b))                            \
  X(SHORT, BitwiseXor, KG_BITS, hn::Xor(a, b))                          \
  X(SHORT, LeftShift, KG_INTS, LeftShift(d, a, b))                      \
  X(SHORT, RightShift, KG_INTS, RightShift(d, a, b))                    \
  X(SHORT, LogicalAnd, KG_BOOLEAN, hn::And(a, b))                       \
  X(SHORT, LogicalOr, KG_BOOLEAN, hn::Or(a, b))                         \
  X(SHORT, LogicalXor, KG_BOOLEAN, hn::Xor(a, b))                       \
  X(SHORT, Prelu, KG_FLOATS, Prelu(d, a, b))                            \
  X(SHORT, ReluGrad, KG_FLOATS, ReluGrad(d, a, b))                      \
  X(SHORT, EluGrad, KG_FLOATS, EluGrad(d, a, b))                        \
  X(LONG, SigmoidGrad, KG_FLOATS, SigmoidGrad(d, a, b))                 \
  X(LONG, TanhGrad, KG_FLOATS, TanhGrad(d, a, b))                       \
  X(TEST, Equal, KG_ORDERED, hn::Eq(a, b))                              \
  X(COMPLEX_TEST, Equal, KG_COMPLEX, ComplexEqual(d, a, b))             \
  X(TEST, NotEqual, KG_ORDERED, hn::Not(hn::Eq(a, b)))                  \
  X(COMPLEX_TEST, NotEqual, KG_COMPLEX, hn::Not(ComplexEqual(d, a, b))) \
  X(TEST, Greater, KG_ORDERED, hn::Gt(a, b))                            \
  X(TEST, GreaterEqual, KG_ORDERED, NotLess(d, a, b))                   \
  X(TEST, Less, KG_ORDERED, hn::Lt(a, b))                               \
  X(TEST, LessEqual, KG_ORDERED, NotLess(d, b, a))

KG_DECLARE_LIST(binary, KG_BINARY_KERNELS, KG_DECLARE_MAP2, KG_ENTRY_MAP)

}  // namespace kerngrad::kernels
