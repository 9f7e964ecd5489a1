// SPDX-License-Identifier: Apache-2.0
// The rules of grads/ instantiated for tensors, once, and the entries of the known ops that point to them.
module;
#include "kernels/abi.h"
module kerngrad;

import :tape;

namespace kerngrad::detail {
namespace {

struct gradient_slot {
  op_gradient rule;
  bool exists = false;
};
using gradient_table = std::array<gradient_slot, static_cast<std::size_t>(op_count)>;

template <fixed_string Op, class... F>
constexpr gradient_slot slot_for(const op_rule<Op, F...>& rule) {
  return {instantiate<row_of<find_op(Op)>>(rule.parts), true};
}

template <class... Rules>
constexpr void place(gradient_table& table, const std::tuple<Rules...>& family) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((table[static_cast<std::size_t>(find_op(Rules::name))] = slot_for(std::get<I>(family))), ...);
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
  place(table, rules::fused);
  place(table, rules::move);
  return table;
}();

}  // namespace

constinit const std::array<op_entry, static_cast<std::size_t>(op_count)> known_entries = [] {
  std::array<op_entry, static_cast<std::size_t>(op_count)> all{};
  for (int id = 0; id < op_count; ++id) {
    const std::size_t i = static_cast<std::size_t>(id);
    std::array<const kernel_slot*, backend_count> kernels{};
    for (std::size_t b = 0; b < backend_count; ++b) kernels[b] = &kernel_tables[b][i * dtype_count];
    all[i] = make_entry(op_table[i], id, kernels, known_gradients[i].exists ? &known_gradients[i].rule : nullptr);
  }
  return all;
}();

}  // namespace kerngrad::detail
