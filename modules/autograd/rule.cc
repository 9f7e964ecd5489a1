// SPDX-License-Identifier: Apache-2.0
// Gradient rules: per operand a generic constexpr callable that says what dy becomes there. A rule sees a context `c`
//   c.dy()      the gradient of the (first) result, c.dy(k) of result k: zeros where nothing depends on that one
//   c.in(i)     operand i, if the rule says that it is kept        c.dims(i)   its shape, always
//   c.out()     the (first) result, c.out(k) result k, if the rule says that it is kept
//   c.type(i)   the dtype of operand i, always                     c.index()   of a list: which of its tensors
//   c.attr<"name">()   an attribute                                c.reduced(i, g)  g summed over what operand i
//   broadcast
//   c.once<0>(f)   what f() gives, computed once for all operands of the call; so c.once<1>(f)
// and calls ops only, so the same rule serves the eager tape, higher orders and fused programs.
module;
#include "kernels/common/abi.h"
export module kerngrad:rule;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;

namespace kerngrad::detail {

// One rule of a list. The index makes two rules of one type two bases.
template <std::size_t Index, class Rule>
struct indexed_rule {
  Rule rule;
};
template <std::size_t Index, class Rule>
constexpr const Rule& rule_at(const indexed_rule<Index, Rule>& of) {
  return of.rule;
}
template <class Indices, class... Rules>
struct indexed_rules;
template <std::size_t... Index, class... Rules>
struct indexed_rules<std::index_sequence<Index...>, Rules...> : indexed_rule<Index, Rules>... {
  constexpr explicit indexed_rules(Rules... rules) : indexed_rule<Index, Rules>{rules}... {}
  template <class F>
  constexpr void call_with_each(const F& f) const {
    (f(rule_at<Index>(*this)), ...);
  }
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The gradient rule for one operand: the values of the forward pass that it keeps, and the function that computes the
/// gradient. `wrt` makes it.
template <class F>
struct operand_rule {
  kept keeps;
  F gradient;
};

/// Type of a rule for an operand without gradient, such as an index or a condition.
struct no_gradient_t {};

/// A callable that gives a gradient of type V when it is called with a context.
template <class F, class Context, class V>
concept gradient_rule =
    std::is_invocable_v<const F&, const Context&> && std::is_same_v<std::invoke_result_t<const F&, const Context&>, V>;

/// Makes the gradient rule for an operand, from the values of the forward pass that it needs and a function of the
/// context `c`.
template <class F>
constexpr operand_rule<F> wrt(kept keeps, F gradient) {
  return {keeps, gradient};
}
/// Makes the rule for an operand without gradient.
constexpr operand_rule<no_gradient_t> constant_operand() { return {}; }

/// A list of rules in their order, each of a type of its own: `at<I>()` is rule I, and `each(f)` calls f with one after
/// the other.
// A std::tuple would leave instances of the library's traits for all of these types in the interface. Clang 19 reads
// every instance of a trait when a program first uses the trait: it would take seconds.
template <class... Rules>
class rule_list : detail::indexed_rules<std::index_sequence_for<Rules...>, Rules...> {
 public:
  constexpr explicit rule_list(Rules... rules)
      : detail::indexed_rules<std::index_sequence_for<Rules...>, Rules...>(rules...) {}
  /// Calls f with each rule.
  template <class F>
  constexpr void each(const F& f) const {
    this->call_with_each(f);
  }
  /// Rule I, counted from 0.
  template <std::size_t I>
  constexpr const auto& at() const {
    return detail::rule_at<I>(*this);
  }
};

/// The gradient rules of an op, one per operand. The rule of a list operand is called with each index of the list.
template <class... F>
struct rule_parts {
  static constexpr std::size_t operands = sizeof...(F);
  rule_list<operand_rule<F>...> of;
};
/// Makes the member `gradient` of a custom op from one rule per operand, in the order of the operands.
template <class... F>
constexpr rule_parts<F...> gradient_of(operand_rule<F>... of) {
  return {rule_list<operand_rule<F>...>(of...)};
}
/// The gradient rules of a built-in op, one per operand. `rule` makes it.
template <fixed_string Op, class... F>
struct op_rule {
  static constexpr std::string_view name = Op;
  rule_parts<F...> parts;
};

/// Makes the gradient rules of a built-in op from one rule per operand, in the order of the op's operands. A wrong name
/// or number is a compile error.
template <fixed_string Op, class... F>
constexpr op_rule<Op, F...> rule(operand_rule<F>... of) {
  static_assert(known_op<Op>, "a gradient rule for an op that has no row: correct the name or add the row");
  static_assert(sizeof...(F) == op_table[static_cast<std::size_t>(find_op(Op))].operands.size(),
                "a gradient rule must have one part per operand of the op's row");
  return {gradient_of(of...)};
}
/// Makes the list of rules of a family of built-in ops: one file of grads/. The list is evaluated there, not in every
/// importer.
template <class... Rules>
consteval rule_list<Rules...> family_rules(rule_list<Rules...> rules) {
  return rules;
}

}  // namespace kerngrad

namespace kerngrad::detail {

// The context `c` of a rule for one op on tensors.
template <const op_row& Row>
class tensor_context {
 public:
  inline explicit tensor_context(const rule_frame& at) : at_(at) {}
  inline const tensor& dy(int k = 0) const { return frame_dy(at_, k); }
  std::vector<tensor> all_dy() const { return frame_all_dy(at_); }
  inline const tensor& in(int i) const { return frame_operand(at_, i); }
  inline const tensor& out(int k = 0) const { return frame_result(at_, k); }
  inline const shape& dims(int i) const { return frame_dims(at_, i); }
  inline dtype type(int i) const { return frame_type(at_, i); }
  inline tensor zeros(int i) const { return frame_zeros(at_, i); }
  inline tensor reduced(int i, tensor g) const { return frame_reduced(at_, i, std::move(g)); }
  inline int index() const { return frame_index(at_); }
  template <int K, class F>
  tensor once(F compute) const {
    static_assert(K == 0 || K == 1, "a gradient rule shares two values at most: once<0> and once<1>");
    if (!frame_shared(at_, K).defined()) {
      tensor value = compute();  // which may share another value
      frame_shared(at_, K) = std::move(value);
    }
    return frame_shared(at_, K);
  }
  template <fixed_string Name>
  const attr_value& attr() const {
    static_assert(Row.attr_index(Name) >= 0, "a gradient rule asks for an attribute that its op's row does not have");
    return frame_attr(at_, Row.attr_index(Name));
  }

 private:
  const rule_frame& at_;
};

// The parts of a rule as function pointers. `Parts` is the rule itself, so that only its types and masks are needed.
template <const op_row& Row, class... F>
constexpr op_gradient instantiate(const rule_parts<F...>& parts) {
  op_gradient entry;
  if (Row.takes_list()) entry.last = static_cast<std::uint32_t>(Row.operands.size() - 1);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto part = [&]<class Rule>(op_gradient::part& to, const operand_rule<Rule>& from) {
      if constexpr (!std::is_same_v<Rule, no_gradient_t>) {
        static_assert(gradient_rule<Rule, tensor_context<Row>, tensor>,
                      "a gradient rule must be callable with the context `c` alone and give a tensor");
        to.keeps = from.keeps;
        to.run = [](const rule_frame& at) -> tensor { return Rule{}(tensor_context<Row>(at)); };
      }
    };
    (part(entry.of[I], parts.of.template at<I>()), ...);
  }(std::index_sequence_for<F...>{});
  return entry;
}

}  // namespace kerngrad::detail
