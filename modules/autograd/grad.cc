// SPDX-License-Identifier: Apache-2.0
// Gradients: of functions of tensors, of functions that read variables, and custom rules.
module;
#include "kernels/common/abi.h"
#include "modules/core/deleted.h"
#define KG_NO_TREE                                                                                  \
  KG_DELETED(                                                                                       \
      "a struct is a tree of tensors where kg::tree_members shows its members: template <> struct " \
      "kg::tree_members<T> { static auto of(auto& x) { return std::tie(x.weight, x.bias); } };")
export module kerngrad:grad;

import :std;
import :core;
import :op;
import :tensor;
import :engine;
import :tree;

export namespace kerngrad {

/// A value and its gradients, one per operand, for operands whose number is known at run time.
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
tensor spread(F& f, [[maybe_unused]] std::span<const tensor> xs, std::index_sequence<I...>) {
  return f(xs[I]...);
}
// The lists of operands as a question that is short in a message of the compiler.
template <class F, std::size_t... I>
consteval bool gives_tensor(std::index_sequence<I...>) {
  return std::is_invocable_r_v<tensor, F&, decltype(static_cast<void>(I), std::declval<const tensor&>())...>;
}
template <std::size_t Count, class F>
borrowed borrow(F& f) {
  constexpr bool fits = gives_tensor<F>(std::make_index_sequence<Count>{});
  static_assert(fits, "[grad] the function must take tensors, as many as it is differentiated at, and return a tensor");
  if constexpr (!fits) return {};
  else
    return {const_cast<void*>(static_cast<const void*>(&f)),
            [](void* function, std::span<const tensor> values) -> tensor {
              return spread(*static_cast<F*>(function), values, std::make_index_sequence<Count>{});
            }};
}

template <class T>
  requires detail::taken_for<const T&, const tensor&>
struct operand_of {
  using type = const tensor&;
};
template <class T>
using as_tensor = typename operand_of<T>::type;
// A const result of a transform may be called if its function may.
template <class F, class... T>
concept callable_as_const = std::is_invocable_v<const F&, as_tensor<T>...>;

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A value and its gradient with respect to one operand.
struct value_and_gradient {
  tensor value;
  tensor grad;
};
/// A value and its gradients with respect to N operands, in their order.
template <std::size_t N>
struct value_and_gradients {
  tensor value;
  std::array<tensor, N> grads;
};

/// A value and its gradient with respect to a tree of tensors. The gradient is a tree of the same type.
template <class T>
struct value_and_tree {
  tensor value;
  T grad;
};

}  // namespace kerngrad

namespace kerngrad::detail {

// The gradient of a function of a tree, whose leaves are followed.
template <class F, class T>
value_and_tree<T> tree_gradient(std::string_view name, F& f, const T& at) {
  const std::vector<tensor> leaves = tree_leaves(at);
  const auto run = [&](std::span<const tensor> followed) -> tensor {
    T tree = at;
    replace_leaves(tree, followed);
    return f(static_cast<const T&>(tree));
  };
  const borrowed call{
      const_cast<void*>(static_cast<const void*>(&run)),
      [](void* function, std::span<const tensor> values) { return (*static_cast<decltype(&run)>(function))(values); }};
  std::vector<tensor> grads(leaves.size());
  value_and_tree<T> out{gradients(name, call, leaves, nullptr, grads), at};
  replace_leaves(out.grad, grads);
  return out;
}
template <class F, class T>
concept function_of_tree = tree<T> && std::is_invocable_r_v<tensor, F&, const T&>;
#define KG_NUMBER_FOLLOWED "[grad] a gradient is that at a tensor: pass kg::tensor(3.), not 3"
template <class T>
inline constexpr bool is_operand = std::is_same_v<T, tensor>;
// A struct whose members nothing shows.
template <class T>
concept closed_struct = std::is_class_v<T> && !tree<T> && !detail::taken_for<const T&, tensor>;

/// The result of grad.
template <class F>
class gradient_function {
 public:
  explicit gradient_function(F f) : f_(std::move(f)) {}
  tensor operator()(const tensor& x, const tensor& dy = {}) { return of(f_, x, dy); }
  tensor operator()(const tensor& x, const tensor& dy = {}) const
    requires callable_as_const<F, tensor>
  {
    return of(f_, x, dy);
  }
  /// The same for a function of a tree.
  template <class T>
    requires function_of_tree<F, T>
  T operator()(const T& x) {
    return tree_gradient("kg::grad", f_, x).grad;
  }
  template <class T>
    requires function_of_tree<const F, T>
  T operator()(const T& x) const {
    return tree_gradient("kg::grad", f_, x).grad;
  }
  template <closed_struct T>
  T operator()(const T&) const = KG_NO_TREE;
  template <class T>
    requires number<T>
  tensor operator()(T) const {
    static_assert(is_operand<T>, KG_NUMBER_FOLLOWED);
    return {};
  }

 private:
  template <class G>
  static tensor of(G& f, const tensor& x, const tensor& dy) {
    tensor g;
    gradients("kg::grad", borrow<1>(f), {&x, 1}, dy.defined() ? &dy : nullptr, {&g, 1});
    return g;
  }
  F f_;
};

/// The result of value_and_grad.
template <class F>
class value_gradient_function {
 public:
  explicit value_gradient_function(F f) : f_(std::move(f)) {}
  value_and_gradient operator()(const tensor& x, const tensor& dy = {}) { return of(f_, x, dy); }
  value_and_gradient operator()(const tensor& x, const tensor& dy = {}) const
    requires callable_as_const<F, tensor>
  {
    return of(f_, x, dy);
  }
  /// The same for a function of a tree.
  template <class T>
    requires function_of_tree<F, T>
  value_and_tree<T> operator()(const T& x) {
    return tree_gradient("kg::value_and_grad", f_, x);
  }
  template <class T>
    requires function_of_tree<const F, T>
  value_and_tree<T> operator()(const T& x) const {
    return tree_gradient("kg::value_and_grad", f_, x);
  }
  template <closed_struct T>
  value_and_tree<T> operator()(const T&) const = KG_NO_TREE;
  template <class T>
    requires number<T>
  value_and_gradient operator()(T) const {
    static_assert(is_operand<T>, KG_NUMBER_FOLLOWED);
    return {};
  }

 private:
  template <class G>
  static value_and_gradient of(G& f, const tensor& x, const tensor& dy) {
    value_and_gradient out;
    out.value = gradients("kg::value_and_grad", borrow<1>(f), {&x, 1}, dy.defined() ? &dy : nullptr, {&out.grad, 1});
    return out;
  }
  F f_;
};

/// The result of grads and value_and_grads.
template <class F, bool WithValue>
class gradients_function {
 public:
  explicit gradients_function(F f) : f_(std::move(f)) {}
  template <class... T>
  auto operator()(const T&... x) {
    return of(f_, {x...}, std::index_sequence_for<T...>{});
  }
  template <class... T>
    requires callable_as_const<F, T...>
  auto operator()(const T&... x) const {
    return of(f_, {x...}, std::index_sequence_for<T...>{});
  }

 private:
  template <class G, std::size_t... I>
  static auto of(G& f, const std::array<tensor, sizeof...(I)>& xs, std::index_sequence<I...>) {
    value_and_gradients<sizeof...(I)> out;
    out.value =
        gradients(WithValue ? "kg::value_and_grads" : "kg::grads", borrow<sizeof...(I)>(f), xs, nullptr, out.grads);
    if constexpr (WithValue) return out;
    else return std::move(out.grads);
  }
  F f_;
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The gradient of f with respect to its operand: `grad(f)(x)`. A result that is no scalar is weighted by dy,
/// `grad(f)(x, dy)`; by default dy is ones, so the gradient is that of the sum. If f does not depend on the operand,
/// the gradient is zeros. Throws if f's result is neither floating nor complex, and if dy has another shape than the
/// result. Also throws if f computes with tracked tensors on another thread. Nests to any order. The function that is
/// returned is const if f is. The operand may also be a tree of tensors: for a std::map of parameters the gradient is a
/// std::map with the same keys. Tensors in it that are neither floating nor complex have gradients of zeros.
template <class F>
detail::gradient_function<F> grad(F f) {
  return detail::gradient_function<F>(std::move(f));
}

/// The value of f and its gradient in one pass: `value_and_grad(f)(x)`. Operands, dy and errors are as in `grad`.
template <class F>
detail::value_gradient_function<F> value_and_grad(F f) {
  return detail::value_gradient_function<F>(std::move(f));
}

/// The gradients of f with respect to every operand: `grads(f)(a, b)` is a std::array. Gradients and errors are those
/// of `grad` without dy.
template <class F>
detail::gradients_function<F, false> grads(F f) {
  return detail::gradients_function<F, false>(std::move(f));
}

/// The value of f and its gradients with respect to every operand, in one pass: `value_and_grads(f)(a, b)`. Gradients
/// and errors are those of `grad` without dy.
template <class F>
detail::gradients_function<F, true> value_and_grads(F f) {
  return detail::gradients_function<F, true>(std::move(f));
}

/// Computes the value of f at `xs` and one gradient per operand. Use it if the number of operands is only known at run
/// time. The arguments f and dy and the errors are as in `grad`.
value_and_gradient_list value_and_grads_of(const std::function<tensor(std::span<const tensor>)>& f,
                                           std::span<const tensor> xs, const tensor& dy = {});

/// Returns x as a constant: no gradient flows from the result back to x.
tensor stop_gradient(const tensor& x);
/// Returns x as a constant: `stop_gradient` under PyTorch's name.
inline tensor detach(const tensor& x) { return stop_gradient(x); }

/// Stops recording: while the object exists, this thread records nothing for the gradients around it. Results are
/// constants, as if each had gone through `stop_gradient`. Gradients that are taken inside the scope are right.
/// Gradients outside of it see the results of the scope as constants. Scopes nest.
class no_grad {
 public:
  [[nodiscard]] no_grad();
  ~no_grad();
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;
};

// ------------------------------------------------------------------------------------------ variables

/// A named tensor that can be assigned. Copies of the handle are the same variable. An assignment never changes a value
/// that was read before: readers and recordings keep the old one.
class variable {
 public:
  /// Makes a variable. variable_grads gives gradients of trainable variables only. Throws if the initial value is an
  /// undefined tensor.
  explicit variable(tensor initial, std::string name = {}, bool trainable = true);
  const std::string& name() const;
  bool trainable() const;
  /// The current value. Inside variable_grads the library records that it was read; on another thread it is a constant.
  tensor value() const;
  operator tensor() const { return value(); }
  /// Sets a new value. Throws if shape or dtype differs from that of the current value, and inside a checkpointed
  /// function that is recorded.
  void assign(const tensor& value) const;
  friend bool operator==(const variable& a, const variable& b) { return a.state_ == b.state_; }

 private:
  friend struct variable_access;
  std::shared_ptr<detail::variable_state> state_;
};

/// A variable and its gradient.
struct variable_gradient {
  variable of;
  tensor grad;
};
/// The result of variable_grads: the value of the function, and the gradients in the order in which their variables
/// were made. Variables that the value does not depend on are left out.
struct variable_gradients {
  tensor value;
  std::vector<variable_gradient> grads;
};

/// Runs f, which returns a scalar. Returns its value and the gradient of every trainable variable that f read, or of
/// those in `only`. Throws if the result has several elements or is neither floating nor complex, and if it depends on
/// none of these variables.
variable_gradients variable_grads(const std::function<tensor()>& f, std::span<const variable> only = {});

// ------------------------------------------------------------------------------------------ custom rules

}  // namespace kerngrad

namespace kerngrad::detail {

using values_rule = std::function<std::vector<tensor>(std::span<const tensor> dy, std::span<const tensor> values)>;

/// A rule of custom_grad: made of a function of the gradients of the values, or of those and the values.
class custom_rule {
 public:
  custom_rule() = default;
  template <class F>
    requires std::is_invocable_r_v<std::vector<tensor>, F&, std::span<const tensor>>
  custom_rule(F rule)
      : run_([rule = std::move(rule)](std::span<const tensor> dy, std::span<const tensor>) mutable {
          return rule(dy);
        }) {}
  template <class F>
    requires std::is_invocable_r_v<std::vector<tensor>, F&, std::span<const tensor>, std::span<const tensor>>
  custom_rule(F rule) : run_(std::move(rule)), takes_values_(true) {}

  explicit operator bool() const { return static_cast<bool>(run_); }
  bool takes_values() const { return takes_values_; }
  std::vector<tensor> operator()(std::span<const tensor> dy, std::span<const tensor> values) const {
    return run_(dy, values);
  }

 private:
  values_rule run_;
  bool takes_values_ = false;
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The result of a function with its own gradient rule: values, and a rule that turns gradients of the values into one
/// gradient per operand. An undefined tensor means that an operand has no gradient. The rule takes `dy`, the gradients
/// of the values, or `dy` and the values. The rule may capture operands and anything else. If it needs a value, it must
/// take the value as its second argument: a captured value would make gradients of higher order wrong.
struct custom_result {
  tensor_list values;
  detail::custom_rule gradient;
};
/// Returns a custom_result of one value. The rule takes dy and returns one gradient per operand.
custom_result with_gradient(tensor value, std::function<std::vector<tensor>(const tensor& dy)> gradient);
/// Returns a custom_result of one value, whose rule takes dy and the value. The value's gradient is the rule itself, so
/// every order is right.
custom_result with_gradient(tensor value,
                            std::function<std::vector<tensor>(const tensor& dy, const tensor& value)> gradient);

/// Runs f on the operands as one step of the recording. Its gradient comes from the rule that f returns, not from the
/// ops inside f. Higher orders differentiate the ops of the rule, through captured operands and the values that it
/// takes. Errors quote `name`. Throws if f returns no value or no rule. The backward pass throws if the rule returns
/// the wrong number, shape or dtype of gradients.
tensor_list custom_grad(const std::function<custom_result(std::span<const tensor>)>& f, std::span<const tensor> xs,
                        std::string_view name = "custom_grad");

}  // namespace kerngrad

namespace kerngrad {

// The optimizers' way into a variable: the value is taken out, so that a step can see whether it is held elsewhere.
struct variable_access {
  static tensor take(const variable& v);
  static void put(const variable& v, tensor value);
  static std::uint64_t number(const variable& v);
};

}  // namespace kerngrad
