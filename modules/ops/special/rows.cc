// SPDX-License-Identifier: Apache-2.0
// Rows of the special functions. Bounds of their errors: kernels/special/accuracy.h.
module;
#include "kernels/common/abi.h"
#include "kernels/special/functions.h"
export module kerngrad:rows_special;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes;
import :rows;

namespace kerngrad::launch {
void betainc(const launch_call&);
}

namespace kerngrad::attributes {

inline constexpr attr_spec polygamma[] = {{.name = "n",
                                           .kind = attr_kind::integer,
                                           .doc = "order of the derivative",
                                           .required = true,
                                           .least = 0,
                                           .most = kernels::most_polygamma}};

}  // namespace kerngrad::attributes

namespace kerngrad::rows {

inline constexpr operand positive_ab[] = {{"a", real_or_bool}, {"b", real_or_bool}};
inline constexpr operand order_x[] = {{"a", real_or_bool}, {"x", real_or_bool}};
inline constexpr operand ab_x[] = {{"a", real_or_bool}, {"b", real_or_bool}, {"x", real_or_bool}};

consteval op_row function_row(std::string_view name, std::string_view doc, double cost) {
  return {.name = name,
          .doc = doc,
          .group = family::special,
          .operands = x_real,
          .types = floats,
          .infer = shapes::same,
          .convention = convention::unary,
          .in_place = true,
          .cost = cost};
}
consteval op_row pair_row(std::string_view name, std::string_view doc, std::span<const operand> operands) {
  return {.name = name,
          .doc = doc,
          .group = family::special,
          .operands = operands,
          .types = floats,
          .infer = shapes::broadcasted,
          .convention = convention::binary,
          .in_place = true,
          .cost = 400};
}
consteval op_row polygamma_row() {
  op_row row = function_row("Polygamma",
                            "Derivative number n of digamma, n from 0 to 100. At 0 and for odd n at negative integers "
                            "it is infinite, for even n NaN there. Gradient: polygamma(n + 1, x); n = 100 has none.",
                            200);
  row.attrs = attributes::polygamma;
  row.domain = {{0.5, 4}};
  return row;
}
/// Reason for the missing gradient rules. The typed functions (modules/composed/special.cc) have a gradient for x.
inline constexpr std::string_view no_order_gradient =
    "the derivative for the orders has no closed form; the typed "
    "function has a gradient for x";

inline constexpr op_row special_rows[] = {
    function_row(
        "Lgamma",
        "The logarithm of |gamma(x)|; infinity at 0 and at negative integers. Near its zeros below 0, float64 has "
        "a larger relative error. Gradient: digamma(x).",
        60) |
        with{.domain = {{0.5, 4}}},
    function_row(
        "Digamma",
        "The derivative of lgamma; infinite at 0, NaN at negative integers. Gradient: polygamma(1, x), infinite there.",
        60) |
        with{.domain = {{0.5, 4}}},
    function_row("Erfinv", "The y with erf(y) = x; infinite at -1 and 1, NaN outside. Gradient: infinity at -1 and 1.",
                 50) |
        with{.domain = {{-0.8, 0.8}}},
    function_row("Expi", "The exponential integral Ei(x); -infinity at 0. Gradient: exp(x) / x, infinite at 0.", 70) |
        with{.domain = {{0.5, 3}}},
    function_row("BesselI0", "The modified Bessel function of order 0. Gradient: i1(x).", 50),
    function_row("BesselI1", "The modified Bessel function of order 1. Gradient: i0(x) - i1(x) / x, 1/2 at 0.", 50),
    function_row("BesselJ0", "The Bessel function of order 0, for every finite x; 0 at infinity. Gradient: -j1(x).",
                 70),
    function_row(
        "BesselJ1",
        "The Bessel function of order 1, for every finite x; 0 at infinity. Gradient: j0(x) - j1(x) / x, 1/2 at 0.",
        70),
    polygamma_row(),
    pair_row(
        "Beta",
        "gamma(a) gamma(b) / gamma(a + b) for a, b >= 0; infinite where one is 0, NaN below. Gradient: in float64 it "
        "loses digits where the other operand is much smaller.",
        positive_ab) |
        with{.domain = {{0.5, 4}, {0.5, 4}}},
    without_gradient(
        pair_row("Gammainc", "The regularized lower incomplete gamma function of a > 0 and x >= 0; NaN below.",
                 order_x),
        no_order_gradient) |
        with{.domain = {{0.5, 4}, {0.5, 4}}},
    without_gradient(pair_row("Gammaincc", "1 - gammainc(a, x), without its cancellation.", order_x),
                     no_order_gradient) |
        with{.domain = {{0.5, 4}, {0.5, 4}}},
    {.name = "Betainc",
     .doc = "The regularized incomplete beta function of a, b > 0 and x from 0 to 1; NaN outside.",
     .group = family::special,
     .operands = ab_x,
     .types = floats,
     .infer = shapes::broadcasted,
     .launch = launch::betainc,
     .no_gradient = no_order_gradient,
     .domain = {{0.1, 0.9}, {0.1, 0.9}},
     .cost = 800},
};

}  // namespace kerngrad::rows
