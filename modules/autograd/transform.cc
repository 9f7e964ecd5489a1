// SPDX-License-Identifier: Apache-2.0
// Functions made of functions, next to grad: products with the Jacobian from both sides, a function that keeps none of
// its intermediates, and custom rules for functions of several tensors, at run time and at compile time.
module;
#include "kernels/common/abi.h"
export module kerngrad:transform;

import :std;
import :core;
import :op;
import :tensor;
import :engine;
import :grad;

namespace kerngrad::detail {

struct pullback_state;
struct linearized {
  tensor value;
  std::shared_ptr<const pullback_state> back;
};
linearized linearize(borrowed f, std::span<const tensor> xs);
std::vector<tensor> pull(const pullback_state& back, const tensor& dy);
tensor tangent_of(borrowed f, std::span<const tensor> xs, std::span<const tensor> vs, tensor& value);

using list_function = std::function<tensor(std::span<const tensor>)>;
using lists_function = std::function<std::vector<tensor>(std::span<const tensor>)>;
std::vector<tensor> run_checkpointed(const lists_function& f, std::span<const tensor> xs);
[[noreturn]] void refuse_values(int got, int wanted);

template <class F, class... T>
concept tensor_function =
    std::is_invocable_v<F&, as_tensor<T>...> && taken_for<std::invoke_result_t<F&, as_tensor<T>...>, tensor>;

// Tensors and trees of them: what a function of either takes, and its tensors in a row.
template <class T>
concept tensor_like = taken_for<const T&, const tensor&>;
template <class T>
concept tensor_or_tree = tensor_like<T> || tree<T>;
template <class T>
using followed = std::conditional_t<tensor_like<T>, tensor, std::remove_cvref_t<T>>;

template <tensor_or_tree T>
void take_leaves(const T& from, std::vector<tensor>& leaves) {
  if constexpr (tensor_like<T>) {
    leaves.push_back(from);
  } else {
    for (tensor& leaf : tree_leaves(from)) leaves.push_back(std::move(leaf));
  }
}
// The tensor or tree with the first of `leaves` as its tensors, which are dropped from there.
template <class T>
T with_leaves(T tree, std::span<const tensor>& leaves) {
  std::size_t used = 1;
  if constexpr (std::same_as<T, tensor>) {
    tree = leaves.front();
  } else {
    used = tree_leaves(tree).size();
    replace_leaves(tree, leaves);
  }
  leaves = leaves.subspan(used);
  return tree;
}

template <class F, class... T>
struct result_on {};
template <class F, class... T>
  requires(tensor_or_tree<T> && ...) && std::is_invocable_v<F&, const followed<T>&...>
struct result_on<F, T...> {
  using type = followed<std::invoke_result_t<F&, const followed<T>&...>>;
};
template <class F, class... T>
concept function_of_trees =
    requires { typename result_on<F, T...>::type; } && tensor_or_tree<typename result_on<F, T...>::type>;

}  // namespace kerngrad::detail

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ Jacobian products

/// Turns a gradient of the result of f into gradients of its N operands. You can call it any number of times; f does
/// not run again. It keeps the values that the rules of f's ops need until its last copy is gone. The gradients are
/// differentiable with respect to dy everywhere, and with respect to the operands inside the recording in which vjp was
/// called. A pullback that was made inside a recording works only there and on that thread; elsewhere it throws.
/// Otherwise any thread may call it.
template <std::size_t N>
class pullback {
 public:
  explicit pullback(std::shared_ptr<const detail::pullback_state> state) : state_(std::move(state)) {}
  /// dy has the result's shape and dtype; by default it is ones. An operand that the result does not depend on has a
  /// gradient of zeros.
  std::array<tensor, N> operator()(const tensor& dy = {}) const {
    std::vector<tensor> all = detail::pull(*state_, dy);
    std::array<tensor, N> grads;
    for (std::size_t i = 0; i < N; ++i) grads[i] = std::move(all[i]);
    return grads;
  }

 private:
  std::shared_ptr<const detail::pullback_state> state_;
};

/// The result of vjp: `auto [value, back] = vjp(f)(x);`
template <std::size_t N>
struct value_and_pullback {
  tensor value;
  pullback<N> back;
};

}  // namespace kerngrad

namespace kerngrad::detail {

/// The function that vjp returns.
template <class F>
class pullback_function {
 public:
  explicit pullback_function(F f) : f_(std::move(f)) {}
  template <class... T>
    requires tensor_function<F, T...>
  value_and_pullback<sizeof...(T)> operator()(const T&... x) {
    return of(f_, std::array<tensor, sizeof...(T)>{x...});
  }
  template <class... T>
    requires tensor_function<const F, T...>
  value_and_pullback<sizeof...(T)> operator()(const T&... x) const {
    return of(f_, std::array<tensor, sizeof...(T)>{x...});
  }

 private:
  template <class G, std::size_t N>
  static value_and_pullback<N> of(G& f, const std::array<tensor, N>& xs) {
    linearized made = linearize(borrow<N>(f), xs);
    return {std::move(made.value), pullback<N>(std::move(made.back))};
  }
  F f_;
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Returns the value of f and a function that computes vector-Jacobian products. After `auto [y, back] = vjp(f)(a, b);`
/// `back(dy)[0]` is the gradient with respect to a, weighted by dy. f runs once. Throws if the result is neither
/// floating nor complex.
template <class F>
detail::pullback_function<F> vjp(F f) {
  return detail::pullback_function<F>(std::move(f));
}

/// The result of vjp_of.
struct value_and_pullback_list {
  tensor value;
  std::function<std::vector<tensor>(const tensor& dy)> back;
};
/// `vjp` of a function of a list of operands. The length of the list is only known at run time. Errors are those of
/// `vjp`.
value_and_pullback_list vjp_of(const std::function<tensor(std::span<const tensor>)>& f, std::span<const tensor> xs);

/// A value and its derivative in a direction.
struct value_and_tangent {
  tensor value;
  tensor tangent;
};

/// The function that `jvp` returns.
template <class F>
class jacobian_product {
 public:
  explicit jacobian_product(F f) : f_(std::move(f)) {}
  /// For a function of one tensor: at x, in the direction v.
  value_and_tangent operator()(const tensor& x, const tensor& v)
    requires detail::tensor_function<F, tensor>
  {
    return along<1>(f_, {&x, 1}, {&v, 1});
  }
  value_and_tangent operator()(const tensor& x, const tensor& v) const
    requires detail::tensor_function<const F, tensor>
  {
    return along<1>(f_, {&x, 1}, {&v, 1});
  }
  /// For a function of several tensors: `jvp(f)({a, b}, {va, vb})`. An undefined tensor stands for a direction of
  /// zeros.
  template <std::size_t N>
  value_and_tangent operator()(const tensor (&xs)[N], const tensor (&vs)[N]) {
    return along<N>(f_, xs, vs);
  }
  template <std::size_t N>
  value_and_tangent operator()(const tensor (&xs)[N], const tensor (&vs)[N]) const {
    return along<N>(f_, xs, vs);
  }

 private:
  template <std::size_t N, class G>
  static value_and_tangent along(G& f, std::span<const tensor> xs, std::span<const tensor> vs) {
    value_and_tangent result;
    result.tangent = detail::tangent_of(detail::borrow<N>(f), xs, vs, result.value);
    return result;
  }

  F f_;
};

/// The Jacobian-vector product: the value of f at x and its derivative in the direction v, which has the shape and
/// dtype of x. For a holomorphic f of complex tensors it is f'(x) v. A result that depends on no operand has a tangent
/// of zeros. Throws if the result is neither floating nor complex, and for a direction of an integer operand. Nests
/// with all other transforms. It is computed as the gradient, with respect to dy, of the vector-Jacobian product, which
/// is linear in dy (Griewank and Walther, "Evaluating Derivatives", 2008). So it needs no rules of its own, and works
/// with custom rules that are written in ops.
template <class F>
jacobian_product<F> jvp(F f) {
  return jacobian_product<F>(std::move(f));
}

/// `jvp` of a function of a list of operands. The length of the list is only known at run time. Throws as `jvp`, and
/// unless there is one direction per operand.
value_and_tangent jvp_of(const std::function<tensor(std::span<const tensor>)>& f, std::span<const tensor> xs,
                         std::span<const tensor> vs);

// ------------------------------------------------------------------------------------------ checkpoints

/// Returns f with less memory for gradients: a recording keeps the operands of f and the variables that it reads, not
/// its intermediate results. The backward pass runs f again to get them. Operands are tensors and trees of tensors, the
/// result is a tensor or a tree. The function f must compute the same each time; random ops do, because their seeds are
/// attributes. It may read variables, and gets the values that it read first. If it assigns to one while it is
/// recorded, it throws. Captured tensors have gradients as well. Objects that f captured by reference must live until
/// the gradient has been taken. Without a recording, a call runs f and keeps nothing.
template <class F>
auto checkpoint(F f) {
  return [f = std::shared_ptr<F>(new F(std::move(f)))]<class... T>(const T&... x) ->
         typename detail::result_on<F, T...>::type
           requires detail::function_of_trees<F, T...>
  {
    using result = typename detail::result_on<F, T...>::type;
    std::vector<tensor> xs;
    (detail::take_leaves(x, xs), ...);
    // The first run's tree goes to the caller; nobody waits for those of later runs.
    struct first_result {
      std::optional<result> tree{};
      bool awaited = true;
    };
    const std::shared_ptr<first_result> first(new first_result);
    const auto again = [f, trees = std::tuple<detail::followed<T>...>(x...), first](std::span<const tensor> values) {
      const auto run = [&](const auto&... tree) -> result {
        [[maybe_unused]] std::span<const tensor> rest = values;
        // Braces keep the order of the operands.
        const std::tuple<detail::followed<T>...> at{detail::with_leaves(tree, rest)...};
        return std::apply(*f, at);
      };
      result y = std::apply(run, trees);
      std::vector<tensor> leaves;
      detail::take_leaves(y, leaves);
      if (first->awaited) first->tree = std::move(y);
      return leaves;
    };
    const std::vector<tensor> leaves = detail::run_checkpointed(again, xs);
    first->awaited = false;
    result tree = *std::exchange(first->tree, {});
    std::span<const tensor> rest = leaves;
    return detail::with_leaves(std::move(tree), rest);
  };
}

// ------------------------------------------------------------------------------------------ custom rules

/// A `custom_result` of a fixed number of values, which `with_gradients` makes.
template <std::size_t N>
struct custom_results {
  std::array<tensor, N> values;
  detail::custom_rule gradient;
};

}  // namespace kerngrad

namespace kerngrad::detail {

// Result for the caller of a function given to custom_grad: one tensor, an array of them, or neither.
template <class T>
struct values_of {
  static constexpr bool known = taken_for<T, custom_result>;
  static tensor of(tensor_list list) {
    if (list.size() != 1) refuse_values(list.size(), 1);
    return std::move(list.front());
  }
};
template <std::size_t N>
struct values_of<custom_results<N>> {
  static constexpr bool known = true;
  static std::array<tensor, N> of(tensor_list list) {
    std::array<tensor, N> values;
    for (std::size_t k = 0; k < N; ++k) values[k] = std::move(list[static_cast<int>(k)]);
    return values;
  }
};

inline custom_result as_result(custom_result result) { return result; }
template <std::size_t N>
custom_result as_result(custom_results<N> result) {
  custom_result list{{}, std::move(result.gradient)};
  for (tensor& value : result.values) list.values.push_back(std::move(value));
  return list;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Returns a custom_results of several values and their rule. The rule takes a dy for each value, zeros for unused
/// ones, and also the values if it has a second parameter. It returns one gradient per operand.
template <std::size_t N>
custom_results<N> with_gradients(std::array<tensor, N> values, detail::custom_rule gradient) {
  return {std::move(values), std::move(gradient)};
}

/// custom_grad as a function of tensors: `auto f = custom_grad([](const tensor& a, const tensor& b) { return
/// with_gradient(...); });` f returns a tensor for with_gradient, and an array of tensors for with_gradients.
template <class F>
auto custom_grad(F f) {
  return [f]<class... T>(const T&... x)
    requires std::is_invocable_v<const F&, detail::as_tensor<T>...>
  {
    using values = detail::values_of<std::invoke_result_t<const F&, detail::as_tensor<T>...>>;
    static_assert(values::known,
                  "a function given to custom_grad must return with_gradient(...) or with_gradients(...)");
    if constexpr (values::known) {
      const std::array<tensor, sizeof...(x)> operands{x...};
      const auto run = [&](std::span<const tensor> xs) -> custom_result {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          return detail::as_result(f(xs[I]...));
        }(std::make_index_sequence<sizeof...(x)>{});
      };
      return values::of(custom_grad(run, operands));
    }
  };
}

}  // namespace kerngrad
