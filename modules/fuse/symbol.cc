// SPDX-License-Identifier: Apache-2.0
// Symbols: what an expression is written with when it is read by the compiler and not run. A function of tensors that
// is called with symbols leaves behind the list of its steps; `fuse` makes programs of such lists, and the gradient
// rules, called with symbols, write the steps of a derivative.
module;
#include "kernels/common/abi.h"
export module kerngrad:symbol;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;
import :engine;
import :call;
import :axes;

namespace kerngrad::detail {

struct symbolic_gradient;

enum class step_kind : std::uint8_t {
  operand,   // operand number `operand`
  literal,   // a number next to in[0], whose dtype it takes
  constant,  // zeros or ones like in[0]
  op,
};

/// One step of an expression. Operands of a step come before it in the list.
struct fused_step {
  step_kind kind = step_kind::op;
  std::int8_t operand = 0;  // which operand
  std::int8_t buffer = -1;  // where the result of the step lives while a block is computed; -1: in a result
  dtype to{};               // of a Cast
  std::array<std::int16_t, 3> in{-1, -1, -1};
  const op_entry* op = nullptr;
  const op_row* row = nullptr;               // what op->row points to, readable by the compiler
  const symbolic_gradient* rules = nullptr;  // of a user-defined op; built-in ops have theirs in a table
  std::array<double, 2> numbers{};           // attributes, or the value of a literal or constant
  plain_number number{};                     // a literal as it was written
};

constexpr bool same_number(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
constexpr bool same_step(const fused_step& a, const fused_step& b) {
  return a.kind == b.kind && a.number == b.number && a.operand == b.operand && a.to == b.to && a.in == b.in &&
         a.op == b.op && same_number(a.numbers[0], b.numbers[0]) && same_number(a.numbers[1], b.numbers[1]);
}

/// The steps so far. A step that is there already is not added again, so what is written twice is computed once.
struct step_list {
  std::vector<fused_step> steps;
  constexpr int add(const fused_step& step) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (same_step(steps[i], step)) return static_cast<int>(i);
    steps.push_back(step);
    return static_cast<int>(steps.size()) - 1;
  }
};

/// True if the op's kernels compute each element of the result from the operands' elements at the same index.
constexpr bool works_by_element(const op_row& row) {
  return row.convention == convention::unary || row.convention == convention::binary ||
         row.convention == convention::select || row.convention == convention::cast ||
         row.convention == convention::convert;
}
/// True if the op returns its operand unchanged.
constexpr bool gives_back(const op_row& row) { return row.convention == convention::copy && row.attrs.empty(); }
/// True if the op can be a step of an expression.
constexpr bool can_be_step(const op_row& row) {
  return works_by_element(row) || gives_back(row) || row.convention == convention::zeros_like ||
         row.convention == convention::ones_like;
}
template <class T>
inline constexpr bool never = false;

/// Throws for an attribute that its spec rejects. No constant expression can call it. So the compiler shows its name
/// for a fraction as an integer attribute, and for a number outside of the range.
void an_attribute_of_a_fused_op_is_out_of_range(const op_row& row, const attr_spec& spec, const attr_value& value);

/// The number that a step keeps of an attribute. Kernels of fused programs take it as it is.
constexpr double step_number(const op_row& row, const attr_spec& spec, const attr_value& value) {
  const double number = value.as_number();
  const bool whole = spec.kind != attr_kind::integer || static_cast<double>(value.as_integer()) == number;
  // Numbers without bounds may be infinite or NaN.
  const bool below = spec.least > std::numeric_limits<double>::lowest() && !(number >= spec.least);
  const bool above = spec.most < std::numeric_limits<double>::max() && !(number <= spec.most);
  if (!whole || below || above) an_attribute_of_a_fused_op_is_out_of_range(row, spec, value);
  return number;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// True if `fuse` takes the op: it computes each element of its result from the elements at the same position, and has
/// its own kernel.
template <class Op>
concept fusable_op = detail::can_be_step(Op::row);

/// A value of an expression while `fuse` reads it: it has no elements, no shape and no dtype yet. Elementwise ops,
/// operators and numbers combine symbols to symbols; other functions do not take them.
struct symbol {
  detail::step_list* in = nullptr;
  int at = -1;

  /// Deleted: a symbol is no tensor. The declaration gives the compile error a name.
  template <std::same_as<tensor> T>
  constexpr operator T() const {
    static_assert(detail::never<T>,
                  "[fuse] only elementwise ops, operators with numbers and a last reduction can be fused: this "
                  "function takes tensors; call it outside of the expression");
    return T();
  }
};

/// The result of a reduction in an expression that `fuse` reads. It must be the last step.
struct reduced_symbol {
  symbol of;
  const detail::op_entry* op = nullptr;
  std::optional<std::int64_t> axis;  // all of them when there is none
  bool keep_dims = false;
};

/// A value of an expression that `fuse` reads: a `symbol`, or a `reduced_symbol` at its end.
template <class T>
concept symbolic = std::same_as<T, symbol> || std::same_as<T, reduced_symbol>;
/// Two operands of which one is a symbol and the other a symbol or a number.
template <class A, class B>
concept symbolic_pair = (symbolic<A> && (symbolic<B> || number<B>)) || (number<A> && symbolic<B>);

}  // namespace kerngrad

namespace kerngrad::detail {

constexpr symbol as_step(symbol x) { return x; }
template <std::same_as<reduced_symbol> R>
constexpr symbol as_step(R x) {
  static_assert(never<R>,
                "[fuse] a reduction can only be the last step of a fused expression: end the expression there");
  return x.of;
}

/// A number next to a symbol.
constexpr symbol literal_step(const plain_number& number, symbol like) {
  fused_step step{.kind = step_kind::literal, .number = number};
  step.in[0] = static_cast<std::int16_t>(like.at);
  step.numbers[0] = number.value;
  return {like.in, like.in->add(step)};
}
template <class T>
constexpr symbol literal_step(T value, symbol like) {
  return literal_step(number_of(value), like);
}
constexpr symbol constant_step(double value, symbol like) {
  fused_step step{.kind = step_kind::constant};
  step.in[0] = static_cast<std::int16_t>(like.at);
  step.numbers[0] = value;
  return {like.in, like.in->add(step)};
}
template <class T>
constexpr bool is_constant(symbol x, T value) {
  const fused_step& step = x.in->steps[static_cast<std::size_t>(x.at)];
  return step.kind == step_kind::constant && step.numbers[0] == value;
}

/// The step of an op on symbols, or what stands for it. `numbers` are its attributes in the order of the row.
constexpr symbol op_step(const op_entry* op, const op_row& row, const symbolic_gradient* rules,
                         std::span<const symbol> in, std::array<double, 2> numbers = {}, dtype to = {}) {
  if (gives_back(row)) return in[0];
  if (row.convention == convention::zeros_like) return constant_step(0, in[0]);
  if (row.convention == convention::ones_like) return constant_step(1, in[0]);
  fused_step step{.to = to, .op = op, .row = &row, .rules = rules, .numbers = numbers};
  for (std::size_t i = 0; i < in.size(); ++i) step.in[i] = static_cast<std::int16_t>(in[i].at);
  return {in[0].in, in[0].in->add(step)};
}

template <class Op, class... Args>
constexpr symbol symbol_call(const op_entry* op, const symbolic_gradient* rules, const Args&... args) {
  constexpr const op_row& row = Op::row;
  static_assert(fusable_op<Op>,
                "[fuse] this op does not work element by element, so it cannot be fused: call it outside of the "
                "expression; a reduction is written as kg::sum, mean, prod, max or min, as the last step");
  static_assert(check_attributes<attributes_shown<Op>, mistake_of<Op, Args...>>());
  static_assert(((is_attr<Args> || symbolic<Args>) && ...),
                "[fuse] an operand that is no symbol: tensors are operands "
                "of the fused function, not of the expression");
  constexpr std::size_t count = (std::size_t{0} + ... + (is_attr<Args> ? 0u : 1u));
  static_assert(count == row.operands.size(), "a wrong number of operands: see the op's row");
  if constexpr (fusable_op<Op> && count == row.operands.size() && ((is_attr<Args> || symbolic<Args>) && ...)) {
    std::array<symbol, count> in;
    std::array<double, 2> numbers{};
    dtype to{};
    for (std::size_t i = 0; i < row.attrs.size() && i < 2; ++i)
      if (!row.attrs[i].required) numbers[i] = default_of(row.attrs[i]).as_number();
    std::size_t next = 0;
    const auto place = [&]<class T>(const T& argument) {
      if constexpr (!is_attr<T>) in[next++] = as_step(argument);
      else if (argument.value.kind() == attr_kind::dtype) to = argument.value.as_dtype();
      else {
        constexpr std::size_t at = index_in_row<Op, T>;
        numbers[at] = step_number(row, row.attrs[at], argument.value);
      }
    };
    (place(args), ...);
    return op_step(op, row, rules, in, numbers, to);
  } else {
    return {};
  }
}

/// A built-in op of two operands, one of which may be a number.
template <fixed_string Op, class A, class B>
constexpr symbol pair_step(A a, B b) {
  if constexpr (!symbolic<A>) return pair_step<Op>(literal_step(a, as_step(b)), b);
  else if constexpr (!symbolic<B>) return pair_step<Op>(a, literal_step(b, as_step(a)));
  else return symbol_call<known<Op>>(&known_entry<op_id<Op>>(), nullptr, a, b);
}

// No constant expression calls it: its name is what the compiler says of a fused reduction over two axes, or none.
void a_fused_reduction_is_over_all_axes_or_one();

template <fixed_string Op>
constexpr reduced_symbol reduced_step(symbol x, const axes& over, bool keep_dims) {
  const attr_value& value = over.value();
  std::optional<std::int64_t> axis;
  if (value.kind() == attr_kind::integer) axis = value.as_integer();
  else if (value.given() && value.as_list().size() == 1) axis = value.as_list()[0];
  else if (value.given()) a_fused_reduction_is_over_all_axes_or_one();
  return {x, &known_entry<op_id<Op>>(), axis, keep_dims};
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Adds a call of a built-in op to an expression that `fuse` reads, with the arguments of the typed call of the same
/// name.
template <fixed_string Op, class... Args>
  requires known_op<Op> && (symbolic<Args> || ...)
constexpr symbol call(const Args&... args) {
  return detail::symbol_call<known<Op>>(&detail::known_entry<op_id<Op>>(), nullptr, args...);
}

/// An elementwise operator in an expression that `fuse` reads. It computes the same as on tensors.
template <symbolic X> constexpr symbol operator-(X x) { return call<"Neg">(x); }
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator+(A a, B b) {
  return detail::pair_step<"Add">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator-(A a, B b) {
  return detail::pair_step<"Sub">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator*(A a, B b) {
  return detail::pair_step<"Multiply">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator/(A a, B b) {
  return detail::pair_step<"RealDiv">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator<(A a, B b) {
  return detail::pair_step<"Less">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator<=(A a, B b) {
  return detail::pair_step<"LessEqual">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator>(A a, B b) {
  return detail::pair_step<"Greater">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator>=(A a, B b) {
  return detail::pair_step<"GreaterEqual">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator==(A a, B b) {
  return detail::pair_step<"Equal">(a, b);
}
template <class A, class B>
  requires symbolic_pair<A, B>
constexpr symbol operator!=(A a, B b) {
  return detail::pair_step<"NotEqual">(a, b);
}

template <symbolic X>
constexpr symbol leaky_relu(X x, double alpha = 0.2) {
  return call<"LeakyRelu">(x, attr<"alpha">(alpha));
}
template <symbolic X>
constexpr symbol step(X x, double alpha = 0) {
  return call<"Step">(x, attr<"alpha">(alpha));
}
template <symbolic X>
constexpr symbol clip(X x, double least, double most) {
  return call<"ClipByValue">(x, attr<"clipValueMin">(least), attr<"clipValueMax">(most));
}
template <symbolic C, symbolic T, symbolic E>
constexpr symbol where(C condition, T t, E e) {
  return call<"Select">(condition, t, e);
}
template <symbolic C, symbolic T, class E>
  requires number<E>
constexpr symbol where(C condition, T t, E e) {
  return where(condition, t, detail::literal_step(e, detail::as_step(t)));
}
template <symbolic C, class T, symbolic E>
  requires number<T>
constexpr symbol where(C condition, T t, E e) {
  return where(condition, detail::literal_step(t, detail::as_step(e)), e);
}
// Two numbers are bool, int32 or float32, as those next to a tensor. A truth value as a literal would count as int32.
template <symbolic C, class T, class E>
  requires(number<T> && number<E>)
constexpr symbol where(C condition, T t, E e) {
  constexpr bool whole = std::is_integral_v<T> && std::is_integral_v<E>;
  if constexpr (std::is_same_v<T, bool> && std::is_same_v<E, bool>) {
    const symbol like = call<"Cast">(condition, attr<"dtype">(dtype::boolean));
    return where(condition, detail::constant_step(t, like), detail::constant_step(e, like));
  } else {
    const symbol like = call<"Cast">(condition, attr<"dtype">(whole ? dtype::int32 : dtype::float32));
    return where(condition, detail::literal_step(t, like), detail::literal_step(e, like));
  }
}
template <symbolic X>
constexpr symbol cast(X x, dtype to) {
  return call<"Cast">(x, attr<"dtype">(to));
}

/// Placeholder for an operand's dtype in the gradient rules of a fused function. A fused derivative has one floating
/// dtype throughout, so a cast to this placeholder returns its operand.
struct symbolic_type {};
template <symbolic X>
constexpr symbol cast(X x, symbolic_type) {
  return detail::as_step(x);
}
/// Returns x: fused derivatives are those of real numbers, so there is nothing to conjugate.
template <symbolic X>
constexpr symbol conj(X x) {
  return detail::as_step(x);
}

// The reductions that can end an expression: over all axes, or over one.
template <symbolic X>
constexpr reduced_symbol sum(X x, const axes& over = all_axes, bool keep_dims = false) {
  return detail::reduced_step<"Sum">(detail::as_step(x), over, keep_dims);
}
template <symbolic X>
constexpr reduced_symbol mean(X x, const axes& over = all_axes, bool keep_dims = false) {
  return detail::reduced_step<"Mean">(detail::as_step(x), over, keep_dims);
}
template <symbolic X>
constexpr reduced_symbol prod(X x, const axes& over = all_axes, bool keep_dims = false) {
  return detail::reduced_step<"Prod">(detail::as_step(x), over, keep_dims);
}
template <symbolic X>
constexpr reduced_symbol max(X x, const axes& over = all_axes, bool keep_dims = false) {
  return detail::reduced_step<"Max">(detail::as_step(x), over, keep_dims);
}
template <symbolic X>
constexpr reduced_symbol min(X x, const axes& over = all_axes, bool keep_dims = false) {
  return detail::reduced_step<"Min">(detail::as_step(x), over, keep_dims);
}

}  // namespace kerngrad
