// SPDX-License-Identifier: Apache-2.0
// The typed door: `call<"Name">(operands..., attr<"name">(value)...)`. Op, operands and attributes are checked by the
// compiler; shapes and dtypes by the row's rules when the call runs.
module;
#include "kernels/abi.h"
export module kerngrad:call;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;

export namespace kerngrad {

/// An attribute of a typed call.
template <fixed_string Name>
struct named_attr {
  attr_value value;
  static constexpr std::string_view name = Name;
};
/// `attr<"axis">(1)`: the attribute of that name for a call.
template <fixed_string Name>
constexpr named_attr<Name> attr(const attr_value& value) {
  return {value};
}

}  // namespace kerngrad

namespace kerngrad::detail {

template <class T>
inline constexpr bool is_attr = false;
template <fixed_string Name>
inline constexpr bool is_attr<named_attr<Name>> = true;

template <class T>
concept operand_argument = std::is_convertible_v<const T&, const tensor&>;

/// An argument is an operand, or an attribute that the row has.
template <fixed_string Op, class T>
consteval bool fits() {
  if constexpr (is_attr<T>) return row_of<op_id<Op>>.attr_index(T::name) >= 0;
  else return true;
}

/// How many operands a row needs at least.
consteval int required_operands(const op_row& row) {
  int count = 0;
  for (const operand& item : row.operands) count += item.optional ? 0 : 1;
  return count;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Every attribute among the arguments is one of the op's row.
template <fixed_string Op, class... Args>
concept has_these_attributes = (detail::fits<Op, Args>() && ...);
/// There are as many operands among the arguments as the op's row asks for.
template <fixed_string Op, class... Args>
concept has_these_operands =
    (... + (detail::operand_argument<Args> ? 1 : 0)) >= detail::required_operands(row_of<op_id<Op>>) &&
    (... + (detail::operand_argument<Args> ? 1 : 0)) <= static_cast<int>(row_of<op_id<Op>>.operands.size());

/// Runs a known op. Returns its (first) result; throws `error` for shapes, dtypes or values that its row refuses.
template <fixed_string Op, class... Args>
  requires known_op<Op>
tensor call(const Args&... args) {
  constexpr const op_row& row = row_of<op_id<Op>>;
  static_assert(has_these_attributes<Op, Args...>,
                "an attribute that the op's row does not have: see the row for their names");
  static_assert(row.takes_list() || sizeof...(Args) == 0 || has_these_operands<Op, Args...>,
                "a wrong number of operands: see the op's row");
  if constexpr (row.attrs.empty() && sizeof...(Args) == 1 && row.operands.size() == 1 && !row.takes_list()) {
    return detail::run_unary(op_id<Op>, args...);
  } else if constexpr (row.attrs.empty() && sizeof...(Args) == 2 && row.group == family::binary && !row.takes_list()) {
    return detail::run_binary(op_id<Op>, args...);
  } else {
    const tensor* in[sizeof...(Args) + 1];
    attr_value attrs[row.attrs.size() + 1];
    std::size_t count = 0;
    const auto place = [&]<class T>(const T& argument) {
      if constexpr (detail::is_attr<T>) attrs[row.attr_index(T::name)] = argument.value;
      else in[count++] = &argument;
    };
    (place(args), ...);
    return detail::run_one(op_id<Op>, {in, count}, {attrs, row.attrs.size()});
  }
}

/// Runs a known op on a list of operands (Concat, Pack, AddN) or for all its results (Unpack, SplitV).
template <fixed_string Op, class... Attrs>
  requires known_op<Op>
tensor_list call_list(std::span<const tensor> operands, const Attrs&... given) {
  constexpr const op_row& row = row_of<op_id<Op>>;
  static_assert(has_these_attributes<Op, Attrs...>,
                "an attribute that the op's row does not have: see the row for their names");
  std::vector<const tensor*> in;
  for (const tensor& x : operands) in.push_back(&x);
  attr_value attrs[row.attrs.size() + 1];
  ((attrs[row.attr_index(Attrs::name)] = given.value), ...);
  return detail::run_list(op_id<Op>, in, {attrs, row.attrs.size()});
}

}  // namespace kerngrad
