// SPDX-License-Identifier: Apache-2.0
// The rules of grads/ instantiated for tensors, once: a table of function pointers by op id.
module;
#include "kernels/abi.h"
module kerngrad;

import :tape;

namespace kerngrad::detail {
namespace {

// The context `c` of a rule for one op on tensors.
template <fixed_string Op>
class tensor_context {
 public:
  explicit tensor_context(const frame& at) : at_(at) {}
  const tensor& dy(int k = 0) const { return at_.dys[static_cast<std::size_t>(k)]; }
  std::vector<tensor> all_dy() const { return completed(at_); }
  const tensor& in(int i) const { return at_.operand_slot(i).saved; }
  const tensor& out() const { return at_.on.results[at_.at.kept_result]; }
  const shape& dims(int i) const { return at_.dims(i); }
  dtype type(int i) const { return at_.operand_slot(i).type; }
  tensor zeros(int i) const { return kerngrad::zeros(dims(i), type(i)); }
  tensor reduced(int i, const tensor& g) const { return reduced_to(dims(i), g); }
  int index() const { return at_.operand; }
  template <fixed_string Name>
  const attr_value& attr() const {
    constexpr int at = op_table[static_cast<std::size_t>(find_op(Op))].attr_index(Name);
    static_assert(at >= 0, "a gradient rule asks for an attribute that its op's row does not have");
    return at_.on.attrs[at_.at.attrs + static_cast<std::uint32_t>(at)];
  }

 private:
  const frame& at_;
};

template <fixed_string Op, class... F>
constexpr known_gradient instantiate(const op_rule<Op, F...>&, const auto& table, auto which) {
  known_gradient entry;
  entry.exists = true;
  entry.list = op_table[static_cast<std::size_t>(find_op(Op))].takes_list();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto part = [&]<std::size_t Operand>(std::integral_constant<std::size_t, Operand>) {
      using rule_type = std::tuple_element_t<Operand, std::tuple<F...>>;
      if constexpr (!std::is_same_v<rule_type, no_gradient_t>) {
        static_assert(gradient_rule<rule_type, tensor_context<Op>, tensor>,
                      "a gradient rule must be callable with the context `c` alone and give a tensor");
        entry.of[Operand].keeps = std::get<Operand>(std::get<decltype(which)::value>(table).of).keeps;
        entry.of[Operand].run = [](const frame& at) -> tensor { return rule_type{}(tensor_context<Op>(at)); };
      }
    };
    (part(std::integral_constant<std::size_t, I>{}), ...);
  }(std::index_sequence_for<F...>{});
  return entry;
}

using gradient_table = std::array<known_gradient, static_cast<std::size_t>(op_count)>;

template <class... Rules>
constexpr void place(gradient_table& table, const std::tuple<Rules...>& family) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((table[static_cast<std::size_t>(find_op(Rules::name))] =
          instantiate(std::get<I>(family), family, std::integral_constant<std::size_t, I>{})),
     ...);
  }(std::index_sequence_for<Rules...>{});
}

constexpr gradient_table known_gradients = [] {
  gradient_table table{};
  place(table, rules::unary);
  place(table, rules::binary);
  place(table, rules::convert);
  place(table, rules::reduce);
  place(table, rules::softmax_family);
  place(table, rules::matrix);
  place(table, rules::window);
  place(table, rules::move);
  return table;
}();

}  // namespace

const known_gradient* gradient_of(int id) {
  const known_gradient& entry = known_gradients[static_cast<std::size_t>(id)];
  return entry.exists ? &entry : nullptr;
}

}  // namespace kerngrad::detail
