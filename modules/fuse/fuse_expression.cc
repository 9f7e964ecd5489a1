// SPDX-License-Identifier: Apache-2.0
// Fused functions that are put together while the program runs: for interpreters, whose expressions come from a file
// or a user. They run on the same programs and kernels as those that the compiler reads.
module;
#include "kernels/common/abi.h"
export module kerngrad:fuse_expression;

import :std;
import :core;
import :op;
import :tensor;
import :registry;
import :symbol;
import :fuse_program;

namespace kerngrad::detail {

/// The programs of an expression.
struct stored_expression;

/// Symbols of the operands, as the first steps of a list.
std::vector<symbol> operand_steps(step_list& list, int operands);
/// Makes the programs of the steps that lead to `root`.
std::shared_ptr<const stored_expression> stored(int operands, step_list list, symbol root,
                                                const fused_reduction& reduction);
tensor run_stored(const stored_expression* program, std::span<const tensor* const> in);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A function of tensors that runs in one pass, made at run time by `fuse(operands, f)`. Copies are the same function.
/// Any number of threads may call it at the same time.
class fused_expression {
 public:
  /// An empty function; calls throw.
  fused_expression() = default;
  explicit fused_expression(std::shared_ptr<const detail::stored_expression> program) : program_(std::move(program)) {}

  /// Computes the value. The result is bitwise identical to that of the same ops called one by one, and the call is one
  /// step of the recording. Throws for another number of operands, and for operands that one of the ops rejects.
  template <std::same_as<tensor>... T>
    requires(sizeof...(T) > 0)
  tensor operator()(const T&... xs) const {
    const tensor* const in[] = {&xs...};
    return detail::run_stored(program_.get(), in);
  }
  /// Computes the value for operands in an array.
  tensor operator()(std::span<const tensor* const> xs) const { return detail::run_stored(program_.get(), xs); }

 private:
  std::shared_ptr<const detail::stored_expression> program_;
};

/// Fuses an expression that is only known at run time. `f` is called once, with a symbol for each of `operands`, 1 to
/// 100, and returns the symbol of the result. It may have captures, loops and conditions, and call ops by name:
///   const kg::fused_expression f = kg::fuse(2, [&](std::span<const kg::symbol> x) {
///     kg::symbol y = x[0] * slope;
///     for (const std::string& op : ops) y = kg::call(op, {y});
///     return y + x[1];
///   });
///   kg::tensor r = f(a, b);
/// Symbols are invalid after `f` has returned. Throws for an expression of a thousand steps or more, and if a hundred
/// values or more are needed at once. Gradient: by the rules of the ops; op by op if one of them has no rule.
template <class F>
  requires std::is_invocable_v<F&, std::span<const symbol>>
fused_expression fuse(int operands, F&& f) {
  static_assert(symbolic<std::invoke_result_t<F&, std::span<const symbol>>>,
                "[fuse] the expression must return what it computed from its operands");
  detail::step_list list;
  const std::vector<symbol> xs = detail::operand_steps(list, operands);
  detail::fused_reduction reduction;
  const symbol root = detail::last_step(f(std::span<const symbol>(xs)), reduction);
  return fused_expression(detail::stored(operands, std::move(list), root, reduction));
}

/// An operand of a call in an expression: a symbol, or a number, which takes the dtype of the first symbol next to it.
class fuse_operand {
 public:
  fuse_operand(symbol x) : symbol_(x) {}
  template <class T>
    requires number<T>
  fuse_operand(T value) : number_(detail::number_of(value)), is_number_(true) {}
  bool is_number() const { return is_number_; }
  symbol as_symbol() const { return symbol_; }
  const detail::plain_number& as_number() const { return number_; }

 private:
  symbol symbol_;
  detail::plain_number number_{};
  bool is_number_ = false;
};

/// Adds a call of a built-in op by name to an expression that is put together at run time: `kg::call("Sub", {1, x})`.
/// Throws for an unknown name, an op that is not elementwise, a wrong number of operands, numbers alone, symbols of two
/// expressions, and unknown attributes.
symbol call(std::string_view op, std::span<const fuse_operand> operands, std::span<const attribute_ref> attrs = {});
inline symbol call(std::string_view op, std::initializer_list<fuse_operand> operands,
                   std::initializer_list<attribute_ref> attrs = {}) {
  return call(op, std::span(operands.begin(), operands.size()), std::span(attrs.begin(), attrs.size()));
}

/// True if a built-in op can be a step of a fused expression; false for an unknown name.
bool can_be_fused(std::string_view op);

}  // namespace kerngrad
