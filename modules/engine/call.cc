// SPDX-License-Identifier: Apache-2.0
// The typed API: `call<"Name">(operands..., attr<"name">(value)...)`. Op, operands and attributes are checked by the
// compiler; shapes and dtypes by the row's rules when the call runs.
module;
#include "kernels/common/abi.h"
export module kerngrad:call;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;
import :engine;

export namespace kerngrad {

/// An attribute of a typed call, as `attr` makes it. The kind `absent` stands for a kind that is only known at run
/// time.
template <fixed_string Name, attr_kind Kind = attr_kind::absent>
struct named_attr {
  attr_value value;
  static constexpr std::string_view name = Name;
  static constexpr attr_kind kind = Kind;
};

}  // namespace kerngrad

namespace kerngrad::detail {

template <class T>
consteval attr_kind kind_of() {
  if (std::is_same_v<T, bool>) return attr_kind::boolean;
  if (std::is_integral_v<T>) return attr_kind::integer;
  if (std::is_floating_point_v<T>) return attr_kind::number;
  if (std::is_same_v<T, dtype>) return attr_kind::dtype;
  if (std::is_same_v<T, shape> || std::is_same_v<T, std::vector<std::int64_t>>) return attr_kind::list;
  if (std::is_same_v<T, std::vector<double>>) return attr_kind::numbers;
  return taken_for<const T&, std::string_view> ? attr_kind::text : attr_kind::absent;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Gives an attribute to a call: `attr<"axis">(1)`.
template <fixed_string Name, class T>
  requires detail::taken_for<const T&, attr_value>
constexpr named_attr<Name, detail::kind_of<T>()> attr(const T& value) {
  return {value};
}
template <fixed_string Name>
constexpr named_attr<Name, attr_kind::list> attr(std::initializer_list<std::int64_t> list) {
  return {list};
}
template <fixed_string Name, std::same_as<double> T>
constexpr named_attr<Name, attr_kind::numbers> attr(std::initializer_list<T> list) {
  return {list};
}

}  // namespace kerngrad

namespace kerngrad::detail {

template <class T>
inline constexpr bool is_attr = false;
template <fixed_string Name, attr_kind Kind>
inline constexpr bool is_attr<named_attr<Name, Kind>> = true;

template <class T>
concept operand_argument = taken_for<const T&, const tensor&>;
template <class T>
concept list_argument = !operand_argument<T> && !is_attr<T> && taken_for<const T&, std::span<const tensor>>;

enum class attr_mistake : std::uint8_t { none, unknown, kind, missing };

// Description of an argument: an operand has no name.
struct given_attr {
  std::string_view name{};
  attr_kind kind = attr_kind::absent;
};
// Here for the instances of traits that each unit of typed names would have otherwise.
static_assert(std::contiguous_iterator<const given_attr*> && std::contiguous_iterator<const attr_value*>);
template <class T>
consteval given_attr as_given() {
  if constexpr (is_attr<T>) return {T::name, T::kind};
  else return {};
}

// The first mistake in the attributes of a call.
consteval attr_mistake mistake_in(const op_row& row, std::span<const given_attr> given) {
  std::uint32_t there = 0;
  for (const given_attr& a : given) {
    if (a.name.empty()) continue;
    const int at = row.attr_index(a.name);
    if (at < 0) return attr_mistake::unknown;
    if (a.kind != attr_kind::absent && !takes_kind(row.attrs[static_cast<std::size_t>(at)], a.kind))
      return attr_mistake::kind;
    there |= std::uint32_t{1} << at;
  }
  for (std::size_t i = 0; i < row.attrs.size(); ++i)
    if (row.attrs[i].required && !((there >> i) & 1)) return attr_mistake::missing;
  return attr_mistake::none;
}
template <class Op, class... Args>
inline constexpr attr_mistake mistake_of = []() consteval {
  constexpr std::array<given_attr, sizeof...(Args) + 1> given{as_given<Args>()...};
  return mistake_in(Op::row, {given.data(), sizeof...(Args)});
}();

// "axis: integer, required, keepDims: bool".
struct attr_text {
  char text[1000]{};
  std::size_t size = 0;
  consteval void add(std::string_view part) {
    for (const char c : part)
      if (size < sizeof text) text[size++] = c;
  }
  consteval explicit attr_text(std::span<const attr_spec> all) {
    for (const attr_spec& item : all) {
      add(size ? ", " : ""), add(item.name), add(": "), add(name_of(item.kind));
      if (item.required) add(", required");
    }
    if (all.empty()) add("none");
  }
};
template <class Op>
consteval auto attr_text_of() {
  constexpr attr_text made(Op::row.attrs);
  char text[made.size + 1]{};
  for (std::size_t i = 0; i < made.size; ++i) text[i] = made.text[i];
  return fixed_string<made.size + 1>(text);
}

// Facts of a call's row, as the compiler knows them. A call that names the row when it runs, or a local reference to
// it, would make every importer compile the table of all rows with the shape rules that it refers to.
template <class Op, class T>
inline constexpr std::size_t index_in_row = static_cast<std::size_t>(Op::row.attr_index(T::name));
template <class Op>
inline constexpr std::size_t attr_count = Op::row.attrs.size();
template <class Op>
inline constexpr std::size_t bare_count = bare_operands(Op::row);

// The attributes of a call in the order of the row, absent where they were not given.
template <std::size_t Count, std::size_t Given>
class call_attrs {
 public:
  template <std::size_t Index>
  inline void take(const attr_value& value) {
    values_[Index] = value;
  }
  inline std::span<const attr_value> all() const { return values_; }

 private:
  std::array<attr_value, Count> values_;
};
// None given, or the only one that there is: nothing to copy.
template <std::size_t Count, std::size_t Given>
  requires(Count == Given && Count < 2)
class call_attrs<Count, Given> {
 public:
  template <std::size_t Index>
  inline void take(const attr_value& value) {
    value_ = &value;
  }
  inline std::span<const attr_value> all() const { return {value_, Count}; }

 private:
  const attr_value* value_ = nullptr;
};

// One tensor, or an array of them. An op without a row is rejected elsewhere, in a sentence.
template <class Op>
struct result_of_call {
  using type = tensor;
};
template <class Op>
  requires(Op::row.results.size() > 1)
struct result_of_call<Op> {
  using type = std::array<tensor, Op::row.results.size()>;
};

// The operands of a call without lists.
template <std::size_t Most>
class work_pointers {
 public:
  inline void push_back(const tensor* x) { at_[count_++] = x; }
  inline operator std::span<const tensor* const>() const { return {at_, count_}; }

 private:
  const tensor* at_[Most + 1];
  std::size_t count_ = 0;
};

// The operands of a call with a list, which is short nearly always.
using listed_operands = small_list<const tensor*, 8>;

/// Number of operands that a call of the op cannot omit.
consteval int required_operands(const op_row& row) {
  int count = 0;
  for (const operand& item : row.operands) count += item.optional ? 0 : 1;
  return count;
}

/// Number of arguments that are operands; a list counts as one.
template <class... Args>
inline constexpr int operand_count = (0 + ... + (operand_argument<Args> || list_argument<Args> ? 1 : 0));
template <class... Args>
inline constexpr bool any_list = (false || ... || list_argument<Args>);
/// True if no operand comes after a list.
template <class... Args>
inline constexpr bool list_is_last = [] {
  bool list = false, last = true;
  ((last = last && !(list && (operand_argument<Args> || list_argument<Args>)), list = list || list_argument<Args>),
   ...);
  return last;
}();

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A built-in op as a type. A custom op is its own type (modules/registry/own.cc).
template <fixed_string Name>
  requires known_op<Name>
struct known {
  static constexpr const op_row& row = row_of<op_id<Name>>;
};

/// Shown by the compiler for a mistake in the attributes of a call. It lists the attributes that the op has:
/// `the_attributes_are<fixed_string<14>{"alpha: number"}>`.
template <fixed_string>
struct the_attributes_are {
  static constexpr bool as_given = false;
};
/// True if the arguments have as many operands as the op takes. A list operand comes last; it is given as one or more
/// tensors, or as a list of tensors.
template <class Op, class... Args>
concept has_these_operands =
    detail::operand_count<Args...> >= detail::required_operands(Op::row) &&
    (Op::row.takes_list()
         ? !detail::any_list<Args...> || (detail::list_is_last<Args...> &&
                                          detail::operand_count<Args...> == static_cast<int>(Op::row.operands.size()))
         : !detail::any_list<Args...> && detail::operand_count<Args...> <= static_cast<int>(Op::row.operands.size()));

/// Result of a typed call: a tensor, or an array of tensors if the op has several results. They have the order of the
/// op's entry in docs/ops.md: `auto [values, indices] = kg::call<"TopK">(x, kg::attr<"k">(3));`.
template <class Op>
using call_result = detail::result_of_call<Op>::type;

}  // namespace kerngrad

namespace kerngrad::detail {

// The attributes of a call are those of the row, or it does not compile: the compiler prints `Row`, which names them.
template <class Row, attr_mistake Mistake>
consteval bool check_attributes() {
  if constexpr (Mistake == attr_mistake::unknown)
    static_assert(Row::as_given, "an attribute that the op's row does not have: see the row for their names");
  if constexpr (Mistake == attr_mistake::kind)
    static_assert(Row::as_given, "an attribute of another kind than the op's row says");
  if constexpr (Mistake == attr_mistake::missing)
    static_assert(Row::as_given, "an attribute is missing that the op's row requires");
  return Mistake == attr_mistake::none;
}
template <class Op>
using attributes_shown = the_attributes_are<attr_text_of<Op>()>;

// The name that an unknown one is nearest to, which the compiler prints.
template <fixed_string Name>
using nearest_name = did_you_mean<name_of_op<nearest_op_to(Name)>()>;
template <class Name>
inline constexpr bool is_op = Name::same_name;

// A constant, of whose value the compiler gives no account in further lines.
template <class Op, class... Operands>
inline constexpr bool are_operands_of = has_these_operands<Op, Operands...>;
template <class Op>
inline call_result<Op> results_of_call(const op_entry& op, std::span<const tensor* const> in,
                                       std::span<const attr_value> attrs) {
  if constexpr (constexpr std::size_t count = Op::row.results.size(); count > 1) {
    std::array<tensor, count> results;
    run_several(op, in, attrs, results);
    return results;
  } else {
    return run_one(op, in, attrs);
  }
}

// A typed call of an op, built-in or user-defined.
template <class Op, class... Args>
inline call_result<Op> invoke(const op_entry& op, const Args&... args) {
  static_assert(are_operands_of<Op, Args...>, "a wrong number of operands: see the op's row");
  constexpr bool is_right = check_attributes<attributes_shown<Op>, mistake_of<Op, Args...>>();
  constexpr std::size_t bare = bare_count<Op>;
  if constexpr (!is_right || !are_operands_of<Op, Args...>) {
    return call_result<Op>();  // the compiler has said why
  } else if constexpr (bare == 1) {
    return run_unary(op, args...);
  } else if constexpr (bare == 2) {
    return run_binary(op, args...);
  } else {
    call_attrs<attr_count<Op>, (0 + ... + is_attr<Args>)> attrs;
    std::conditional_t<any_list<Args...>, listed_operands, work_pointers<sizeof...(Args)>> in;
    const auto place = [&]<class T>(const T& argument) {
      if constexpr (is_attr<T>) attrs.template take<index_in_row<Op, T>>(argument.value);
      else if constexpr (list_argument<T>)
        for (const tensor& x : std::span<const tensor>(argument)) in.push_back(&x);
      else in.push_back(&argument);
    };
    (place(args), ...);
    return results_of_call<Op>(op, in, attrs.all());
  }
}

template <class Op, class... Attrs>
tensor_list invoke_list(const op_entry& op, std::span<const tensor> operands, const Attrs&... given) {
  if constexpr (check_attributes<attributes_shown<Op>, mistake_of<Op, Attrs...>>()) {
    listed_operands in;
    for (const tensor& x : operands) in.push_back(&x);
    attr_value attrs[attr_count<Op> + 1];
    ((attrs[index_in_row<Op, Attrs>] = given.value), ...);
    return run_list(op, in, {attrs, attr_count<Op>});
  } else {
    return {};
  }
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Runs a built-in op. Returns its result, or an array if the op has several results. For an op whose number of results
/// depends on shapes, it returns the first; use call_list. A list operand comes last, as several tensors or as a list
/// of tensors. Throws `error` for shapes, dtypes or values that the op rejects.
template <fixed_string Op, class... Args>
  requires known_op<Op>
inline call_result<known<Op>> call(const Args&... args) {
  return detail::invoke<known<Op>>(detail::known_entry<op_id<Op>>(), args...);
}

template <fixed_string Op, class... Args>
  requires(find_op(Op) < 0)
tensor call(const Args&...) {
  static_assert(detail::is_op<detail::nearest_name<Op>>, "no op has this name: docs/ops.md lists all");
  return {};
}

/// Runs a built-in op on a list of operands (Concat, Pack, AddN) and returns all its results. Use it also if their
/// number depends on shapes and attributes (Unpack, SplitV). Throws as `call`.
template <fixed_string Op, class... Attrs>
  requires known_op<Op>
tensor_list call_list(std::span<const tensor> operands, const Attrs&... given) {
  return detail::invoke_list<known<Op>>(detail::known_entry<op_id<Op>>(), operands, given...);
}

}  // namespace kerngrad

namespace kerngrad::detail {

// The elements on one axis, in their order: what a function along an axis takes where none is named.
inline tensor in_a_row(const tensor& x) {
  return !x.defined() || x.rank() == 1 ? x : call<"Reshape">(x, attr<"shape">(shape{x.size()}));
}

}  // namespace kerngrad::detail
