// SPDX-License-Identifier: Apache-2.0
// Rows of the elementwise ops of two and three operands, and of the conversions between dtypes.
module;
#include "kernels/abi.h"
export module kerngrad:rows_binary;

import :std;
import :core;
import :op;
import :scalar;
import :attributes;
import :shapes;
import :rows_unary;

namespace kerngrad::rows {

inline constexpr operand ab_arithmetic[] = {{"a", arithmetic}, {"b", arithmetic}};
inline constexpr operand ab_real[] = {{"a", real_or_bool}, {"b", real_or_bool}};
inline constexpr operand ab_integral[] = {{"a", only(dtype::int32) | only(dtype::int64)},
                                          {"b", only(dtype::int32) | only(dtype::int64)}};
inline constexpr operand ab_boolean[] = {{"a", boolean_only}, {"b", boolean_only}};
inline constexpr operand x_alpha[] = {{"x", real_or_bool}, {"alpha", real_or_bool}};
inline constexpr operand dy_y[] = {{"dy", floating}, {"y", floating}};
inline constexpr operand list_arithmetic[] = {{.name = "tensors", .types = arithmetic, .list = true}};
inline constexpr operand condition_t_e[] = {{"condition", boolean_only, role::own}, {"t", any_dtype}, {"e", any_dtype}};
inline constexpr operand real_imag[] = {{"real", only(dtype::float32)}, {"imag", only(dtype::float32)}};
inline constexpr operand input_complex[] = {{"input", complex_only}};
inline constexpr operand x_complex[] = {{"x", complex_only}};

consteval op_row binary_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                            type_rule types, double cost = 1) {
  return {.name = name,
          .doc = doc,
          .group = family::binary,
          .operands = operands,
          .types = types,
          .infer = shapes::broadcasted,
          .convention = convention::binary,
          .in_place = true,
          .cost = cost};
}
consteval op_row comparison_row(std::string_view name, std::string_view doc, std::span<const operand> operands) {
  op_row row = binary_row(name, doc, operands, truths);
  row.no_gradient = "the result is boolean";
  row.in_place = false;
  return row;
}
consteval op_row convert_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                             result after) {
  return {.name = name,
          .doc = doc,
          .group = family::convert,
          .operands = operands,
          .types = {lift::none, after},
          .infer = shapes::all_equal,
          .convention = convention::convert};
}

inline constexpr op_row binary_rows[] = {
    on_numbers(binary_row("Add", "a + b; integers wrap.", ab_arithmetic, numbers),
               [](auto a, auto b) { return a + b; }),
    on_numbers(binary_row("Sub", "a - b; integers wrap.", ab_arithmetic, numbers),
               [](auto a, auto b) { return a - b; }),
    on_numbers(binary_row("Multiply", "a * b; integers wrap.", ab_arithmetic, numbers),
               [](auto a, auto b) { return a * b; }),
    on_numbers(binary_row("RealDiv", "a / b; integers are divided as float32.", ab_arithmetic, floats, 4),
               [](auto a, auto b) { return a / b; }),
    binary_row("FloorDiv", "floor(a / b); an integer divided by 0 gives 0, the smallest by -1 wraps. Gradient: 0.",
               ab_real, numbers, 6),
    binary_row("Mod", "a - b * floor(a / b), exact, with the sign of b; an integer modulo 0 gives 0.", ab_real, numbers,
               8),
    on_numbers(binary_row("Maximum", "The larger one; NaN when either is. Gradient: equal operands give dy to a.",
                          ab_real, unchanged),
               [](auto a, auto b) { return a > b || a != a ? a : b; }),
    on_numbers(binary_row("Minimum", "The smaller one; NaN when either is. Gradient: equal operands give dy to a.",
                          ab_real, unchanged),
               [](auto a, auto b) { return a < b || a != a ? a : b; }),
    on_numbers(binary_row("SquaredDifference", "(a - b)^2; integers wrap.", ab_real, numbers, 2),
               [](auto a, auto b) { return (a - b) * (a - b); }),
    on_numbers(
        binary_row("Pow",
                   "a to the power b; integer powers wrap, negative ones truncate. Gradient for b: 0 where a <= 0.",
                   ab_real, signed_numbers, 40),
        [](auto a, auto b) { return libm::pow(a, b); }),
    on_numbers(binary_row("Atan2", "The angle of the point (b, a) in (-pi, pi].", ab_real, floats, 20),
               [](auto a, auto b) { return libm::atan2(a, b); }),
    binary_row("Prelu", "x, or alpha * x below 0. Gradient at 0: that of the negative side.", x_alpha, floats, 2),
    on_numbers(binary_row("ReluGrad", "dy where y > 0, else 0: the gradient of Relu from its result.", dy_y, unchanged),
               [](auto a, auto b) { return b > 0 ? a : 0; }),
    binary_row("EluGrad", "dy, or dy * (y + 1) below 0: the gradient of Elu from its result.", dy_y, unchanged, 2),
    without_gradient(binary_row("BitwiseAnd", "The bits set in both.", ab_integral, unchanged),
                     "integers have no gradient"),
    on_numbers(without_gradient(binary_row("LogicalAnd", "Whether both are true.", ab_boolean, unchanged),
                                "the result is boolean"),
               [](auto a, auto b) { return a != 0 && b != 0; }),
    on_numbers(without_gradient(binary_row("LogicalOr", "Whether one is true.", ab_boolean, unchanged),
                                "the result is boolean"),
               [](auto a, auto b) { return a != 0 || b != 0; }),
    on_numbers(without_gradient(binary_row("LogicalXor", "Whether exactly one is true.", ab_boolean, unchanged),
                                "the result is boolean"),
               [](auto a, auto b) { return (a != 0) != (b != 0); }),
    on_numbers(comparison_row("Equal", "Whether a = b; false for NaN.", ab_arithmetic),
               [](auto a, auto b) { return a == b; }),
    on_numbers(comparison_row("NotEqual", "Whether a differs from b; true for NaN.", ab_arithmetic),
               [](auto a, auto b) { return a != b; }),
    on_numbers(comparison_row("Greater", "Whether a > b; false for NaN.", ab_real),
               [](auto a, auto b) { return a > b; }),
    on_numbers(comparison_row("GreaterEqual", "Whether a >= b; false for NaN.", ab_real),
               [](auto a, auto b) { return a >= b; }),
    on_numbers(comparison_row("Less", "Whether a < b; false for NaN.", ab_real), [](auto a, auto b) { return a < b; }),
    on_numbers(comparison_row("LessEqual", "Whether a <= b; false for NaN.", ab_real),
               [](auto a, auto b) { return a <= b; }),
    {.name = "AddN",
     .doc = "The sum of a list of tensors of one shape.",
     .group = family::binary,
     .operands = list_arithmetic,
     .types = numbers,
     .infer = shapes::all_equal,
     .convention = convention::add_n,
     .kernel = "Add"},
};

inline constexpr op_row convert_rows[] = {
    {.name = "Select",
     .doc = "t where the condition holds, else e.",
     .group = family::select,
     .operands = condition_t_e,
     .infer = shapes::broadcasted,
     .convention = convention::select,
     .scalar = scalar_of([](auto a, auto b, auto c) { return a != 0 ? b : c; })},
    {.name = "Cast",
     .doc = "The same values in another dtype: floats truncate towards 0, saturate, and NaN gives 0; integers wrap; a "
            "complex number gives its real part; to bool is x != 0, of either part.",
     .group = family::convert,
     .operands = x_any,
     .attrs = attributes::cast,
     .types = {lift::none, result::attribute},
     .infer = shapes::cast,
     .convention = convention::cast},
    convert_row("Complex", "Complex numbers from real and imaginary parts.", real_imag, result::complex64),
    convert_row("Real", "The real parts.", input_complex, result::float32),
    convert_row("Imag", "The imaginary parts.", input_complex, result::float32),
    convert_row("ComplexAbs", "The absolute value, without overflow on the way. Gradient at 0: 0.", x_complex,
                result::float32),
};

}  // namespace kerngrad::rows
