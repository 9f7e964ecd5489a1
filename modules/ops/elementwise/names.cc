// SPDX-License-Identifier: Apache-2.0
// Typed names of the elementwise ops, and the operators. What each computes, its dtypes and its gradient at kinks is
// said once, in its row (rows.cc beside this); docs/ops.md shows them all.
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

namespace kerngrad::detail {

// Whether an operator on bits is one on truth values.
inline bool both_boolean(const tensor& a, const tensor& b) {
  return a.type() == dtype::boolean && b.type() == dtype::boolean;
}
// A number beside bits: true and false are truth values there, too.
template <class T>
tensor bits_like(T value, const tensor& like) {
  if constexpr (std::is_same_v<T, bool>)
    if (like.type() == dtype::boolean) return tensor(value);
  return number_like("operator on bits", number_of(value), like);
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A number beside a tensor takes the tensor's dtype; a fraction beside an integer tensor makes both float32.
template <class T>
concept number = std::is_arithmetic_v<T>;

// A tensor that is given up, a temporary or one that was moved, may donate its memory to the result: so a chain of
// calls needs one block however long it is.

/// A known op of one operand, as a function: `exp(x)`.
template <fixed_string Op>
  requires known_op<Op>
struct unary_op {
  tensor operator()(const tensor& x) const { return call<Op>(x); }
  tensor operator()(tensor&& x) const { return detail::run_unary(detail::known_entry<op_id<Op>>(), x, 1); }
  template <symbolic X>
  constexpr symbol operator()(X x) const {
    return call<Op>(x);
  }
};

/// A known op of two operands, as a function: `maximum(a, b)`. One of them may be a number, which takes the
/// other's dtype.
template <fixed_string Op>
  requires known_op<Op>
struct binary_op {
  tensor operator()(const tensor& a, const tensor& b) const { return call<Op>(a, b); }
  tensor operator()(tensor&& a, const tensor& b) const { return detail::run_binary(entry(), a, b, 1); }
  tensor operator()(const tensor& a, tensor&& b) const { return detail::run_binary(entry(), a, b, 2); }
  tensor operator()(tensor&& a, tensor&& b) const { return detail::run_binary(entry(), a, b, 3); }
  template <number T> tensor operator()(const tensor& a, T b) const { return detail::run_with(entry(), a, b); }
  template <number T> tensor operator()(tensor&& a, T b) const { return detail::run_with(entry(), a, b, 1); }
  template <number T> tensor operator()(T a, const tensor& b) const { return detail::run_with(entry(), a, b); }
  template <number T> tensor operator()(T a, tensor&& b) const { return detail::run_with(entry(), a, b, 1); }
  template <class A, class B>
    requires symbolic_pair<A, B>
  constexpr symbol operator()(A a, B b) const {
    return detail::pair_step<Op>(a, b);
  }

 private:
  static inline const detail::op_entry& entry() { return detail::known_entry<op_id<Op>>(); }
};

// One name per op, in the order of the rows; docs/ops.md says what each computes.
inline constexpr unary_op<"Abs"> abs;
inline constexpr unary_op<"Neg"> neg;
inline constexpr unary_op<"Sign"> sign;
inline constexpr unary_op<"Square"> square;
inline constexpr unary_op<"Sqrt"> sqrt;
inline constexpr unary_op<"Rsqrt"> rsqrt;
inline constexpr unary_op<"Reciprocal"> reciprocal;
inline constexpr unary_op<"Exp"> exp;
inline constexpr unary_op<"Exp2"> exp2;
inline constexpr unary_op<"Expm1"> expm1;
inline constexpr unary_op<"Log"> log;
inline constexpr unary_op<"Log2"> log2;
inline constexpr unary_op<"Log10"> log10;
inline constexpr unary_op<"Log1p"> log1p;
inline constexpr unary_op<"Cbrt"> cbrt;
inline constexpr unary_op<"Sin"> sin;
inline constexpr unary_op<"Cos"> cos;
inline constexpr unary_op<"Tan"> tan;
inline constexpr unary_op<"Asin"> asin;
inline constexpr unary_op<"Acos"> acos;
inline constexpr unary_op<"Atan"> atan;
inline constexpr unary_op<"Sinh"> sinh;
inline constexpr unary_op<"Cosh"> cosh;
inline constexpr unary_op<"Tanh"> tanh;
inline constexpr unary_op<"Asinh"> asinh;
inline constexpr unary_op<"Acosh"> acosh;
inline constexpr unary_op<"Atanh"> atanh;
inline constexpr unary_op<"Erf"> erf;
inline constexpr unary_op<"Erfc"> erfc;
inline constexpr unary_op<"Ceil"> ceil;
inline constexpr unary_op<"Floor"> floor;
inline constexpr unary_op<"Round"> round;
inline constexpr unary_op<"Trunc"> trunc;
inline constexpr unary_op<"BitwiseNot"> bitwise_not;
inline constexpr unary_op<"Relu"> relu;
inline constexpr unary_op<"Relu6"> relu6;
inline constexpr unary_op<"Elu"> elu;
inline constexpr unary_op<"Selu"> selu;
inline constexpr unary_op<"Gelu"> gelu;
inline constexpr unary_op<"Silu"> silu;
inline constexpr unary_op<"Sigmoid"> sigmoid;
inline constexpr unary_op<"Softplus"> softplus;
inline constexpr unary_op<"IsNan"> is_nan;
inline constexpr unary_op<"IsInf"> is_inf;
inline constexpr unary_op<"IsFinite"> is_finite;
inline constexpr unary_op<"LogicalNot"> logical_not;
inline constexpr unary_op<"Identity"> identity;
inline constexpr unary_op<"ZerosLike"> zeros_like;
inline constexpr unary_op<"OnesLike"> ones_like;
inline constexpr unary_op<"Real"> real;
inline constexpr unary_op<"Imag"> imag;
inline constexpr unary_op<"ComplexAbs"> complex_abs;

inline constexpr binary_op<"Add"> add;
inline constexpr binary_op<"Sub"> sub;
inline constexpr binary_op<"Multiply"> mul;
inline constexpr binary_op<"RealDiv"> div;
inline constexpr binary_op<"FloorDiv"> floor_div;
inline constexpr binary_op<"Mod"> mod;
inline constexpr binary_op<"Fmod"> fmod;
inline constexpr binary_op<"Copysign"> copysign;
inline constexpr binary_op<"Maximum"> maximum;
inline constexpr binary_op<"Minimum"> minimum;
inline constexpr binary_op<"SquaredDifference"> squared_difference;
inline constexpr binary_op<"Pow"> pow;
inline constexpr binary_op<"Atan2"> atan2;
inline constexpr binary_op<"Hypot"> hypot;
inline constexpr binary_op<"Xlogy"> xlogy;
inline constexpr binary_op<"Prelu"> prelu;
inline constexpr binary_op<"ReluGrad"> relu_grad;
inline constexpr binary_op<"EluGrad"> elu_grad;
inline constexpr binary_op<"BitwiseAnd"> bitwise_and;
inline constexpr binary_op<"BitwiseOr"> bitwise_or;
inline constexpr binary_op<"BitwiseXor"> bitwise_xor;
inline constexpr binary_op<"LeftShift"> left_shift;
inline constexpr binary_op<"RightShift"> right_shift;
inline constexpr binary_op<"LogicalAnd"> logical_and;
inline constexpr binary_op<"LogicalOr"> logical_or;
inline constexpr binary_op<"LogicalXor"> logical_xor;
inline constexpr binary_op<"Equal"> equal;
inline constexpr binary_op<"NotEqual"> not_equal;
inline constexpr binary_op<"Greater"> greater;
inline constexpr binary_op<"GreaterEqual"> greater_equal;
inline constexpr binary_op<"Less"> less;
inline constexpr binary_op<"LessEqual"> less_equal;
inline constexpr binary_op<"Complex"> complex;

/// x, or alpha * x below 0.
inline tensor leaky_relu(const tensor& x, double alpha = 0.2) { return call<"LeakyRelu">(x, attr<"alpha">(alpha)); }
/// 1 above 0, else alpha.
inline tensor step(const tensor& x, double alpha = 0) { return call<"Step">(x, attr<"alpha">(alpha)); }
/// x limited to [least, most]; nullopt in place of a bound is none.
inline tensor clip(const tensor& x, double least, double most) {
  return call<"ClipByValue">(x, attr<"clipValueMin">(least), attr<"clipValueMax">(most));
}
inline tensor clip(const tensor& x, std::nullopt_t, double most) {
  return clip(x, -std::numeric_limits<double>::infinity(), most);
}
inline tensor clip(const tensor& x, double least, std::nullopt_t) {
  return clip(x, least, std::numeric_limits<double>::infinity());
}
/// The sum of tensors of one shape.
inline tensor add_n(std::span<const tensor> tensors) { return call_list<"AddN">(tensors).front(); }
inline tensor add_n(std::initializer_list<tensor> tensors) { return add_n(std::span(tensors.begin(), tensors.size())); }
/// t where the condition holds, else e.
inline tensor where(const tensor& condition, const tensor& t, const tensor& e) {
  return call<"Select">(condition, t, e);
}
/// One of the two may be a number, which takes the other's dtype.
template <number T>
tensor where(const tensor& condition, const tensor& t, T e) {
  return where(condition, t, detail::number_like("where", detail::number_of(e), t));
}
template <number T>
tensor where(const tensor& condition, T t, const tensor& e) {
  return where(condition, detail::number_like("where", detail::number_of(t), e), e);
}
/// Two numbers give bool, int32 or float32: what both are in C++.
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
/// The same values in another dtype; x itself when it has that dtype.
inline tensor cast(const tensor& x, dtype to) { return x.type() == to ? x : call<"Cast">(x, attr<"dtype">(to)); }
/// The complex conjugate; x itself when it is real.
inline tensor conj(const tensor& x) { return x.type() == dtype::complex64 ? complex(real(x), neg(imag(x))) : x; }

/// The operators of C++ are the functions above: % is mod, the others what they are for integers. Of booleans & | ^ ~
/// are logical_and, logical_or, logical_xor and logical_not.
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
  return detail::both_boolean(a, b) ? logical_and(a, b) : bitwise_and(a, b);
}
inline tensor operator|(const tensor& a, const tensor& b) {
  return detail::both_boolean(a, b) ? logical_or(a, b) : bitwise_or(a, b);
}
inline tensor operator^(const tensor& a, const tensor& b) {
  return detail::both_boolean(a, b) ? logical_xor(a, b) : bitwise_xor(a, b);
}
template <number T> tensor operator&(const tensor& a, T b) { return a & detail::bits_like(b, a); }
template <number T> tensor operator&(T a, const tensor& b) { return detail::bits_like(a, b) & b; }
template <number T> tensor operator|(const tensor& a, T b) { return a | detail::bits_like(b, a); }
template <number T> tensor operator|(T a, const tensor& b) { return detail::bits_like(a, b) | b; }
template <number T> tensor operator^(const tensor& a, T b) { return a ^ detail::bits_like(b, a); }
template <number T> tensor operator^(T a, const tensor& b) { return detail::bits_like(a, b) ^ b; }

/// a becomes the result, whose dtype and shape need not be a's; its memory is used again where nobody else holds it.
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
