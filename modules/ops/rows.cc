// SPDX-License-Identifier: Apache-2.0
// Parts of the rows of several families: operands, result dtype rules, changes of a row.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows;

import :std;
import :core;
import :op;
import :scalar;

namespace kerngrad::rows {

// A span's question about a pointer leaves a hundred instances of traits. They are here, not in each unit of rows.
static_assert(std::contiguous_iterator<const operand*> && std::contiguous_iterator<const attr_spec*> &&
              std::contiguous_iterator<const result_spec*>);

inline constexpr operand x_real[] = {{"x", real_or_bool}};
inline constexpr operand x_any[] = {{"x", any_dtype}};
inline constexpr operand x_element[] = {{"x", any_element}};
/// The dtypes that are added and multiplied.
inline constexpr dtype_set arithmetic = real_or_bool | complex_only;
inline constexpr operand x_arithmetic[] = {{"x", arithmetic}};
inline constexpr operand x_boolean[] = {{"x", boolean_only}};

// The ways in which dtypes go through: they stay, integers become float32, or the float that holds them, bool becomes
// int32, bool and uint8 do, bool becomes int32 and integers other than int32 become int64, or the result is boolean.
inline constexpr type_rule unchanged{};
inline constexpr type_rule floats{.before = lift::floats};
inline constexpr type_rule quotients{.before = lift::quotients};
inline constexpr type_rule numbers{.before = lift::integers};
inline constexpr type_rule signed_numbers{.before = lift::signs};
inline constexpr type_rule totals{.before = lift::totals};
inline constexpr type_rule booleans{.after = result::boolean};
inline constexpr type_rule booleans_of_floats{.before = lift::floats, .after = result::boolean};

consteval op_row without_gradient(op_row row, std::string_view reason) {
  row.no_gradient = reason;
  return row;
}
/// Facts that the rows of a family do not share: `row | with{.roots = 1}`.
struct with {
  std::string_view forward{};
  kerngrad::domain domain{};
  kink kinks = kink::none;
  double cost = -1;  ///< -1 keeps the cost of the row
  std::uint8_t quotients = 0, roots = 0;
};
consteval op_row operator|(op_row row, const with& facts) {
  row.forward = facts.forward;
  row.domain = facts.domain;
  if (facts.kinks != kink::none) row.kinks = facts.kinks;
  if (facts.cost >= 0) row.cost = facts.cost;
  row.quotients = facts.quotients;
  row.roots = facts.roots;
  return row;
}
/// The row with a scalar form, made from a lambda.
template <class F>
consteval op_row on_numbers(op_row row, F form) {
  row.scalar = scalar_of(form);
  return row;
}

}  // namespace kerngrad::rows
