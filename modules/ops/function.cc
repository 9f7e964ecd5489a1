// SPDX-License-Identifier: Apache-2.0
// Built-in ops as objects. The typed names are functions, which may be overloaded and so are no values: what is handed
// to another function, `grad(function_of<"Tanh">)`, or kept in a table, is one of these, and the names call them.
module;
#include "kernels/common/abi.h"
export module kerngrad:function;

import :std;
import :core;
import :table;
import :tensor;
import :entry;
import :engine;
import :call;
import :symbol;

export namespace kerngrad {

// A tensor that is moved from, a temporary or one that was moved, may donate its memory to the result: so a chain of
// calls needs one block however long it is.

/// Type of `function_of`. Calls a built-in op with operands and attributes, as `call`.
template <fixed_string Op>
  requires known_op<Op>
struct op_function {
  template <class... Args>
  inline call_result<known<Op>> operator()(const Args&... args) const {
    return call<Op>(args...);
  }
  template <class... Args>
    requires(symbolic<Args> || ...)
  constexpr symbol operator()(const Args&... args) const {
    return call<Op>(args...);
  }
};

/// `op_function` of an elementwise op with one operand and without attributes.
template <fixed_string Op>
  requires known_op<Op> && (detail::bare_count<known<Op>> == 1)
struct op_function<Op> {
  inline tensor operator()(const tensor& x) const { return call<Op>(x); }
  inline tensor operator()(tensor&& x) const { return detail::run_unary(detail::known_entry<op_id<Op>>(), x, 1); }
  template <symbolic X>
  constexpr symbol operator()(X x) const {
    return call<Op>(x);
  }
};

/// `op_function` of an elementwise op with two operands and without attributes. One of them may be a number.
template <fixed_string Op>
  requires known_op<Op> && (detail::bare_count<known<Op>> == 2)
struct op_function<Op> {
  inline tensor operator()(const tensor& a, const tensor& b) const { return call<Op>(a, b); }
  inline tensor operator()(tensor&& a, const tensor& b) const { return detail::run_binary(entry(), a, b, 1); }
  inline tensor operator()(const tensor& a, tensor&& b) const { return detail::run_binary(entry(), a, b, 2); }
  inline tensor operator()(tensor&& a, tensor&& b) const { return detail::run_binary(entry(), a, b, 3); }
  template <number T> inline tensor operator()(const tensor& a, T b) const { return detail::run_with(entry(), a, b); }
  template <number T> inline tensor operator()(tensor&& a, T b) const { return detail::run_with(entry(), a, b, 1); }
  template <number T> inline tensor operator()(T a, const tensor& b) const { return detail::run_with(entry(), a, b); }
  template <number T> inline tensor operator()(T a, tensor&& b) const { return detail::run_with(entry(), a, b, 1); }
  template <class A, class B>
    requires symbolic_pair<A, B>
  constexpr symbol operator()(A a, B b) const {
    return detail::pair_step<Op>(a, b);
  }

 private:
  static inline const detail::op_entry& entry() { return detail::known_entry<op_id<Op>>(); }
};

/// A built-in op as a function object: `function_of<"Exp">(x)` is `exp(x)`, `grad(function_of<"Tanh">)` the gradient of
/// tanh. Arguments are those of the typed API: tensors, and attributes such as `attr<"axis">(1)`. Elementwise ops with
/// two operands also take a number next to a tensor. Symbols in `fuse` work too. Throws if the op does not accept the
/// arguments.
template <fixed_string Op>
  requires known_op<Op>
inline constexpr op_function<Op> function_of{};

}  // namespace kerngrad
