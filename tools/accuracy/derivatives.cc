// SPDX-License-Identifier: Apache-2.0
#include "tools/accuracy/derivatives.h"
#include "tools/accuracy/special.h"

#include <cmath>
#include <type_traits>

namespace kgaccuracy {
namespace {

using std::abs, std::sqrt, std::cbrt, std::exp, std::exp2, std::log, std::sin, std::cos, std::sinh, std::cosh;
using std::tanh, std::atan, std::erfc, std::floor, std::trunc, std::pow, std::hypot;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The formulas below are generic, and T is a number of MPFR or double.
template <class T>
T pi() {
  return 4 * atan(T(1));
}
template <class T>
T square(const T& x) {
  return x * x;
}
template <class T>
T cube(const T& x) {
  return x * x * x;
}
template <class T>
T sign(const T& x) {
  return T(x < T(0) ? -1 : x == T(0) ? 0 : 1);
}
// 1 - x^2
template <class T>
T rest(const T& x) {
  return (1 - x) * (1 + x);
}
// The density and the distribution function of the normal distribution.
template <class T>
T density(const T& x) {
  return exp(-square(x) / 2) / sqrt(2 * pi<T>());
}
template <class T>
T distribution(const T& x) {
  return erfc(-x / sqrt(T(2))) / 2;
}
template <class T>
T sigmoid(const T& x) {
  return 1 / (1 + exp(-x));
}
// s (1 - s) of s = sigmoid(x), and the derivative of that.
template <class T>
T sigmoid_slope(const T& x) {
  return 1 / (4 * square(cosh(x / 2)));
}
template <class T>
T sigmoid_bend(const T& x) {
  return -sigmoid_slope(x) * tanh(x / 2);
}
template <class T>
T tanh_slope(const T& x) {
  return 1 / square(cosh(x));
}
template <class T>
T tanh_bend(const T& x) {
  return -2 * tanh(x) * tanh_slope(x);
}
template <class T>
T selu_scale() {
  return T(1.0507009873554805) + T(3.9874847667154144e-17);
}
template <class T>
T selu_alpha() {
  return T(1.6732632423543772) + T(1.0657222547717531e-16);
}

struct not_tested {};

template <class First, class Second>
constexpr derivative_of_one of(const char* op, First, Second, double least = -infinity, double most = infinity) {
  derivative_of_one d{.op = op,
                      .first = [](const number& x) { return First{}(x); },
                      .estimate = [](double x) { return First{}(x); },
                      .second = nullptr,
                      .least = least,
                      .most = most};
  if constexpr (!std::is_same_v<Second, not_tested>) d.second = [](const number& x) { return Second{}(x); };
  return d;
}

// A special function: the C library has no estimate of its derivative.
template <class First>
constexpr derivative_of_one of_special(const char* op, First, double least = -infinity, double most = infinity) {
  return {.op = op,
          .first = [](const number& x) { return First{}(x); },
          .estimate = nullptr,
          .second = nullptr,
          .least = least,
          .most = most};
}
// The derivative of a Bessel function of order 1 from f0 and f1 / x.
number bessel_slope(const number& f0, const number& f1, const number& x) {
  return x == number(0) ? number(0.5) : f0 - f1 / x;
}
number erfinv_slope(const number& x) {
  const number one = 1;
  return abs(x) == one ? one / number(0) : sqrt(pi<number>()) / number(2) * exp(square(kgspecial::erfinv(x)));
}

#define FORMULA(expression) []<class T>([[maybe_unused]] const T& x) -> T { return T(expression); }
constexpr derivative_of_one of_one[] = {
    of("Abs", FORMULA(sign(x)), not_tested{}),
    of("Neg", FORMULA(-1), not_tested{}),
    of("Sign", FORMULA(0), not_tested{}),
    of("Square", FORMULA(2 * x), not_tested{}),
    of("Sqrt", FORMULA(1 / (2 * sqrt(x))), not_tested{}, 0),
    of("Rsqrt", FORMULA(-1 / (2 * x * sqrt(x))), not_tested{}, 0),
    of("Reciprocal", FORMULA(-1 / square(x)), not_tested{}),
    of("Exp", FORMULA(exp(x)), FORMULA(exp(x))),
    of("Exp2", FORMULA(log(T(2)) * exp2(x)), FORMULA(square(log(T(2))) * exp2(x))),
    of("Expm1", FORMULA(exp(x)), FORMULA(exp(x))),
    of("Log", FORMULA(1 / x), FORMULA(-1 / square(x)), 0),
    of("Log2", FORMULA(1 / (x * log(T(2)))), FORMULA(-1 / (square(x) * log(T(2)))), 0),
    of("Log10", FORMULA(1 / (x * log(T(10)))), FORMULA(-1 / (square(x) * log(T(10)))), 0),
    of("Log1p", FORMULA(1 / (1 + x)), not_tested{}, -1),
    of("Cbrt", FORMULA(1 / (3 * square(cbrt(x)))), not_tested{}),
    of("Sin", FORMULA(cos(x)), not_tested{}),
    of("Cos", FORMULA(-sin(x)), not_tested{}),
    of("Tan", FORMULA(1 / square(cos(x))), not_tested{}),
    of("Asin", FORMULA(1 / sqrt(rest(x))), FORMULA(x / (rest(x) * sqrt(rest(x)))), -1, 1),
    of("Acos", FORMULA(-1 / sqrt(rest(x))), FORMULA(-x / (rest(x) * sqrt(rest(x)))), -1, 1),
    of("Atan", FORMULA(1 / (1 + square(x))), not_tested{}),
    of("Sinh", FORMULA(cosh(x)), not_tested{}),
    of("Cosh", FORMULA(sinh(x)), not_tested{}),
    of("Tanh", FORMULA(tanh_slope(x)), FORMULA(tanh_bend(x))),
    of("Asinh", FORMULA(1 / hypot(x, T(1))), FORMULA(-x / cube(hypot(x, T(1))))),
    of("Acosh", FORMULA(1 / (sqrt(x - 1) * sqrt(x + 1))), FORMULA(-x / cube(sqrt(x - 1) * sqrt(x + 1))), 1),
    of("Atanh", FORMULA(1 / rest(x)), FORMULA(2 * x / square(rest(x))), -1, 1),
    of("Erf", FORMULA(2 / sqrt(pi<T>()) * exp(-square(x))), not_tested{}),
    of("Erfc", FORMULA(-2 / sqrt(pi<T>()) * exp(-square(x))), not_tested{}),
    of("Ceil", FORMULA(0), not_tested{}),
    of("Floor", FORMULA(0), not_tested{}),
    of("Round", FORMULA(0), not_tested{}),
    of("Trunc", FORMULA(0), not_tested{}),
    of("Relu", FORMULA(T(0) < x ? 1 : 0), not_tested{}),
    of("Relu6", FORMULA(T(0) < x && !(T(6) < x) ? 1 : 0), not_tested{}),
    of("LeakyRelu", FORMULA(T(0) < x ? 1.0 : 0.2), not_tested{}),
    of("Elu", FORMULA(T(0) < x ? T(1) : T(exp(x))), FORMULA(T(0) < x ? T(0) : T(exp(x)))),
    of("Selu", FORMULA(selu_scale<T>() * (T(0) < x ? T(1) : T(selu_alpha<T>() * exp(x)))),
       FORMULA(T(0) < x ? T(0) : T(selu_scale<T>() * selu_alpha<T>() * exp(x)))),
    of("Gelu", FORMULA(distribution(x) + x * density(x)), FORMULA(density(x) * (2 - square(x)))),
    of("Silu", FORMULA(sigmoid(x) + x * sigmoid_slope(x)), FORMULA(2 * sigmoid_slope(x) + x * sigmoid_bend(x))),
    of("Sigmoid", FORMULA(sigmoid_slope(x)), FORMULA(sigmoid_bend(x))),
    of("Softplus", FORMULA(sigmoid(x)), FORMULA(sigmoid_slope(x))),
    of("Step", FORMULA(0), not_tested{}),
#define SPECIAL(op, expression, ...) \
  of_special(op, [](const number& x) -> number { return expression; } __VA_OPT__(, ) __VA_ARGS__)
    SPECIAL("Lgamma", kgspecial::digamma(x)),
    SPECIAL("Digamma", kgspecial::polygamma(1, x)),
    SPECIAL("Erfinv", erfinv_slope(x), -1, 1),
    SPECIAL("Expi", exp(x) / x),
    SPECIAL("BesselI0", kgspecial::bessel_i(1, x)),
    SPECIAL("BesselI1", bessel_slope(kgspecial::bessel_i(0, x), kgspecial::bessel_i(1, x), x)),
    SPECIAL("BesselJ0", -kgspecial::bessel_j1(x)),
    SPECIAL("BesselJ1", bessel_slope(kgspecial::bessel_j0(x), kgspecial::bessel_j1(x), x)),
    SPECIAL("Polygamma", kgspecial::polygamma(2, x)),
#undef SPECIAL
};
#undef FORMULA

template <class First, class A, class B>
constexpr derivative_of_two of(const char* op, int operand, First, A, B) {
  derivative_of_two d{.op = op,
                      .operand = operand,
                      .first = [](const number& a, const number& b) { return First{}(a, b); },
                      .second_a = nullptr,
                      .second_b = nullptr};
  if constexpr (!std::is_same_v<A, not_tested>) d.second_a = [](const number& a, const number& b) { return A{}(a, b); };
  if constexpr (!std::is_same_v<B, not_tested>) d.second_b = [](const number& a, const number& b) { return B{}(a, b); };
  return d;
}

// The derivative of the beta function for a; NaN where an operand is negative.
number beta_slope(const number& a, const number& b) {
  if (a < number(0) || b < number(0)) return number(std::numeric_limits<double>::quiet_NaN());
  return kgspecial::beta(a, b) * (kgspecial::digamma(a) - kgspecial::digamma(a + b));
}

#define FORMULA(expression) \
  []([[maybe_unused]] const number& a, [[maybe_unused]] const number& b) -> number { return number(expression); }
#define FIRST(op, operand, expression) of(op, operand, FORMULA(expression), not_tested{}, not_tested{})
constexpr derivative_of_two of_two[] = {
    FIRST("Add", 0, 1),
    FIRST("Add", 1, 1),
    FIRST("Sub", 0, 1),
    FIRST("Sub", 1, -1),
    FIRST("Multiply", 0, b),
    FIRST("Multiply", 1, a),
    FIRST("RealDiv", 0, 1 / b),
    FIRST("RealDiv", 1, -a / square(b)),
    FIRST("FloorDiv", 0, 0),
    FIRST("FloorDiv", 1, 0),
    FIRST("Mod", 0, 1),
    FIRST("Mod", 1, -floor(a / b)),
    FIRST("Fmod", 0, 1),
    FIRST("Fmod", 1, -trunc(a / b)),
    FIRST("Copysign", 0, sign(a) * sign(b)),
    FIRST("Copysign", 1, 0),
    FIRST("Maximum", 0, a < b ? 0 : 1),
    FIRST("Maximum", 1, a < b ? 1 : 0),
    FIRST("Minimum", 0, b < a ? 0 : 1),
    FIRST("Minimum", 1, b < a ? 1 : 0),
    FIRST("SquaredDifference", 0, 2 * (a - b)),
    FIRST("SquaredDifference", 1, 2 * (b - a)),
    FIRST("Pow", 0, b* pow(a, b - 1)),
    FIRST("Pow", 1, pow(a, b) * log(a)),
    of("Atan2", 0, FORMULA(b / (square(a) + square(b))), FORMULA(-2 * a * b / square(square(a) + square(b))),
       FORMULA((a - b) * (a + b) / square(square(a) + square(b)))),
    of("Atan2", 1, FORMULA(-a / (square(a) + square(b))), FORMULA((a - b) * (a + b) / square(square(a) + square(b))),
       FORMULA(2 * a * b / square(square(a) + square(b)))),
    FIRST("Hypot", 0, a / hypot(a, b)),
    FIRST("Hypot", 1, b / hypot(a, b)),
    FIRST("Xlogy", 0, log(b)),
    FIRST("Xlogy", 1, a / b),
    FIRST("Prelu", 0, number(0) < a ? number(1) : b),
    FIRST("Prelu", 1, number(0) < a ? number(0) : a),
    FIRST("ReluGrad", 0, number(0) < b ? 1 : 0),
    FIRST("ReluGrad", 1, 0),
    FIRST("EluGrad", 0, number(0) < b ? number(1) : b + 1),
    FIRST("EluGrad", 1, b < number(0) ? a : number(0)),
    FIRST("SigmoidGrad", 0, sigmoid_slope(b)),
    FIRST("SigmoidGrad", 1, a* sigmoid_bend(b)),
    FIRST("TanhGrad", 0, tanh_slope(b)),
    FIRST("TanhGrad", 1, a* tanh_bend(b)),
    FIRST("Beta", 0, beta_slope(a, b)),
    FIRST("Beta", 1, beta_slope(b, a)),
};
#undef FIRST
#undef FORMULA

}  // namespace

const std::span<const derivative_of_one> derivatives_of_one = of_one;
const std::span<const derivative_of_two> derivatives_of_two = of_two;

}  // namespace kgaccuracy
