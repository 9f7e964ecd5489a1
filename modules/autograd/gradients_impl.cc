// SPDX-License-Identifier: Apache-2.0
// The rules of grads/ instantiated for tensors, once.
module;
#include "kernels/common/abi.h"
#include "modules/ops/families.h"
module kerngrad;

import :all_rules;
import :tape;

namespace kerngrad::detail {
namespace {

struct gradient_slot {
  op_gradient rule;
  bool exists = false;
};
using slot_table = std::array<gradient_slot, static_cast<std::size_t>(op_count)>;

template <fixed_string Op, class... F>
constexpr gradient_slot slot_for(const op_rule<Op, F...>& rule) {
  return {instantiate<row_of<find_op(Op)>>(rule.parts), true};
}

template <class... Rules>
constexpr void place(slot_table& table, const rule_list<Rules...>& family) {
  family.each([&](const auto& rule) { table[static_cast<std::size_t>(find_op(rule.name))] = slot_for(rule); });
}

constexpr slot_table rule_slots = [] {
  slot_table table{};
#define KG_PLACE(F) place(table, rules::F##_rules)
  KG_RULED_FAMILIES(KG_PLACE);
  return table;
}();

}  // namespace

constinit const gradient_table known_gradients = [] {
  gradient_table all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = rule_slots[i].exists ? &rule_slots[i].rule : nullptr;
  return all;
}();

}  // namespace kerngrad::detail
