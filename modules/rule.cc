// SPDX-License-Identifier: Apache-2.0
// Gradient rules: per operand a generic constexpr callable that says what dy becomes there. A rule sees a context `c`
//   c.dy()      the gradient of the (first) result, c.dy(k) of result k
//   c.in(i)     operand i, if the rule says that it is kept        c.dims(i)   its shape, always
//   c.out()     the result, if the rule says that it is kept       c.type(i)   its dtype, always
//   c.attr<"name">()   an attribute                                c.reduced(i, g)  g summed over what operand i
//   broadcast
// and calls ops only, so the same rule serves the eager tape, higher orders and fused programs.
module;
#include "kernels/abi.h"
export module kerngrad:rule;

import :std;
import :core;
import :op;
import :table;

export namespace kerngrad {

/// Which values a rule keeps from the forward pass: operands in the low bits, results from bit 8.
struct kept {
  std::uint16_t bits = 0;
  constexpr bool operand(int i) const { return (bits >> i) & 1; }
  constexpr bool result(int k) const { return (bits >> (8 + k)) & 1; }
  friend constexpr kept operator|(kept a, kept b) { return {static_cast<std::uint16_t>(a.bits | b.bits)}; }
};

namespace keep {
// What `wrt` is given: nothing, operand 0, 1 or 2, the (first) result, all operands.
inline constexpr kept nothing{};
inline constexpr kept in0{1}, in1{2}, in2{4};
inline constexpr kept out0{256};
inline constexpr kept all_in{0xff};
}  // namespace keep

/// The rule for one operand: what it keeps and how its gradient is computed.
template <class F>
struct operand_rule {
  kept keeps;
  F gradient;
};

/// The operand has no gradient: an index, a condition.
struct no_gradient_t {};

/// A callable that gives a gradient of type V when it is called with a context.
template <class F, class Context, class V>
concept gradient_rule =
    std::is_invocable_v<const F&, const Context&> && std::is_same_v<std::invoke_result_t<const F&, const Context&>, V>;

/// The rule for an operand: what it needs of the forward pass, and the callable.
template <class F>
constexpr operand_rule<F> wrt(kept keeps, F gradient) {
  return {keeps, gradient};
}
/// The rule for an operand without gradient.
constexpr operand_rule<no_gradient_t> constant_operand() { return {}; }

/// The rules of an op, one per operand; an op that takes a list has one, called with each index.
template <fixed_string Op, class... F>
struct op_rule {
  static constexpr std::string_view name = Op;
  static constexpr std::size_t operands = sizeof...(F);
  std::tuple<operand_rule<F>...> of;
};

/// The rules of an op: one per operand of its row, in their order.
template <fixed_string Op, class... F>
constexpr op_rule<Op, F...> rule(operand_rule<F>... of) {
  static_assert(known_op<Op>, "a gradient rule for an op that has no row: correct the name or add the row");
  static_assert(sizeof...(F) == op_table[static_cast<std::size_t>(find_op(Op))].operands.size(),
                "a gradient rule must have one part per operand of the op's row");
  return {{of...}};
}

}  // namespace kerngrad
