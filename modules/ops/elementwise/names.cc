// SPDX-License-Identifier: Apache-2.0
// Typed names of the elementwise ops, and the operators. Each op's meaning, dtypes and gradient at kinks are stated
// once, in its row (rows.cc next to this); docs/ops.md shows them all.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_elementwise;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :symbol;
import :function;

namespace kerngrad::detail {

inline bool is_complex(const tensor& x) { return x.defined() && kind_of(x.type()) == dtype_kind::complex; }
// True if an operator on bits is one on truth values.
inline bool both_boolean(const tensor& a, const tensor& b) {
  return a.type() == dtype::boolean && b.type() == dtype::boolean;
}
// A number next to bits: true and false are truth values there, too.
template <class T>
tensor bits_like(T value, const tensor& like) {
  if constexpr (std::is_same_v<T, bool>)
    if (like.type() == dtype::boolean) return tensor(value);
  return number_like("operator on bits", number_of(value), like);
}

// A complex number next to a tensor: as wide as the tensor is.
template <complex_class C>
tensor number_like(C z, const tensor& like) {
  if (like.type() == dtype::complex128 || like.type() == dtype::float64)
    return tensor(complex128{static_cast<double>(z.real()), static_cast<double>(z.imag())});
  return tensor(complex64{static_cast<float>(z.real()), static_cast<float>(z.imag())});
}

}  // namespace kerngrad::detail

export namespace kerngrad {

// A name of an elementwise op without attributes is a line below: the overloads of a function, so that a call finds it
// next to those of <cmath>. modules/ops/function.cc explains them.
#define KG_ONE_OPERAND(name, Op)                                           \
  inline tensor name(const tensor& x) { return function_of<Op>(x); }       \
  inline tensor name(tensor&& x) { return function_of<Op>(std::move(x)); } \
  template <symbolic X> constexpr symbol name(X x) { return function_of<Op>(x); }
#define KG_TWO_OPERANDS(name, Op)                                                                      \
  inline tensor name(const tensor& a, const tensor& b) { return function_of<Op>(a, b); }               \
  inline tensor name(tensor&& a, const tensor& b) { return function_of<Op>(std::move(a), b); }         \
  inline tensor name(const tensor& a, tensor&& b) { return function_of<Op>(a, std::move(b)); }         \
  inline tensor name(tensor&& a, tensor&& b) { return function_of<Op>(std::move(a), std::move(b)); }   \
  template <number T> inline tensor name(const tensor& a, T b) { return function_of<Op>(a, b); }       \
  template <number T> inline tensor name(tensor&& a, T b) { return function_of<Op>(std::move(a), b); } \
  template <number T> inline tensor name(T a, const tensor& b) { return function_of<Op>(a, b); }       \
  template <number T> inline tensor name(T a, tensor&& b) { return function_of<Op>(a, std::move(b)); } \
  template <class A, class B>                                                                          \
    requires symbolic_pair<A, B>                                                                       \
  constexpr symbol name(A a, B b) {                                                                    \
    return function_of<Op>(a, b);                                                                      \
  }

// The names in the order of the rows; docs/ops.md says what each computes.
KG_ONE_OPERAND(neg, "Neg")
KG_ONE_OPERAND(sign, "Sign")
KG_ONE_OPERAND(square, "Square")
KG_ONE_OPERAND(sqrt, "Sqrt")
KG_ONE_OPERAND(rsqrt, "Rsqrt")
KG_ONE_OPERAND(reciprocal, "Reciprocal")
KG_ONE_OPERAND(exp, "Exp")
KG_ONE_OPERAND(exp2, "Exp2")
KG_ONE_OPERAND(expm1, "Expm1")
KG_ONE_OPERAND(log, "Log")
KG_ONE_OPERAND(log2, "Log2")
KG_ONE_OPERAND(log10, "Log10")
KG_ONE_OPERAND(log1p, "Log1p")
KG_ONE_OPERAND(cbrt, "Cbrt")
KG_ONE_OPERAND(sin, "Sin")
KG_ONE_OPERAND(cos, "Cos")
KG_ONE_OPERAND(tan, "Tan")
KG_ONE_OPERAND(asin, "Asin")
KG_ONE_OPERAND(acos, "Acos")
KG_ONE_OPERAND(atan, "Atan")
KG_ONE_OPERAND(sinh, "Sinh")
KG_ONE_OPERAND(cosh, "Cosh")
KG_ONE_OPERAND(tanh, "Tanh")
KG_ONE_OPERAND(asinh, "Asinh")
KG_ONE_OPERAND(acosh, "Acosh")
KG_ONE_OPERAND(atanh, "Atanh")
KG_ONE_OPERAND(erf, "Erf")
KG_ONE_OPERAND(erfc, "Erfc")
KG_ONE_OPERAND(ceil, "Ceil")
KG_ONE_OPERAND(floor, "Floor")
KG_ONE_OPERAND(round, "Round")
KG_ONE_OPERAND(trunc, "Trunc")
/// Inverts every bit: -1 - x, or 255 - x for uint8. uint8, int32 and int64 keep their dtype; uint32 gives int64, other
/// integers give int32. Throws for floats, complex numbers and bool. No gradient.
KG_ONE_OPERAND(bitwise_not, "BitwiseNot")
KG_ONE_OPERAND(relu, "Relu")
KG_ONE_OPERAND(relu6, "Relu6")
KG_ONE_OPERAND(elu, "Elu")
KG_ONE_OPERAND(selu, "Selu")
KG_ONE_OPERAND(gelu, "Gelu")
KG_ONE_OPERAND(silu, "Silu")
KG_ONE_OPERAND(sigmoid, "Sigmoid")
KG_ONE_OPERAND(softplus, "Softplus")
KG_ONE_OPERAND(is_nan, "IsNan")
KG_ONE_OPERAND(is_inf, "IsInf")
KG_ONE_OPERAND(is_finite, "IsFinite")
KG_ONE_OPERAND(logical_not, "LogicalNot")
KG_ONE_OPERAND(identity, "Identity")
KG_ONE_OPERAND(zeros_like, "ZerosLike")
KG_ONE_OPERAND(ones_like, "OnesLike")
KG_ONE_OPERAND(real, "Real")
KG_ONE_OPERAND(imag, "Imag")
KG_ONE_OPERAND(complex_abs, "ComplexAbs")

KG_TWO_OPERANDS(add, "Add")
KG_TWO_OPERANDS(sub, "Sub")
KG_TWO_OPERANDS(mul, "Multiply")
KG_TWO_OPERANDS(div, "RealDiv")
KG_TWO_OPERANDS(floor_div, "FloorDiv")
KG_TWO_OPERANDS(mod, "Mod")
KG_TWO_OPERANDS(fmod, "Fmod")
KG_TWO_OPERANDS(copysign, "Copysign")
KG_TWO_OPERANDS(maximum, "Maximum")
KG_TWO_OPERANDS(minimum, "Minimum")
KG_TWO_OPERANDS(squared_difference, "SquaredDifference")
KG_TWO_OPERANDS(pow, "Pow")
KG_TWO_OPERANDS(atan2, "Atan2")
KG_TWO_OPERANDS(hypot, "Hypot")
KG_TWO_OPERANDS(xlogy, "Xlogy")
KG_TWO_OPERANDS(prelu, "Prelu")
KG_TWO_OPERANDS(relu_grad, "ReluGrad")
KG_TWO_OPERANDS(elu_grad, "EluGrad")
KG_TWO_OPERANDS(sigmoid_grad, "SigmoidGrad")
KG_TWO_OPERANDS(tanh_grad, "TanhGrad")
KG_TWO_OPERANDS(bitwise_and, "BitwiseAnd")
KG_TWO_OPERANDS(bitwise_or, "BitwiseOr")
KG_TWO_OPERANDS(bitwise_xor, "BitwiseXor")
KG_TWO_OPERANDS(left_shift, "LeftShift")
KG_TWO_OPERANDS(right_shift, "RightShift")
KG_TWO_OPERANDS(logical_and, "LogicalAnd")
KG_TWO_OPERANDS(logical_or, "LogicalOr")
KG_TWO_OPERANDS(logical_xor, "LogicalXor")
KG_TWO_OPERANDS(equal, "Equal")
KG_TWO_OPERANDS(not_equal, "NotEqual")
KG_TWO_OPERANDS(greater, "Greater")
KG_TWO_OPERANDS(greater_equal, "GreaterEqual")
KG_TWO_OPERANDS(less, "Less")
KG_TWO_OPERANDS(less_equal, "LessEqual")
KG_TWO_OPERANDS(complex, "Complex")

// NumPy's names where they differ.
KG_ONE_OPERAND(negative, "Neg")
KG_ONE_OPERAND(isnan, "IsNan")
KG_ONE_OPERAND(isinf, "IsInf")
KG_ONE_OPERAND(isfinite, "IsFinite")
KG_TWO_OPERANDS(subtract, "Sub")
KG_TWO_OPERANDS(multiply, "Multiply")
KG_TWO_OPERANDS(divide, "RealDiv")
KG_TWO_OPERANDS(floor_divide, "FloorDiv")

/// The absolute value. Floats, int32 and int64 keep their dtype; uint32 gives int64, other integers and bool give
/// int32. The smallest integer wraps to itself. For complex numbers it is the magnitude, in the dtype of their parts.
/// Gradient: dy * sign(x), for complex numbers dy * x / |x|, 0 at 0.
inline tensor abs(const tensor& x) { return detail::is_complex(x) ? complex_abs(x) : function_of<"Abs">(x); }
inline tensor abs(tensor&& x) { return detail::is_complex(x) ? complex_abs(x) : function_of<"Abs">(std::move(x)); }
template <symbolic X>
constexpr symbol abs(X x) {
  return function_of<"Abs">(x);
}

#undef KG_ONE_OPERAND
#undef KG_TWO_OPERANDS

/// x where it is positive, else alpha * x. NaN stays NaN. Integers give float32. Gradient at 0: alpha * dy.
inline tensor leaky_relu(const tensor& x, double alpha = 0.2) { return call<"LeakyRelu">(x, attr<"alpha">(alpha)); }
/// 1 where x is positive, else alpha; NaN stays NaN. Dtypes are those of `abs`; complex numbers throw. Gradient: 0.
inline tensor step(const tensor& x, double alpha = 0) { return call<"Step">(x, attr<"alpha">(alpha)); }
/// Limits x to [least, most]; `{}` stands for no bound. NaN stays NaN. Throws if least is above most, and if an integer
/// dtype has no value between the bounds. Gradient: dy from bound to bound, 0 outside and for NaN.
inline tensor clip(const tensor& x, std::optional<double> least, std::optional<double> most) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return call<"ClipByValue">(x, attr<"clipValueMin">(least.value_or(-infinity)),
                             attr<"clipValueMax">(most.value_or(infinity)));
}
/// The sum of tensors that have one shape. Dtypes are promoted; bool counts as int32, and integers wrap. Throws for
/// different shapes and without tensors. Differentiable.
inline tensor add_n(std::span<const tensor> tensors) { return call_list<"AddN">(tensors).front(); }
inline tensor add_n(std::initializer_list<tensor> tensors) { return add_n(std::span(tensors.begin(), tensors.size())); }
/// The elements of t if the condition is true, else those of e. The condition is bool. All three broadcast, and the
/// result has the promoted dtype of t and e. Any dtype. Differentiable in t and e.
inline tensor where(const tensor& condition, const tensor& t, const tensor& e) {
  return call<"Select">(condition, t, e);
}
/// Chooses between the elements of a tensor and a number. The number takes the dtype of the tensor. A fraction next to
/// an integer tensor makes both float32. The rest is as for `where` with two tensors.
template <number T>
tensor where(const tensor& condition, const tensor& t, T e) {
  return where(condition, t, detail::number_like("where", detail::number_of(e), t));
}
template <number T>
tensor where(const tensor& condition, T t, const tensor& e) {
  return where(condition, detail::number_like("where", detail::number_of(t), e), e);
}
/// Chooses between two numbers, in the shape of the condition. The dtype follows from their C++ types: two bools give
/// bool, other integers int32, else float32. Throws for a condition that is not bool.
template <number T, number E>
tensor where(const tensor& condition, T t, E e) {
  if constexpr (std::is_same_v<T, bool> && std::is_same_v<E, bool>) {
    return where(condition, tensor(t), tensor(e));
  } else {
    using like = std::conditional_t<std::is_integral_v<T> && std::is_integral_v<E>, std::int32_t, float>;
    return where(condition, detail::number_like("where", detail::number_of(t), tensor(like{})),
                 detail::number_like("where", detail::number_of(e), tensor(like{})));
  }
}
/// The same values in another dtype. From floats to integers they are truncated towards 0 and saturate, and NaN gives
/// 0. Integers wrap. A complex number gives its real part. bool is true for all numbers but 0. Returns x itself if it
/// has that dtype. Gradient: dy, cast to the dtype of x.
inline tensor cast(const tensor& x, dtype to) { return x.type() == to ? x : call<"Cast">(x, attr<"dtype">(to)); }
/// The complex conjugate. Returns x itself if it is real. Any dtype. Differentiable.
inline tensor conj(const tensor& x) { return detail::is_complex(x) ? complex(real(x), neg(imag(x))) : x; }
/// The angle of complex numbers in [-pi, pi], in the dtype of their parts; for real numbers 0 or pi. The signs of the
/// parts decide if the angle of 0 is 0 or pi. Gradient: NaN at 0.
inline tensor angle(const tensor& x) {
  return detail::is_complex(x) ? atan2(imag(x), real(x)) : atan2(zeros_like(x), x);
}

}  // namespace kerngrad

namespace kerngrad::detail {

// A truth value next to an integer is the integer 0 or 1.
inline tensor bits_beside(const tensor& x, const tensor& other) {
  return x.type() == dtype::boolean && integral.has(other.type()) ? cast(x, other.type()) : x;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The C++ operators call the functions of the same meaning. + is add, - is sub or neg, * is mul, / is div, and % is
/// mod. == is equal, < is less, << is left_shift, and so on. & | ^ ~ are bitwise; for booleans they are logical_and,
/// logical_or, logical_xor and logical_not. Next to an integer a boolean is 0 or 1. % has the sign of the divisor, as
/// in NumPy. Dtypes, errors and gradients are those of the functions.
inline tensor operator-(const tensor& x) { return neg(x); }
inline tensor operator-(tensor&& x) { return neg(std::move(x)); }
inline tensor operator+(const tensor& a, const tensor& b) { return add(a, b); }
inline tensor operator+(tensor&& a, const tensor& b) { return add(std::move(a), b); }
inline tensor operator+(const tensor& a, tensor&& b) { return add(a, std::move(b)); }
inline tensor operator+(tensor&& a, tensor&& b) { return add(std::move(a), std::move(b)); }
inline tensor operator-(const tensor& a, const tensor& b) { return sub(a, b); }
inline tensor operator-(tensor&& a, const tensor& b) { return sub(std::move(a), b); }
inline tensor operator-(const tensor& a, tensor&& b) { return sub(a, std::move(b)); }
inline tensor operator-(tensor&& a, tensor&& b) { return sub(std::move(a), std::move(b)); }
inline tensor operator*(const tensor& a, const tensor& b) { return mul(a, b); }
inline tensor operator*(tensor&& a, const tensor& b) { return mul(std::move(a), b); }
inline tensor operator*(const tensor& a, tensor&& b) { return mul(a, std::move(b)); }
inline tensor operator*(tensor&& a, tensor&& b) { return mul(std::move(a), std::move(b)); }
inline tensor operator/(const tensor& a, const tensor& b) { return div(a, b); }
inline tensor operator/(tensor&& a, const tensor& b) { return div(std::move(a), b); }
inline tensor operator/(const tensor& a, tensor&& b) { return div(a, std::move(b)); }
inline tensor operator/(tensor&& a, tensor&& b) { return div(std::move(a), std::move(b)); }
inline tensor operator<(const tensor& a, const tensor& b) { return less(a, b); }
inline tensor operator<=(const tensor& a, const tensor& b) { return less_equal(a, b); }
inline tensor operator>(const tensor& a, const tensor& b) { return greater(a, b); }
inline tensor operator>=(const tensor& a, const tensor& b) { return greater_equal(a, b); }
inline tensor operator==(const tensor& a, const tensor& b) { return equal(a, b); }
inline tensor operator!=(const tensor& a, const tensor& b) { return not_equal(a, b); }

template <number T> tensor operator+(const tensor& a, T b) { return add(a, b); }
template <number T> tensor operator+(tensor&& a, T b) { return add(std::move(a), b); }
template <number T> tensor operator+(T a, const tensor& b) { return add(a, b); }
template <number T> tensor operator+(T a, tensor&& b) { return add(a, std::move(b)); }
template <number T> tensor operator-(const tensor& a, T b) { return sub(a, b); }
template <number T> tensor operator-(tensor&& a, T b) { return sub(std::move(a), b); }
template <number T> tensor operator-(T a, const tensor& b) { return sub(a, b); }
template <number T> tensor operator-(T a, tensor&& b) { return sub(a, std::move(b)); }
template <number T> tensor operator*(const tensor& a, T b) { return mul(a, b); }
template <number T> tensor operator*(tensor&& a, T b) { return mul(std::move(a), b); }
template <number T> tensor operator*(T a, const tensor& b) { return mul(a, b); }
template <number T> tensor operator*(T a, tensor&& b) { return mul(a, std::move(b)); }
template <number T> tensor operator/(const tensor& a, T b) { return div(a, b); }
template <number T> tensor operator/(tensor&& a, T b) { return div(std::move(a), b); }
template <number T> tensor operator/(T a, const tensor& b) { return div(a, b); }
template <number T> tensor operator/(T a, tensor&& b) { return div(a, std::move(b)); }
template <number T> tensor operator<(const tensor& a, T b) { return less(a, b); }
template <number T> tensor operator<(T a, const tensor& b) { return less(a, b); }
template <number T> tensor operator<=(const tensor& a, T b) { return less_equal(a, b); }
template <number T> tensor operator<=(T a, const tensor& b) { return less_equal(a, b); }
template <number T> tensor operator>(const tensor& a, T b) { return greater(a, b); }
template <number T> tensor operator>(T a, const tensor& b) { return greater(a, b); }
template <number T> tensor operator>=(const tensor& a, T b) { return greater_equal(a, b); }
template <number T> tensor operator>=(T a, const tensor& b) { return greater_equal(a, b); }
template <number T> tensor operator==(const tensor& a, T b) { return equal(a, b); }
template <number T> tensor operator==(T a, const tensor& b) { return equal(a, b); }
template <number T> tensor operator!=(const tensor& a, T b) { return not_equal(a, b); }
template <number T> tensor operator!=(T a, const tensor& b) { return not_equal(a, b); }

/// Arithmetic and equality with std::complex<float> and std::complex<double>. The number takes the tensor's precision:
/// next to float64 and complex128 it is complex128, else complex64. Errors and gradients are those of the functions,
/// such as add.
template <detail::complex_class C> tensor operator+(const tensor& a, C b) { return add(a, detail::number_like(b, a)); }
template <detail::complex_class C> tensor operator+(C a, const tensor& b) { return add(detail::number_like(a, b), b); }
template <detail::complex_class C> tensor operator-(const tensor& a, C b) { return sub(a, detail::number_like(b, a)); }
template <detail::complex_class C> tensor operator-(C a, const tensor& b) { return sub(detail::number_like(a, b), b); }
template <detail::complex_class C> tensor operator*(const tensor& a, C b) { return mul(a, detail::number_like(b, a)); }
template <detail::complex_class C> tensor operator*(C a, const tensor& b) { return mul(detail::number_like(a, b), b); }
template <detail::complex_class C> tensor operator/(const tensor& a, C b) { return div(a, detail::number_like(b, a)); }
template <detail::complex_class C> tensor operator/(C a, const tensor& b) { return div(detail::number_like(a, b), b); }
template <detail::complex_class C> tensor operator==(const tensor& a, C b) {
  return equal(a, detail::number_like(b, a));
}
template <detail::complex_class C> tensor operator!=(const tensor& a, C b) {
  return not_equal(a, detail::number_like(b, a));
}
/// A tensor to the power of a complex number, or a complex number to the power of a tensor. The number takes the
/// tensor's precision. Errors and gradients are those of `pow` with two tensors.
template <detail::complex_class C> tensor pow(const tensor& a, C b) { return pow(a, detail::number_like(b, a)); }
template <detail::complex_class C> tensor pow(C a, const tensor& b) { return pow(detail::number_like(a, b), b); }

/// Logical, bitwise, remainder and shift operators, for two tensors or for a tensor and a number. They call the
/// functions of the same meaning, such as logical_not, mod and left_shift. Dtypes, errors and gradients are those of
/// the functions.
inline tensor operator!(const tensor& x) { return logical_not(x); }
inline tensor operator~(const tensor& x) { return x.type() == dtype::boolean ? logical_not(x) : bitwise_not(x); }
inline tensor operator%(const tensor& a, const tensor& b) { return mod(a, b); }
inline tensor operator<<(const tensor& a, const tensor& b) { return left_shift(a, b); }
inline tensor operator>>(const tensor& a, const tensor& b) { return right_shift(a, b); }
template <number T> tensor operator%(const tensor& a, T b) { return mod(a, b); }
template <number T> tensor operator%(T a, const tensor& b) { return mod(a, b); }
template <number T> tensor operator<<(const tensor& a, T b) { return left_shift(a, b); }
template <number T> tensor operator<<(T a, const tensor& b) { return left_shift(a, b); }
template <number T> tensor operator>>(const tensor& a, T b) { return right_shift(a, b); }
template <number T> tensor operator>>(T a, const tensor& b) { return right_shift(a, b); }
inline tensor operator&(const tensor& a, const tensor& b) {
  if (detail::both_boolean(a, b)) return logical_and(a, b);
  return bitwise_and(detail::bits_beside(a, b), detail::bits_beside(b, a));
}
inline tensor operator|(const tensor& a, const tensor& b) {
  if (detail::both_boolean(a, b)) return logical_or(a, b);
  return bitwise_or(detail::bits_beside(a, b), detail::bits_beside(b, a));
}
inline tensor operator^(const tensor& a, const tensor& b) {
  if (detail::both_boolean(a, b)) return logical_xor(a, b);
  return bitwise_xor(detail::bits_beside(a, b), detail::bits_beside(b, a));
}
template <number T> tensor operator&(const tensor& a, T b) { return a & detail::bits_like(b, a); }
template <number T> tensor operator&(T a, const tensor& b) { return detail::bits_like(a, b) & b; }
template <number T> tensor operator|(const tensor& a, T b) { return a | detail::bits_like(b, a); }
template <number T> tensor operator|(T a, const tensor& b) { return detail::bits_like(a, b) | b; }
template <number T> tensor operator^(const tensor& a, T b) { return a ^ detail::bits_like(b, a); }
template <number T> tensor operator^(T a, const tensor& b) { return detail::bits_like(a, b) ^ b; }

/// Assigns the result of the operator to a, whose dtype and shape may change. The memory of a may be reused if no other
/// tensor shares it. Errors and gradients are those of the operator.
template <class T> tensor& operator+=(tensor& a, const T& b) { return a = std::move(a) + b; }
template <class T> tensor& operator-=(tensor& a, const T& b) { return a = std::move(a) - b; }
template <class T> tensor& operator*=(tensor& a, const T& b) { return a = std::move(a) * b; }
template <class T> tensor& operator/=(tensor& a, const T& b) { return a = std::move(a) / b; }
template <class T> tensor& operator%=(tensor& a, const T& b) { return a = a % b; }
template <class T> tensor& operator&=(tensor& a, const T& b) { return a = a & b; }
template <class T> tensor& operator|=(tensor& a, const T& b) { return a = a | b; }
template <class T> tensor& operator^=(tensor& a, const T& b) { return a = a ^ b; }
template <class T> tensor& operator<<=(tensor& a, const T& b) { return a = a << b; }
template <class T> tensor& operator>>=(tensor& a, const T& b) { return a = a >> b; }

}  // namespace kerngrad
