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
import :entry;
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
template <class Op, class T>
consteval bool fits() {
  if constexpr (is_attr<T>) return Op::row.attr_index(T::name) >= 0;
  else return true;
}

// What a call says of its row is the compiler's answer. A call that names the row when it runs, or a local reference to
// it, would make every importer compile the table of all rows with the shape rules that it refers to.
template <class Op, class T>
inline constexpr std::size_t place_in_row = static_cast<std::size_t>(Op::row.attr_index(T::name));
template <class Op>
inline constexpr std::size_t attr_count = Op::row.attrs.size();

/// How many operands a row needs at least.
consteval int required_operands(const op_row& row) {
  int count = 0;
  for (const operand& item : row.operands) count += item.optional ? 0 : 1;
  return count;
}

/// How many of the arguments are operands.
template <class... Args>
inline constexpr int operand_count = (0 + ... + (operand_argument<Args> ? 1 : 0));

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A known op as a type, beside which an op from outside the library is its own type (modules/own.cc).
template <fixed_string Name>
  requires known_op<Name>
struct known {
  static constexpr const op_row& row = row_of<op_id<Name>>;
};

/// Every attribute among the arguments is one of the op's row.
template <class Op, class... Args>
concept has_these_attributes = (detail::fits<Op, Args>() && ...);
/// There are as many operands among the arguments as the op's row asks for.
template <class Op, class... Args>
concept has_these_operands = detail::operand_count<Args...> >= detail::required_operands(Op::row) &&
                             detail::operand_count<Args...> <= static_cast<int>(Op::row.operands.size());

}  // namespace kerngrad

namespace kerngrad::detail {

// A typed call of an op, whoever brought it.
template <class Op, class... Args>
inline tensor invoke(const op_entry& op, const Args&... args) {
  static_assert(has_these_attributes<Op, Args...>,
                "an attribute that the op's row does not have: see the row for their names");
  static_assert(Op::row.takes_list() || has_these_operands<Op, Args...>,
                "a wrong number of operands: see the op's row");
  if constexpr (attr_count<Op> == 0 && sizeof...(Args) == 1 && Op::row.operands.size() == 1 && !Op::row.takes_list()) {
    return run_unary(op, args...);
  } else if constexpr (attr_count<Op> == 0 && sizeof...(Args) == 2 && Op::row.group == family::binary &&
                       !Op::row.takes_list()) {
    return run_binary(op, args...);
  } else {
    const tensor* in[sizeof...(Args) + 1];
    attr_value attrs[attr_count<Op> + 1];
    std::size_t count = 0;
    const auto place = [&]<class T>(const T& argument) {
      if constexpr (is_attr<T>) attrs[place_in_row<Op, T>] = argument.value;
      else in[count++] = &argument;
    };
    (place(args), ...);
    return run_one(op, {in, count}, {attrs, attr_count<Op>});
  }
}

template <class Op, class... Attrs>
tensor_list invoke_list(const op_entry& op, std::span<const tensor> operands, const Attrs&... given) {
  static_assert(has_these_attributes<Op, Attrs...>,
                "an attribute that the op's row does not have: see the row for their names");
  std::vector<const tensor*> in;
  for (const tensor& x : operands) in.push_back(&x);
  attr_value attrs[attr_count<Op> + 1];
  ((attrs[place_in_row<Op, Attrs>] = given.value), ...);
  return run_list(op, in, {attrs, attr_count<Op>});
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Runs a known op. Returns its (first) result; throws `error` for shapes, dtypes or values that its row refuses.
template <fixed_string Op, class... Args>
  requires known_op<Op>
inline tensor call(const Args&... args) {
  return detail::invoke<known<Op>>(detail::known_entry(op_id<Op>), args...);
}

/// Runs a known op on a list of operands (Concat, Pack, AddN) or for all its results (Unpack, SplitV).
template <fixed_string Op, class... Attrs>
  requires known_op<Op>
tensor_list call_list(std::span<const tensor> operands, const Attrs&... given) {
  return detail::invoke_list<known<Op>>(detail::known_entry(op_id<Op>), operands, given...);
}

}  // namespace kerngrad
