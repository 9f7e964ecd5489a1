// SPDX-License-Identifier: Apache-2.0
// Gradients: of functions of tensors, of functions that read variables, and rules of one's own.
module;
#include "kernels/abi.h"
export module kerngrad:grad;

import :std;
import :core;
import :op;
import :tensor;
import :engine;

export namespace kerngrad {

/// A value and the gradients of operands whose number is known at run time.
struct value_and_gradient_list {
  tensor value;
  std::vector<tensor> grads;
};

}  // namespace kerngrad

namespace kerngrad::detail {

struct variable_state;

/// A borrowed callable: how the templates below hand a function to the compiled part.
struct borrowed {
  void* function;
  tensor (*run)(void* function, std::span<const tensor> xs);
};
// Gives the value and writes the gradients, one an operand.
tensor gradients(std::string_view name, borrowed f, std::span<const tensor> xs, const tensor* dy,
                 std::span<tensor> grads);

template <class F, std::size_t... I>
tensor spread(F& f, std::span<const tensor> xs, std::index_sequence<I...>) {
  return f(xs[I]...);
}
template <std::size_t Count, class F>
tensor gradients_of(std::string_view name, F& f, std::span<const tensor> xs, const tensor* dy,
                    std::span<tensor> grads) {
  const borrowed call{&f, [](void* function, std::span<const tensor> values) {
                        return spread(*static_cast<F*>(function), values, std::make_index_sequence<Count>{});
                      }};
  return gradients(name, call, xs, dy, grads);
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A value and the gradient of one operand.
struct value_and_gradient {
  tensor value;
  tensor grad;
};
/// A value and the gradients of N operands.
template <std::size_t N>
struct value_and_gradients {
  tensor value;
  std::array<tensor, N> grads;
};

/// The gradient of f with respect to its one operand: `grad(f)(x)`, or `grad(f)(x, dy)` to weight a result that is
/// no scalar (ones by default, so that the gradient is that of the sum). An operand that f does not depend on has a
/// gradient of zeros. Throws when f's result is not floating or complex, or dy has another shape. Nests to any order.
template <class F>
auto grad(F f) {
  return [f](const tensor& x, const tensor& dy = {}) mutable {
    tensor g;
    detail::gradients_of<1>("grad", f, {&x, 1}, dy.defined() ? &dy : nullptr, {&g, 1});
    return g;
  };
}

/// Value and gradient in one pass: `value_and_grad(f)(x)`.
template <class F>
auto value_and_grad(F f) {
  return [f](const tensor& x, const tensor& dy = {}) mutable {
    value_and_gradient out;
    out.value = detail::gradients_of<1>("value_and_grad", f, {&x, 1}, dy.defined() ? &dy : nullptr, {&out.grad, 1});
    return out;
  };
}

/// The gradients with respect to every operand: `grads(f)(a, b)`.
template <class F>
auto grads(F f) {
  return [f](const auto&... x) mutable {
    const tensor xs[] = {x...};
    std::array<tensor, sizeof...(x)> out;
    detail::gradients_of<sizeof...(x)>("grads", f, xs, nullptr, out);
    return out;
  };
}

/// Value and all gradients: `value_and_grads(f)(a, b)`.
template <class F>
auto value_and_grads(F f) {
  return [f](const auto&... x) mutable {
    const tensor xs[] = {x...};
    value_and_gradients<sizeof...(x)> out;
    out.value = detail::gradients_of<sizeof...(x)>("value_and_grads", f, xs, nullptr, out.grads);
    return out;
  };
}

/// The same for a list of operands whose length is known at run time; f takes the list.
value_and_gradient_list value_and_grads_of(const std::function<tensor(std::span<const tensor>)>& f,
                                           std::span<const tensor> xs, const tensor& dy = {});

/// x without its history: what is computed from it has no gradient for what x came from.
tensor stop_gradient(const tensor& x);

// ------------------------------------------------------------------------------------------ variables

/// A named tensor that can be assigned. Copies of the handle are the same variable. Assigning never changes a value
/// that was read before: readers and tapes keep theirs.
class variable {
 public:
  /// Throws when the initial value is an empty handle.
  explicit variable(tensor initial, std::string name = {}, bool trainable = true);
  const std::string& name() const;
  bool trainable() const;
  /// The value now. Inside variable_grads the reading is recorded.
  tensor value() const;
  operator tensor() const { return value(); }
  /// Throws when shape or dtype differ.
  void assign(const tensor& value) const;
  friend bool operator==(const variable& a, const variable& b) { return a.state_ == b.state_; }

 private:
  friend struct variable_access;
  std::shared_ptr<detail::variable_state> state_;
};

/// A variable and its gradient; variables that the value does not depend on are left out.
struct variable_gradient {
  variable of;
  tensor grad;
};
/// What variable_grads gives: the value, and the gradients in the order in which the variables were read.
struct variable_gradients {
  tensor value;
  std::vector<variable_gradient> grads;
};

/// Runs f, which must return a floating scalar, and gives its value and the gradient of every trainable variable that
/// f read: all of them, or those listed. Throws when the value depends on none.
variable_gradients variable_grads(const std::function<tensor()>& f, std::span<const variable> only = {});

// ------------------------------------------------------------------------------------------ rules of one's own

/// What a function with its own rule returns: values, and how gradients of the values become gradients of the
/// operands, one each; an empty tensor says that an operand has none. The rule may capture whatever it needs.
struct custom_result {
  tensor_list values;
  std::function<std::vector<tensor>(std::span<const tensor> dy)> gradient;
};
/// The usual case of one value.
custom_result with_gradient(tensor value, std::function<std::vector<tensor>(const tensor& dy)> gradient);

/// Runs f on the operands, as one step of the tape that takes its gradient from the rule that f returns, whatever f
/// did inside. What the rule computes is itself differentiated at higher orders, through values captured inside f.
/// A rule that returns the wrong number, shape or dtype of gradients throws when it is used.
tensor_list custom_grad(const std::function<custom_result(std::span<const tensor>)>& f, std::span<const tensor> xs,
                        std::string_view name = "custom_grad");

}  // namespace kerngrad

namespace kerngrad {

// The optimizers' way into a variable: the value is taken out, so that a step can see whether it is held elsewhere.
struct variable_access {
  static tensor take(const variable& v);
  static void put(const variable& v, tensor value);
};

}  // namespace kerngrad
