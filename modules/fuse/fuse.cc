// SPDX-License-Identifier: Apache-2.0
// Fused functions: an expression over elementwise ops, read by the compiler into a program that computes a block of
// elements at a time, on the kernels that single ops run on, and its derivative as another such program.
module;
#include "kernels/common/abi.h"
export module kerngrad:fuse;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;
import :engine;
import :call;
import :rule;
import :symbol;
import :fuse_rules;
import :fuse_program;
import :fuse_scalar;
import :own;
import :grad;

namespace kerngrad::detail {

/// A fused function at run time.
struct fused_parts {
  const fused_program* value = nullptr;
  const fused_program* gradient = nullptr;  // null: an op in it has no gradient rule
};

/// Runs a fused function on tensors; records it as one step of the tape.
tensor run_fused(const fused_parts& parts, std::span<const tensor* const> in);
/// Computes value and gradients in one pass. Gradient i belongs to operand of[i]. Returns false, and computes nothing,
/// if a recording or hook is active or dtypes differ.
bool run_fused_with_gradients(const fused_program& program, std::span<const tensor* const> in,
                              std::span<const std::size_t> of, tensor& value, std::span<tensor> grads);

template <class F, std::size_t N>
inline constexpr fused_parts parts_of{&program_of<F, N, fused_kind::value>::program,
                                      program_of<F, N, fused_kind::gradient>::whole.has_gradient
                                          ? &program_of<F, N, fused_kind::gradient>::program
                                          : nullptr};

/// The operands whose gradients are wanted: those that are listed, or all.
template <std::size_t Operands, std::size_t... Of>
inline constexpr auto wanted_operands = [] {
  constexpr std::size_t count = sizeof...(Of) == 0 ? Operands : sizeof...(Of);
  std::array<std::size_t, count> all{Of...};
  for (std::size_t i = 0; sizeof...(Of) == 0 && i < count; ++i) all[i] = i;
  return all;
}();
/// True if each listed operand exists and is listed once.
template <std::size_t Operands, std::size_t... Of>
consteval bool are_operands() {
  std::array<int, Operands> times{};
  for (std::size_t i : wanted_operands<Operands, Of...>)
    if (i >= Operands || ++times[i] > 1) return false;
  return true;
}

/// A symbol in place of an operand, for decltype, and the tensor that an expression of that type makes.
template <class T>
symbol symbol_for();
template <class T>
using tensor_for = tensor;
template <class F, class Operands>
inline constexpr bool takes_symbols = false;
template <class F, std::size_t... I>
inline constexpr bool takes_symbols<F, std::index_sequence<I...>> =
    requires(const F& f) { f((static_cast<void>(I), symbol())...); };
template <class F, class Operands>
struct read_as;
template <class F, std::size_t... I>
struct read_as<F, std::index_sequence<I...>> {
  using type = decltype(std::declval<const F&>()((static_cast<void>(I), symbol())...));
};

/// The checks of a fused expression on N operands; the first mistake is the one that is reported.
template <class F, std::size_t N>
consteval bool can_fuse() {
  if constexpr (!takes_symbols<F, std::make_index_sequence<N>>) {
    static_assert(takes_symbols<F, std::make_index_sequence<N>>,
                  "[fuse] the expression must be callable with as many operands as the fused function is called with: "
                  "a generic lambda like [](auto x, auto y) { return x * kg::sigmoid(y); }");
    return false;
  } else {
    using result = typename read_as<F, std::make_index_sequence<N>>::type;
    // A function of tensors that takes symbols is a mistake that has its message already.
    static_assert(bool(symbolic<result>) || std::is_same_v<result, tensor>,
                  "[fuse] the expression must return what it computed from its operands");
    return symbolic<result>;
  }
}

template <class Op>
inline constexpr symbolic_gradient own_symbolic_rules = [] {
  if constexpr (has_own_gradient<Op>) return symbolic_rules<Op::row>(Op::gradient);
  else return symbolic_gradient{};
}();
template <class Op>
consteval bool kernels_by_element() {
  for (const own_kernel& k : Op::kernels)
    if (k.slot.direct) return false;
  return true;
}

template <class T>
const tensor& first_tensor(const T& x, const auto&... rest) {
  if constexpr (std::is_same_v<T, tensor>) return x;
  else return first_tensor(rest...);
}
template <class T>
tensor as_operand(const T& x, const tensor& like) {
  if constexpr (std::is_same_v<T, tensor>) return x;
  else return number_like("kg::fuse", number_of(x), like);
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Adds a call of a custom op to an expression that `fuse` reads.
template <class Op, class... Args>
  requires(symbolic<Args> || ...)
constexpr symbol call(const Args&... args) {
  static_assert(detail::kernels_by_element<Op>(),
                "[fuse] an op whose kernel takes the whole call cannot be fused: give it a kernel per element or per "
                "pair, or call it outside of the expression");
  return detail::symbol_call<Op>(&detail::own_entry<Op>, &detail::own_symbolic_rules<Op>, args...);
}

/// The value of a fused function and its N derivatives, at single numbers.
template <class T, std::size_t N>
struct scalar_value_and_gradients {
  T value;
  std::array<T, N> grads;
};

/// A function of tensors that runs in one pass over the elements; `fuse` makes it.
template <class F>
class fused {
 public:
  /// Computes the value. Tensors broadcast; numbers take the dtype of the first tensor. Result and errors are bitwise
  /// identical to those of the same ops called one by one, but nothing is computed before all checks. While a gradient
  /// is recorded, the call is one step of the recording.
  template <class... T>
    requires(std::same_as<T, tensor> || ...)
  detail::tensor_for<decltype(std::declval<const F&>()(detail::symbol_for<T>()...))> operator()(const T&... xs) const {
    static_assert(((std::same_as<T, tensor> || number<T>) && ...),
                  "[fuse] operands of a fused function are tensors and numbers");
    if constexpr (detail::can_fuse<F, sizeof...(T)>()) {
      if constexpr ((std::same_as<T, tensor> && ...)) {
        const tensor* const in[] = {&xs...};
        return detail::run_fused(detail::parts_of<F, sizeof...(T)>, in);
      } else {
        const tensor& like = detail::first_tensor(xs...);
        const tensor all[] = {detail::as_operand(xs, like)...};
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          const tensor* const in[] = {&all[I]...};
          return detail::run_fused(detail::parts_of<F, sizeof...(T)>, in);
        }(std::index_sequence_for<T...>{});
      }
    } else {
      return {};
    }
  }

  /// Rejects another number of operands at compile time. The first overload reads the expression, so that the
  /// compiler's message about a mistake in the expression has few lines.
  template <class... T>
    requires((std::same_as<T, tensor> || ...) && !detail::takes_symbols<F, std::index_sequence_for<T...>>)
  tensor operator()(const T&...) const {
    static_cast<void>(detail::can_fuse<F, sizeof...(T)>());
    return {};
  }

  /// Computes the value at single numbers, all float or all double. The scalar code is inlined where it is called. It
  /// uses the functions of the C library, so the last bits may differ from those of the kernels.
  template <class T, class... Rest>
    requires(element<T> && std::is_floating_point_v<T> && (std::is_same_v<T, Rest> && ...))
  T operator()(T x, Rest... rest) const {
    constexpr std::size_t count = 1 + sizeof...(Rest);
    if constexpr (detail::can_fuse<F, count>()) {
      using program = detail::program_of<F, count, detail::fused_kind::value>;
      static_assert(!detail::has_no_scalar_form<program, T>(),
                    "[fuse] an expression with a cast, a conversion, a reduction or an op that has no kernel for such "
                    "numbers has no form for single numbers: call it with tensors");
      if constexpr (!detail::has_no_scalar_form<program, T>())
        return detail::scalar_results<program, T, count>({x, rest...})[0];
    }
    return {};
  }
  /// Computes the value and the derivatives at single numbers, all float or all double, as scalar code like the value
  /// alone.
  template <class T, class... Rest>
    requires(element<T> && std::is_floating_point_v<T> && (std::is_same_v<T, Rest> && ...))
  scalar_value_and_gradients<T, 1 + sizeof...(Rest)> value_and_grads(T x, Rest... rest) const {
    constexpr std::size_t count = 1 + sizeof...(Rest);
    scalar_value_and_gradients<T, count> out{};
    if constexpr (detail::can_fuse<F, count>()) {
      using both = detail::program_of<F, count, detail::fused_kind::value_and_gradient>;
      static_assert(both::whole.has_gradient,
                    "[fuse] there is no gradient: the result is no number, or an op of the expression has no gradient "
                    "rule, as its row says");
      static_assert(!detail::has_no_scalar_form<both, T>(),
                    "[fuse] an expression with a cast, a conversion, a reduction or an op that has no kernel for such "
                    "numbers has no form for single numbers: call it with tensors");
      if constexpr (both::whole.has_gradient && !detail::has_no_scalar_form<both, T>()) {
        const auto all = detail::scalar_results<both, T, count>({x, rest...});
        out.value = all[0];
        for (std::size_t i = 0; i < count; ++i) out.grads[i] = all[i + 1];
      }
    }
    return out;
  }

  /// Computes the value and the gradients of the sum of its elements, in one pass over the operands. The result is that
  /// of `kg::value_and_grads(f)`, without running the expression twice. `f.value_and_grads<0, 2>(x, y, z)` computes
  /// only the gradients of operands 0 and 2, in this order. A `sum` or `mean` at the end of the expression, over all
  /// axes or the last, is part of the same pass.
  template <std::size_t... Of, std::same_as<tensor>... T>
    requires(sizeof...(T) > 0)
  value_and_gradients<sizeof...(Of) == 0 ? sizeof...(T) : sizeof...(Of)> value_and_grads(const T&... xs) const {
    constexpr std::size_t count = sizeof...(T);
    static_assert(detail::are_operands<count, Of...>(),
                  "[fuse] value_and_grads<...> lists operands by their numbers, from 0 on, each once");
    if constexpr (detail::can_fuse<F, count>() && detail::are_operands<count, Of...>()) {
      using both = detail::program_of<F, count, detail::fused_kind::value_and_gradient, Of...>;
      static_assert(both::whole.has_gradient,
                    "[fuse] there is no gradient: the result is no number, or an op of the expression has no gradient "
                    "rule, as its row says");
      constexpr const auto& of = detail::wanted_operands<count, Of...>;
      const tensor* const in[] = {&xs...};
      if constexpr (both::whole.has_gradient &&
                    (!detail::is_reduction(both::whole.reduction) || detail::is_sum_or_mean(both::whole.reduction))) {
        value_and_gradients<of.size()> out;
        if (detail::run_fused_with_gradients(both::program, in, of, out.value, out.grads)) return out;
      }
      const auto of_these = [&](const std::same_as<tensor> auto&... ys) {
        std::array<const tensor*, count> all{&xs...};
        const tensor* const given[] = {&ys...};
        for (std::size_t i = 0; i < of.size(); ++i) all[of[i]] = given[i];
        return detail::run_fused(detail::parts_of<F, count>, all);
      };
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return kerngrad::value_and_grads(of_these)(*in[of[I]]...);
      }(std::make_index_sequence<of.size()>{});
    } else {
      return {};
    }
  }
};

/// Compiles an expression into a function that computes it in one pass:
///   constexpr auto swish = kg::fuse([](auto x, auto y, auto z) { return x * kg::sigmoid(x) * y + z; });
///   kg::tensor r = swish(a, b, c);
/// The expression is a generic lambda without captures over its operands. It may use elementwise ops, built-in and
/// custom ones, operators, numbers, `where`, comparisons and `cast`, and end with one of sum, mean, prod, max and min.
/// Anything else is a compile error. Its derivative comes from the gradient rules of its ops.
template <class F>
constexpr fused<F> fuse(F) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "[fuse] the expression must be a lambda without captures: what it needs are operands of the fused "
                "function, numbers among them");
  return {};
}

}  // namespace kerngrad
