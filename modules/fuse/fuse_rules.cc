// SPDX-License-Identifier: Apache-2.0
// Gradient rules on symbols: the rules of grads/ (and those of user-defined ops) are called with a context
// whose values are symbols, and leave the steps of the derivative in the list that the expression is in.
module;
#include "kernels/common/abi.h"
export module kerngrad:fuse_rules;

import :std;
import :core;
import :op;
import :table;
import :entry;
import :rule;
import :symbol;
import :grads_elementwise;
import :grads_convert;

namespace kerngrad::detail {

/// Context of a rule's call: the step that it differentiates, and the gradient of that step's result.
struct rule_site {
  symbol dy;
  int at = -1;
};

/// The context `c` of a rule (modules/autograd/rule.cc) on symbols. The caller of the derivative adds up over broadcast
/// axes once, at its end; until then every gradient has the shape of the result.
template <const op_row& Row>
class symbolic_context {
 public:
  constexpr explicit symbolic_context(const rule_site& site) : site_(site) {}
  constexpr symbol dy(int = 0) const { return site_.dy; }
  constexpr symbol in(int i) const { return {site_.dy.in, step().in[static_cast<std::size_t>(i)]}; }
  constexpr symbol out(int = 0) const { return {site_.dy.in, site_.at}; }
  constexpr symbolic_type type(int) const { return {}; }
  constexpr symbol zeros(int i) const { return constant_step(0, in(i)); }
  constexpr symbol reduced(int, symbol g) const { return g; }
  template <fixed_string Name>
  constexpr attr_value attr() const {
    static_assert(Row.attr_index(Name) >= 0, "a gradient rule asks for an attribute that its op's row does not have");
    return step().numbers[static_cast<std::size_t>(Row.attr_index(Name))];
  }

 private:
  constexpr const fused_step& step() const { return site_.dy.in->steps[static_cast<std::size_t>(site_.at)]; }
  const rule_site& site_;
};

/// The rules of one op on symbols, one an operand; null for an operand without gradient.
struct symbolic_gradient {
  std::array<symbol (*)(const rule_site&), 3> of{};
  bool exists = false;
};

template <const op_row& Row, class... F>
constexpr symbolic_gradient symbolic_rules(const rule_parts<F...>& parts) {
  symbolic_gradient rules{.exists = true};
  std::size_t at = 0;
  const auto part = [&]<class Rule>(const operand_rule<Rule>&) {
    if constexpr (!std::is_same_v<Rule, no_gradient_t>)
      rules.of[at] = [](const rule_site& site) -> symbol { return Rule{}(symbolic_context<Row>(site)); };
    ++at;
  };
  parts.of.each(part);
  return rules;
}

/// The rules of the built-in ops that can be steps of an expression, by id.
inline constexpr auto known_symbolic_rules = []() consteval {
  std::array<symbolic_gradient, static_cast<std::size_t>(op_count)> table{};
  const auto place = [&]<fixed_string Op, class... F>(const op_rule<Op, F...>& rule) {
    if constexpr (works_by_element(row_of<op_id<Op>>))
      table[static_cast<std::size_t>(op_id<Op>)] = symbolic_rules<row_of<op_id<Op>>>(rule.parts);
  };
  rules::elementwise_rules.each(place), rules::convert_rules.each(place);
  return table;
}();

constexpr const symbolic_gradient& rules_of_step(const fused_step& step) {
  return step.rules ? *step.rules : known_symbolic_rules[static_cast<std::size_t>(find_op(step.row->name))];
}

/// `count` equal values. The constructors of libstdc++ 12 that would give them are nothing for constant expressions,
/// and neither is std::vector<bool>.
template <class T>
constexpr std::vector<T> repeated(std::size_t count, T value) {
  std::vector<T> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(value);
  return all;
}
/// A boolean per step.
using step_marks = std::vector<char>;

/// True if a gradient flows through a step: no boolean, index or integer has one.
constexpr step_marks flowing(const std::vector<fused_step>& steps) {
  step_marks flows = repeated<char>(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const fused_step& step = steps[i];
    if (step.kind == step_kind::operand) flows[i] = true;
    if (step.kind != step_kind::op) continue;
    const result after = step.row->types.after;
    if (after == result::boolean || after == result::int32) continue;
    if (after == result::attribute && !differentiable.has(step.to)) continue;
    for (std::int16_t k : step.in)
      if (k >= 0 && flows[static_cast<std::size_t>(k)]) flows[i] = true;
  }
  return flows;
}

/// The gradients of step `root` with respect to the first `operands` operands, as symbols of the same list: adjoints
/// in reverse order, as the tape's walk does it. `at` is -1 where nothing flows. False: a step has no rule.
constexpr bool differentiate(symbol root, symbol seed, std::span<symbol> grads) {
  step_list& list = *root.in;
  const std::size_t end = static_cast<std::size_t>(root.at) + 1;
  step_marks flows = flowing(list.steps);
  std::vector<symbol> adjoint = repeated(end, symbol());
  adjoint[end - 1] = seed;
  bool whole = true;
  for (std::size_t i = end; i-- > 0;) {
    const fused_step step = list.steps[i];  // a copy: the rules append to the list
    if (adjoint[i].at < 0 || !flows[i]) continue;
    if (step.kind == step_kind::operand) grads[static_cast<std::size_t>(step.operand)] = adjoint[i];
    if (step.kind != step_kind::op) continue;
    const symbolic_gradient& rules = rules_of_step(step);
    whole = whole && rules.exists;
    for (std::size_t k = 0; k < 3 && rules.exists; ++k) {
      if (step.in[k] < 0 || !rules.of[k] || !flows[static_cast<std::size_t>(step.in[k])]) continue;
      const symbol g = rules.of[k]({adjoint[i], static_cast<int>(i)});
      symbol& sum = adjoint[static_cast<std::size_t>(step.in[k])];
      sum = sum.at < 0 ? g : sum + g;
    }
  }
  return whole;
}

}  // namespace kerngrad::detail
