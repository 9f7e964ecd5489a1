// SPDX-License-Identifier: Apache-2.0
// The audit of the library's own tables. No importer waits for it, or has what it takes in the BMI that it reads.
module;
#include <algorithm>
#include "kernels/common/abi.h"
#include "modules/ops/families.h"
module kerngrad;

import :all_rules;
import :audit;

namespace kerngrad {
namespace {

template <class... Rules>
consteval auto names_of(const rule_list<Rules...>&) {
  return std::array<std::string_view, sizeof...(Rules)>{Rules::name...};
}
template <std::size_t... Counts>
consteval auto joined(const std::array<std::string_view, Counts>&... families) {
  std::array<std::string_view, (Counts + ...)> all{};
  auto end = all.begin();
  ((end = std::ranges::copy(families, end).out), ...);
  return all;
}
#define KG_NAMES(F) names_of(rules::F##_rules)
constexpr auto names_of_rules = joined(KG_RULED_FAMILIES(KG_NAMES));

static_assert(audit::check_all<op_table, simd_kernels, reference_kernels, names_of_rules>());
static_assert(std::ranges::all_of(op_table,
                                  [](const op_row& row) {
                                    const int forward = find_op(row.forward);
                                    return row.forward.empty() || (forward >= 0 && op_table[forward].forward.empty());
                                  }),
              "[audit] the forward op of a row is no built-in op, or has a forward op itself: name the first op");

}  // namespace

constinit const std::span<const std::string_view> rule_names = names_of_rules;

}  // namespace kerngrad
