// SPDX-License-Identifier: Apache-2.0
// Custom rules that the compiler sees whole: the function and its gradient are template arguments, so counts and
// types that do not fit are compile errors.
module;
#include "kernels/common/abi.h"
export module kerngrad:custom;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// The result of `saved`: a value, and the tensors that its gradient needs.
template <std::size_t N>
struct saved_value {
  tensor value;
  std::array<tensor, N> kept;
};
/// Returns the result of the forward part of a custom_gradient whose gradient needs more than dy: `saved(y, x, y)`
/// keeps x and y for it.
template <std::same_as<tensor>... T>
saved_value<sizeof...(T)> saved(tensor value, const T&... kept) {
  return {std::move(value), {kept...}};
}

}  // namespace kerngrad

namespace kerngrad::detail {

/// The two parts of a custom gradient, without their types.
struct custom_parts {
  tensor (*forward)(const tensor* const* xs, tensor* kept);
  void (*gradient)(const tensor& dy, const tensor* kept, tensor* grads);
};
tensor run_custom(const custom_parts& parts, std::span<const tensor* const> xs, std::span<tensor> kept);

template <class T>
inline constexpr int kept_by = -1;  // returns no tensor
template <>
inline constexpr int kept_by<tensor> = 0;
template <std::size_t N>
inline constexpr int kept_by<saved_value<N>> = static_cast<int>(N);

template <class T>
inline constexpr int gradients_in = -1;  // no tensors at all
template <>
inline constexpr int gradients_in<tensor> = 1;
template <std::size_t N>
inline constexpr int gradients_in<std::array<tensor, N>> = static_cast<int>(N);
template <std::same_as<tensor>... T>
inline constexpr int gradients_in<std::tuple<T...>> = static_cast<int>(sizeof...(T));

template <std::size_t>
struct tensor_at {
  using type = const tensor&;
};

// How many operands a function takes; -1 when only a call can tell.
template <class F>
inline constexpr int operands_of = -1;
template <class R, class... A>
inline constexpr int operands_of<R (*)(A...)> = static_cast<int>(sizeof...(A));
template <class C, class R, class... A>
inline constexpr int operands_of<R (C::*)(A...) const> = static_cast<int>(sizeof...(A));
template <class F>
  requires requires { &F::operator(); }
inline constexpr int operands_of<F> = operands_of<decltype(&F::operator())>;

template <class F, class Operands>
inline constexpr bool takes_tensors = false;
template <class F, std::size_t... I>
inline constexpr bool takes_tensors<F, std::index_sequence<I...>> =
    std::is_invocable_v<const F&, typename tensor_at<I>::type...>;
template <class F, class Operands>
struct made_by;
template <class F, std::size_t... I>
struct made_by<F, std::index_sequence<I...>> {
  using type = std::remove_cvref_t<std::invoke_result_t<const F&, typename tensor_at<I>::type...>>;
};

/// The parts of a custom gradient on N operands. Checks step by step that the parts fit, so that the compiler reports
/// only the first mistake.
template <auto Forward, auto Gradient, std::size_t N>
struct custom_on {
  using operands = std::make_index_sequence<N>;
  using forward = std::remove_cvref_t<decltype(Forward)>;
  using gradient = std::remove_cvref_t<decltype(Gradient)>;

  static consteval int kept_count() {
    if constexpr (!takes_tensors<forward, operands>) {
      static_assert(takes_tensors<forward, operands>,
                    "the forward part of a custom gradient must take as many tensors as it is called with");
      return -1;
    } else {
      constexpr int count = kept_by<typename made_by<forward, operands>::type>;
      static_assert(count >= 0,
                    "the forward part of a custom gradient must return a tensor or kg::saved(value, tensors...)");
      return count;
    }
  }
  static constexpr int kept = kept_count();

  static consteval bool gradient_fits() {
    if constexpr (kept < 0) {
      return false;
    } else {
      using given = std::make_index_sequence<static_cast<std::size_t>(kept) + 1>;
      static_assert(takes_tensors<gradient, given>,
                    "the gradient part of a custom gradient must take dy and every tensor that the forward part saved");
      if constexpr (takes_tensors<gradient, given>) {
        constexpr int count = gradients_in<typename made_by<gradient, given>::type>;
        static_assert(count >= 0,
                      "the gradient part of a custom gradient must return a tensor, a std::array or a std::tuple of "
                      "tensors");
        static_assert(count < 0 || count == static_cast<int>(N),
                      "the gradient part of a custom gradient must return one gradient per operand of the forward "
                      "part");
        return count == static_cast<int>(N);
      }
      return false;
    }
  }
  static constexpr bool fits = gradient_fits();

  static tensor run(const tensor* const* xs, tensor* kept_tensors) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> tensor {
      if constexpr (kept == 0 && std::is_same_v<typename made_by<forward, operands>::type, tensor>) {
        return Forward(*xs[I]...);
      } else {
        auto made = Forward(*xs[I]...);
        for (std::size_t k = 0; k < made.kept.size(); ++k) kept_tensors[k] = std::move(made.kept[k]);
        return std::move(made.value);
      }
    }(operands{});
  }

  static void run_gradient(const tensor& dy, const tensor* kept_tensors, tensor* grads) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      auto given = Gradient(dy, kept_tensors[K]...);
      if constexpr (std::is_same_v<decltype(given), tensor>) {
        grads[0] = std::move(given);
      } else {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          ((grads[I] = std::move(std::get<I>(given))), ...);
        }(operands{});
      }
    }(std::make_index_sequence<static_cast<std::size_t>(kept)>{});
  }

  static constexpr custom_parts parts{run, run_gradient};
};

// A mistake is found without a call if the signature of the forward part has the number of operands.
template <auto Forward, auto Gradient>
consteval bool fits_as_declared() {
  constexpr int count = operands_of<std::remove_cvref_t<decltype(Forward)>>;
  if constexpr (count >= 0) return custom_on<Forward, Gradient, static_cast<std::size_t>(count)>::fits;
  else return true;
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The type of `custom_gradient`, a function of tensors.
template <auto Forward, auto Gradient>
struct custom_gradient_function {
  // Instantiates the checks, which say what does not fit.
  static_assert(detail::fits_as_declared<Forward, Gradient>() || true);

  template <std::same_as<tensor>... T>
  tensor operator()(const T&... xs) const {
    using on = detail::custom_on<Forward, Gradient, sizeof...(T)>;
    if constexpr (on::fits) {
      const tensor* const in[] = {&xs...};
      std::array<tensor, static_cast<std::size_t>(on::kept)> kept;
      return detail::run_custom(on::parts, in, kept);
    } else {
      return {};
    }
  }
};

/// A function of tensors with its own gradient, both known to the compiler:
///   constexpr auto cube = custom_gradient<[](const tensor& x) { return saved(x * x * x, x); },
///                                         [](const tensor& dy, const tensor& x) { return dy * x * x * 3; }>;
/// The forward part takes the operands. It returns the value, or `saved(value, tensors...)` if the gradient needs more
/// than dy. The gradient part takes dy and the saved tensors. It returns one gradient per operand: a tensor, a
/// std::array or a std::tuple of tensors. An undefined tensor means that there is none. Counts and types that do not
/// fit are compile errors; shapes and dtypes of gradients are checked at run time. Without a recording, a call runs the
/// forward part alone. Saved tensors stay part of the recording, and a saved result has this gradient itself, so every
/// order is right.
template <auto Forward, auto Gradient>
inline constexpr custom_gradient_function<Forward, Gradient> custom_gradient{};

}  // namespace kerngrad
