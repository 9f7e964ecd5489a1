// SPDX-License-Identifier: Apache-2.0
// Rows of the conversions between dtypes, and between complex numbers and their parts.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_convert;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :rows;

namespace kerngrad::rows {

inline constexpr operand real_imag[] = {{"real", wide_floats}, {"imag", wide_floats}};
inline constexpr operand input_complex[] = {{"input", complex_only}};
inline constexpr operand x_complex[] = {{"x", complex_only}};

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

inline constexpr op_row convert_rows[] = {
    {.name = "Cast",
     .doc = "The same values in another dtype: floats truncate towards 0, saturate, and NaN gives 0; integers wrap; a "
            "complex number gives its real part; to bool is x != 0, of either part.",
     .group = family::convert,
     .operands = x_any,
     .attrs = attributes::cast,
     .types = {lift::none, result::attribute},
     .infer = shapes::cast,
     .convention = convention::cast},
    convert_row("Complex", "Complex numbers from real and imaginary parts.", real_imag, result::pair),
    convert_row("Real", "The real parts.", input_complex, result::part),
    convert_row("Imag", "The imaginary parts.", input_complex, result::part),
    convert_row("ComplexAbs", "The absolute value, without overflow on the way. Gradient at 0: 0.", x_complex,
                result::part) |
        with{.roots = 1},
};

}  // namespace kerngrad::rows
