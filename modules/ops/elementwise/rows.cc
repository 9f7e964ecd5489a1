// SPDX-License-Identifier: Apache-2.0
// Rows of the elementwise ops: of one operand, activations among them, of two, and the choice between two.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_elementwise;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :rows;

namespace kerngrad::rows {

inline constexpr operand ab_arithmetic[] = {{"a", arithmetic}, {"b", arithmetic}};
inline constexpr operand ab_equal[] = {{"a", arithmetic | text_only}, {"b", arithmetic | text_only}};
inline constexpr operand ab_ordered[] = {{"a", real_or_bool | text_only}, {"b", real_or_bool | text_only}};
inline constexpr operand ab_real[] = {{"a", real_or_bool}, {"b", real_or_bool}};
inline constexpr operand x_integral[] = {{"x", integral}};
inline constexpr operand ab_integral[] = {{"a", integral}, {"b", integral}};
inline constexpr dtype_set shifted = only(dtype::int32) | only(dtype::int64);
inline constexpr operand ab_shifted[] = {{"a", shifted}, {"b", shifted}};
inline constexpr operand ab_boolean[] = {{"a", boolean_only}, {"b", boolean_only}};
inline constexpr operand x_alpha[] = {{"x", real_or_bool}, {"alpha", real_or_bool}};
inline constexpr operand dy_y[] = {{"dy", floating}, {"y", floating}};
inline constexpr operand dy_x[] = {{"dy", floating}, {"x", floating}};
inline constexpr operand list_arithmetic[] = {{.name = "tensors", .types = arithmetic, .list = true}};
inline constexpr operand condition_t_e[] = {
    {"condition", boolean_only, role::own}, {"t", any_element}, {"e", any_element}};

consteval op_row unary_row(std::string_view name, std::string_view doc, double cost = 1,
                           std::span<const attr_spec> attrs = {}) {
  return {.name = name,
          .doc = doc,
          .group = family::elementwise,
          .operands = x_real,
          .attrs = attrs,
          .types = floats,
          .infer = shapes::same,
          .convention = convention::unary,
          .in_place = true,
          .cost = cost};
}
/// A row of an op that keeps integers as they are; bool becomes int32.
consteval op_row number_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs = {}) {
  op_row row = unary_row(name, doc, 1, attrs);
  row.operands = x_real;
  row.types = numbers;
  return row;
}
/// A row of an op whose results may be negative; bool and uint8 become int32.
consteval op_row signed_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs = {}) {
  op_row row = number_row(name, doc, attrs);
  row.types = signed_numbers;
  return row;
}
/// A row of an op on the bits of integers.
consteval op_row integral_row(std::string_view name, std::string_view doc) {
  op_row row = number_row(name, doc);
  row.operands = x_integral;
  row.types = unchanged;
  return row;
}
consteval op_row clip_row(std::string_view name, std::string_view doc) {
  op_row row = number_row(name, doc, attributes::clip);
  row.infer = shapes::clip;
  return row;
}
consteval op_row complex_row(std::string_view name, std::string_view doc, type_rule types) {
  op_row row = number_row(name, doc);
  row.operands = x_arithmetic;
  row.types = types;
  return row;
}
/// A row of a function of floats and of complex numbers.
consteval op_row analytic_row(std::string_view name, std::string_view doc, double cost = 1) {
  op_row row = unary_row(name, doc, cost);
  row.operands = x_arithmetic;
  return row;
}
consteval op_row boolean_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                             type_rule types) {
  op_row row = unary_row(name, doc);
  row.operands = operands;
  row.types = types;
  row.in_place = false;
  row.no_gradient = "the result is boolean";
  return row;
}

consteval op_row binary_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                            type_rule types, double cost = 1) {
  return {.name = name,
          .doc = doc,
          .group = family::elementwise,
          .operands = operands,
          .types = types,
          .infer = shapes::broadcasted,
          .convention = convention::binary,
          .in_place = true,
          .cost = cost};
}
consteval op_row comparison_row(std::string_view name, std::string_view doc, std::span<const operand> operands) {
  op_row row = binary_row(name, doc, operands, booleans);
  row.no_gradient = "the result is boolean";
  row.in_place = false;
  return row;
}

inline constexpr op_row elementwise_rows[] = {
    on_numbers(signed_row("Abs", "|x|; the smallest integer wraps to itself. Gradient: dy * sign(x), 0 at 0."),
               [](auto a) { return libm::fabs(a); }),
    on_numbers(complex_row("Neg", "-x; integers wrap.", signed_numbers), [](auto a) { return -a; }),
    signed_row("Sign", "-1, 0 or 1; 0 for NaN. Gradient: 0."),
    on_numbers(complex_row("Square", "x * x; integers wrap.", numbers), [](auto a) { return a * a; }),
    on_numbers(analytic_row("Sqrt",
                            "The square root; NaN below 0. A complex root lies right of the imaginary axis, cut along "
                            "the negative numbers. Gradient: infinity at 0.",
                            4),
               [](auto a) { return libm::sqrt(a); }) |
        with{.domain = {{0.2, 3}}, .roots = 1},
    unary_row("Rsqrt", "1 / sqrt(x); infinity at 0.", 6) | with{.domain = {{0.5, 3}}, .quotients = 1, .roots = 1},
    on_numbers(analytic_row("Reciprocal", "1 / x; infinity at 0.", 4), [](auto a) { return 1 / a; }) |
        with{.domain = {{0.5, 3}}, .quotients = 1},
    on_numbers(analytic_row("Exp", "e to the power x.", 10), [](auto a) { return libm::exp(a); }),
    unary_row("Exp2", "2 to the power x; exact for integers.", 10),
    unary_row("Expm1", "exp(x) - 1, accurate near 0.", 14),
    on_numbers(analytic_row("Log",
                            "The natural logarithm; -infinity at 0, NaN below. The angle of complex numbers is in "
                            "[-pi, pi], cut along the negative numbers.",
                            12),
               [](auto a) { return libm::log(a); }) |
        with{.domain = {{0.5, 3}}},
    unary_row("Log2", "The logarithm to the base 2, exact for powers of 2; -infinity at 0, NaN below.", 14) |
        with{.domain = {{0.5, 3}}},
    unary_row("Log10", "The logarithm to the base 10; -infinity at 0, NaN below.", 14) | with{.domain = {{0.5, 3}}},
    unary_row("Log1p", "log(1 + x), accurate near 0.", 14) | with{.domain = {{-0.5, 2}}},
    unary_row("Cbrt", "The cube root, with the sign of x. Gradient: infinity at 0.", 20) | with{.domain = {{0.5, 3}}},
    on_numbers(analytic_row("Sin", "The sine of x radians, for every finite x.", 14),
               [](auto a) { return libm::sin(a); }),
    on_numbers(analytic_row("Cos", "The cosine of x radians, for every finite x.", 14),
               [](auto a) { return libm::cos(a); }),
    on_numbers(analytic_row("Tan", "The tangent of x radians, for every finite x.", 18),
               [](auto a) { return libm::tan(a); }) |
        with{.domain = {{-1, 1}}},
    unary_row("Asin", "The arc sine; NaN outside [-1, 1]. Gradient: infinity at -1 and 1.", 16) |
        with{.domain = {{-0.5, 0.5}}},
    unary_row("Acos", "The arc cosine; NaN outside [-1, 1]. Gradient: -infinity at -1 and 1.", 16) |
        with{.domain = {{-0.5, 0.5}}},
    unary_row("Atan", "The arc tangent.", 16),
    analytic_row("Sinh", "The hyperbolic sine.", 16),
    analytic_row("Cosh", "The hyperbolic cosine.", 16),
    on_numbers(
        analytic_row("Tanh", "The hyperbolic tangent. Gradient: TanhGrad of x, which is kept in place of y.", 14),
        [](auto a) { return libm::tanh(a); }),
    unary_row("Asinh", "The inverse hyperbolic sine.", 20),
    unary_row("Acosh", "The inverse hyperbolic cosine; NaN below 1. Gradient: infinity at 1.", 20) |
        with{.domain = {{1.5, 4}}},
    unary_row("Atanh", "The inverse hyperbolic tangent; NaN outside [-1, 1]. Gradient: infinity at -1 and 1.", 20) |
        with{.domain = {{-0.5, 0.5}}},
    on_numbers(unary_row("Erf", "The error function.", 16), [](auto a) { return libm::erf(a); }),
    unary_row("Erfc", "1 - erf(x), without its cancellation.", 24),
    number_row("Ceil", "The smallest integer not below x; integers stay. Gradient: 0."),
    number_row("Floor", "The largest integer not above x; integers stay. Gradient: 0."),
    number_row("Round", "The nearest integer, halves to even; integers stay. Gradient: 0."),
    number_row("Trunc", "The nearest integer towards 0; integers stay. Gradient: 0."),
    without_gradient(integral_row("BitwiseNot", "Inverts every bit: -1 - x, or 255 - x for uint8."),
                     "integers have no gradient"),
    on_numbers(number_row("Relu", "max(x, 0); NaN stays NaN. Gradient: 0 at 0."),
               [](auto a) { return a > 0 || a != a ? a : 0; }),
    number_row("Relu6", "min(max(x, 0), 6); NaN stays NaN. Gradient: 0 at 0, dy at 6.") | with{.domain = {{-2, 8}}},
    unary_row("LeakyRelu", "x, or alpha * x below 0. Gradient at 0: that of the negative side.", 2, attributes::leaky),
    unary_row("Elu", "x, or exp(x) - 1 below 0.", 15),
    unary_row("Selu",
              "scale * x, or scale * alpha * (exp(x) - 1) below 0 (Klambauer et al. 2017). Gradient at 0: that of the "
              "negative side.",
              16),
    unary_row("Gelu", "x * (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel 2016).", 20),
    unary_row("Silu", "x * sigmoid(x).", 16),
    on_numbers(unary_row("Sigmoid", "1 / (1 + exp(-x)). Gradient: SigmoidGrad of x, which is kept in place of y.", 14),
               [](auto a) { return 1 / (1 + libm::exp(-a)); }),
    unary_row("Softplus", "log(1 + exp(x)), accurate in both tails.", 24),
    signed_row("Step", "1 above 0, else alpha; NaN stays NaN. Gradient: 0.", attributes::step),
    clip_row("ClipByValue",
             "x limited to the two bounds, for integers to those between them; NaN stays NaN, and a bound that is NaN "
             "gives NaN. Gradient: dy on the bounds, 0 outside.") |
        with{.domain = {{-1, 2}}},
    on_numbers(boolean_row("IsNan", "True if x is not a number.", x_real, booleans_of_floats),
               [](auto a) { return __builtin_isnan(a); }),
    on_numbers(boolean_row("IsInf", "True if x is an infinity.", x_real, booleans_of_floats),
               [](auto a) { return __builtin_isinf(a); }),
    on_numbers(boolean_row("IsFinite", "True if x is neither NaN nor an infinity.", x_real, booleans_of_floats),
               [](auto a) { return __builtin_isfinite(a); }),
    on_numbers(boolean_row("LogicalNot", "True if x is false.", x_boolean, booleans), [](auto a) { return a == 0; }),
    on_numbers(binary_row("Add", "a + b; integers wrap.", ab_arithmetic, numbers),
               [](auto a, auto b) { return a + b; }),
    on_numbers(binary_row("Sub", "a - b; integers wrap.", ab_arithmetic, numbers),
               [](auto a, auto b) { return a - b; }),
    on_numbers(binary_row("Multiply", "a * b; integers wrap.", ab_arithmetic, numbers),
               [](auto a, auto b) { return a * b; }),
    on_numbers(
        binary_row("RealDiv", "a / b; integers are divided in a float that holds them.", ab_arithmetic, quotients, 4),
        [](auto a, auto b) { return a / b; }) |
        with{.domain = {{-2, 2}, {1, 3}}, .quotients = 1},
    binary_row("FloorDiv",
               "floor(a / b) of the exact quotient, so that it and Mod give a: a = floor(a / b) * b + mod; beyond 2^24 "
               "of float32 and 2^53 of float64 the rounded quotient. An integer divided by 0 gives 0, the smallest by "
               "-1 wraps. Gradient: 0.",
               ab_real, numbers, 8) |
        with{.domain = {{-4, 4}, {1, 3}}, .kinks = kink::whole_quotients, .quotients = 1},
    binary_row(
        "Mod",
        "a - b * floor(a / b), exact, with the sign of b; an integer modulo 0 gives 0. Gradient for b: -floor(a / b), "
        "at jumps too.",
        ab_real, numbers, 8) |
        with{.domain = {{-4, 4}, {1, 3}}, .kinks = kink::whole_quotients, .quotients = 1},
    binary_row(
        "Fmod",
        "a - b * trunc(a / b), exact, with the sign of a; an integer by 0 gives 0. Gradient for b: -trunc(a / b), at "
        "jumps too.",
        ab_real, numbers, 8) |
        with{.domain = {{-4, 4}, {1, 3}}, .kinks = kink::whole_quotients, .quotients = 1},
    binary_row("Copysign", "|a| with the sign of b, of zeros and NaN too. Gradient for a: 0 at 0, for b: 0.", ab_real,
               floats),
    on_numbers(binary_row("Maximum", "The larger one; NaN when either is. Gradient: equal operands give dy to a.",
                          ab_real, unchanged),
               [](auto a, auto b) { return a > b || a != a ? a : b; }),
    on_numbers(binary_row("Minimum", "The smaller one; NaN when either is. Gradient: equal operands give dy to a.",
                          ab_real, unchanged),
               [](auto a, auto b) { return a < b || a != a ? a : b; }),
    on_numbers(binary_row("SquaredDifference", "(a - b)^2; integers wrap.", ab_real, numbers, 2),
               [](auto a, auto b) { return (a - b) * (a - b); }),
    on_numbers(binary_row("Pow",
                          "a to the power b; integer powers wrap, negative ones truncate. Complex powers are "
                          "exp(b log a). Gradient for a: 0 where b is 0 and 1 / a is infinite; for b: 0 where a <= 0, "
                          "and where a complex a is 0.",
                          ab_arithmetic, signed_numbers, 40),
               [](auto a, auto b) { return libm::pow(a, b); }) |
        with{.domain = {{0.5, 2}, {-2, 2}}},
    on_numbers(binary_row("Atan2", "The angle of the point (b, a) in (-pi, pi]. Gradient: NaN at (0, 0).", ab_real,
                          floats, 20),
               [](auto a, auto b) { return libm::atan2(a, b); }) |
        with{.domain = {{0.5, 2}, {-2, 2}}},
    binary_row("Hypot",
               "sqrt(a^2 + b^2) without overflow on the way; infinite where one is, even if the other is NaN. "
               "Gradient: 0 at 0.",
               ab_real, floats, 8) |
        with{.domain = {{0.5, 2}, {-2, 2}}, .roots = 1},
    binary_row("Xlogy", "a * log(b), and 0 where a is 0, unless b is NaN. Gradient for a: 0 where a is 0 and b <= 0.",
               ab_real, floats, 14) |
        with{.domain = {{-2, 2}, {0.5, 2}}},
    binary_row("Prelu", "x, or alpha * x below 0. Gradient at 0: that of the negative side.", x_alpha, floats, 2),
    on_numbers(binary_row("ReluGrad", "dy where y > 0, else 0: the gradient of Relu from its result.", dy_y, unchanged),
               [](auto a, auto b) { return b > 0 ? a : 0; }),
    binary_row("EluGrad", "dy, or dy * (y + 1) below 0: the gradient of Elu from its result.", dy_y, unchanged, 2) |
        with{.domain = {{-2, 2}, {-0.5, 1}}},
    on_numbers(binary_row("SigmoidGrad",
                          "dy * s * (1 - s) with s = sigmoid(x): the gradient of Sigmoid from its operand, accurate "
                          "where s rounds to 1.",
                          dy_x, unchanged, 16),
               [](auto a, auto b) {
                 const auto e = libm::exp(-libm::fabs(b));
                 return a * (e / ((1 + e) * (1 + e)));
               }),
    on_numbers(binary_row("TanhGrad",
                          "dy * (1 - tanh(x)^2): the gradient of Tanh from its operand, accurate where tanh(x) rounds "
                          "to 1.",
                          dy_x, unchanged, 16),
               [](auto a, auto b) {
                 const auto e = libm::exp(-2 * libm::fabs(b));
                 return a * (4 * e / ((1 + e) * (1 + e)));
               }),
    without_gradient(binary_row("BitwiseAnd", "The bits set in both.", ab_integral, unchanged),
                     "integers have no gradient"),
    without_gradient(binary_row("BitwiseOr", "The bits set in one or both.", ab_integral, unchanged),
                     "integers have no gradient"),
    without_gradient(binary_row("BitwiseXor", "The bits set in exactly one.", ab_integral, unchanged),
                     "integers have no gradient"),
    without_gradient(
        binary_row("LeftShift", "a * 2^b, cut to the dtype; 0 where b is negative or all bits are shifted.", ab_shifted,
                   unchanged),
        "integers have no gradient"),
    without_gradient(binary_row("RightShift",
                                "floor(a / 2^b); -1 or 0, as the sign is, where b is negative or all bits are shifted.",
                                ab_shifted, unchanged),
                     "integers have no gradient"),
    on_numbers(without_gradient(binary_row("LogicalAnd", "True if both are true.", ab_boolean, unchanged),
                                "the result is boolean"),
               [](auto a, auto b) { return a != 0 && b != 0; }),
    on_numbers(without_gradient(binary_row("LogicalOr", "True if at least one is true.", ab_boolean, unchanged),
                                "the result is boolean"),
               [](auto a, auto b) { return a != 0 || b != 0; }),
    on_numbers(without_gradient(binary_row("LogicalXor", "True if exactly one is true.", ab_boolean, unchanged),
                                "the result is boolean"),
               [](auto a, auto b) { return (a != 0) != (b != 0); }),
    on_numbers(comparison_row("Equal", "True if a = b; false for NaN.", ab_equal),
               [](auto a, auto b) { return a == b; }),
    on_numbers(comparison_row("NotEqual", "True if a differs from b; true for NaN.", ab_equal),
               [](auto a, auto b) { return a != b; }),
    on_numbers(comparison_row("Greater", "True if a > b; false for NaN. Texts compare by their bytes.", ab_ordered),
               [](auto a, auto b) { return a > b; }),
    on_numbers(comparison_row("GreaterEqual", "True if a >= b; false for NaN.", ab_ordered),
               [](auto a, auto b) { return a >= b; }),
    on_numbers(comparison_row("Less", "True if a < b; false for NaN.", ab_ordered),
               [](auto a, auto b) { return a < b; }),
    on_numbers(comparison_row("LessEqual", "True if a <= b; false for NaN.", ab_ordered),
               [](auto a, auto b) { return a <= b; }),
    {.name = "AddN",
     .doc = "The sum of a list of tensors of one shape.",
     .group = family::elementwise,
     .operands = list_arithmetic,
     .types = numbers,
     .infer = shapes::all_equal,
     .convention = convention::add_n,
     .kernel = "Add"},
    {.name = "Select",
     .doc = "t where the condition holds, else e.",
     .group = family::elementwise,
     .operands = condition_t_e,
     .infer = shapes::broadcasted,
     .convention = convention::select,
     .scalar = scalar_of([](auto a, auto b, auto c) { return a != 0 ? b : c; })},
};

}  // namespace kerngrad::rows
