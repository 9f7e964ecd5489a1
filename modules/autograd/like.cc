// SPDX-License-Identifier: Apache-2.0
// Calls in gradient rules that repeat the attributes of the op that is differentiated. A free function: a member of the
// context would need the word `template` in every rule. Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:like;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :rule;
import :call;

namespace kerngrad::detail {

// The row whose attributes a context has. A context that wraps another one has that one's row.
template <class Context>
struct row_of_context;
template <const op_row& Row>
struct row_of_context<tensor_context<Row>> {
  static constexpr const op_row& row = Row;
};

// Indices of attributes in the row of `To`.
template <std::size_t Most>
struct attr_indices {
  std::size_t at[Most + 1]{};
  std::size_t count = 0;
};

// The attributes of `To` that the row of `From` has and no argument gives.
template <class To, class From, class... Args>
consteval auto attrs_in_both() {
  attr_indices<To::row.attrs.size()> both;
  for (std::size_t i = 0; i < To::row.attrs.size(); ++i) {
    const std::string_view name = To::row.attrs[i].name;
    const bool given = (false || ... || (as_given<Args>().name == name));
    if (!given && From::row.attr_index(name) >= 0) both.at[both.count++] = i;
  }
  return both;
}

// The name of attribute I of the row of `Op`.
template <class Op, std::size_t I>
consteval auto name_of_attr() {
  constexpr std::size_t size = Op::row.attrs[I].name.size();
  char text[size + 1]{};
  for (std::size_t i = 0; i < size; ++i) text[i] = Op::row.attrs[I].name[i];
  return fixed_string<size + 1>(text);
}

}  // namespace kerngrad::detail

namespace kerngrad::rules {

/// Calls `Op` with the arguments and with each attribute that its row shares with the row of `c`. An attribute among
/// the arguments replaces the one of `c`.
template <fixed_string Op, class C, class... Args>
auto call_like(const C& c, const Args&... args) {
  using to = known<Op>;
  constexpr auto both = detail::attrs_in_both<to, detail::row_of_context<C>, Args...>();
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return call<Op>(args..., attr<detail::name_of_attr<to, both.at[I]>()>(
                                 c.template attr<detail::name_of_attr<to, both.at[I]>()>())...);
  }(std::make_index_sequence<both.count>());
}

}  // namespace kerngrad::rules
