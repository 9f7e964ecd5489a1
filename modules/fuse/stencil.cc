// SPDX-License-Identifier: Apache-2.0
// Stencils: fused functions that read their operands at constant offsets, with a boundary for each axis.
module;
#include "kernels/common/abi.h"
export module kerngrad:stencil;

import :std;
import :core;
import :tensor;
import :symbol;
import :fuse_expression;

namespace kerngrad::detail {

/// One read of an operand: its offsets along the last `axes` axes. The last axis has the last offset of the array.
struct stencil_read {
  std::size_t operand = 0;
  int axes = 0;
  std::array<std::int64_t, max_rank> offsets{};
  bool operator==(const stencil_read&) const = default;
};
/// The steps of a stencil and its reads. Each read is an operand of the steps.
struct stencil_steps {
  step_list list;
  std::vector<stencil_read> reads;
};
/// The step that reads an operand. Throws for offsets that no axis can have, and for the 101st read.
symbol read_step(stencil_steps& steps, std::size_t operand, std::span<const std::int64_t> offsets);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Values outside of an axis, for stencils and `shift`. For the axis [1 2 3], `periodic` continues from the other end:
/// [1 2 3] on the left and [1 2 3] on the right. `zero` has [0 0 0] on both sides. `edge` repeats the outermost
/// element: [1 1 1] and [3 3 3]. `reflect` mirrors the axis without repeating the outermost element: [2 3 2] and [2 1
/// 2].
enum class boundary : std::uint8_t { periodic, zero, edge, reflect };

/// x shifted by constant offsets: element i of the result is element i + offset of x. The last offset belongs to the
/// last axis of x, the one before it to the axis before, and so on. Boundaries belong to axes in the same way; a single
/// boundary serves all axes. Any dtype that `roll`, `pad` and `gather` take. Throws for more offsets than axes, offsets
/// beyond a billion, and too few boundaries. Gradient, of any order: dy is added to the elements that were read.
tensor shift(const tensor& x, std::span<const std::int64_t> offsets, std::span<const boundary> edges);
inline tensor shift(const tensor& x, std::initializer_list<std::int64_t> offsets,
                    std::initializer_list<boundary> edges) {
  return shift(x, std::span(offsets.begin(), offsets.size()), std::span(edges.begin(), edges.size()));
}
inline tensor shift(const tensor& x, std::initializer_list<std::int64_t> offsets, boundary edge = boundary::periodic) {
  return shift(x, std::span(offsets.begin(), offsets.size()), std::span(&edge, 1));
}

/// An operand of a stencil while `fuse` reads the stencil. `u(0, -1)` is the previous element along the last axis.
class field {
 public:
  field(detail::stencil_steps& steps, std::size_t operand) : steps_(&steps), operand_(operand) {}

  /// The operand at constant offsets along its last axes; without offsets, the element itself. Throws for offsets
  /// beyond a billion, and for more than 100 different reads in one stencil.
  template <class... I>
    requires(detail::integer_type<I> && ...)
  symbol operator()(I... offsets) const {
    const std::array<std::int64_t, sizeof...(I)> all{static_cast<std::int64_t>(offsets)...};
    return detail::read_step(*steps_, operand_, all);
  }
  /// The operand at offsets in an array.
  symbol operator()(std::span<const std::int64_t> offsets) const {
    return detail::read_step(*steps_, operand_, offsets);
  }

 private:
  detail::stencil_steps* steps_;
  std::size_t operand_;
};

}  // namespace kerngrad

namespace kerngrad::detail {

/// The programs of a stencil.
struct stored_stencil;

std::vector<field> fields_of(stencil_steps& steps, int operands);
std::shared_ptr<const stored_stencil> stored(int operands, std::span<const boundary> edges, stencil_steps steps,
                                             std::span<const symbol> results);
void run_stored(const stored_stencil* program, std::span<const tensor* const> in, std::span<tensor> out);

/// Number of results of a stencil whose function returns a T; 0 for any other type.
template <class T>
inline constexpr std::size_t stencil_results = 0;
template <>
inline constexpr std::size_t stencil_results<symbol> = 1;
template <std::size_t N>
inline constexpr std::size_t stencil_results<std::array<symbol, N>> = N;

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A stencil with a number of results, made by `fuse(operands, boundary, f)`. Copies are the same function. Any number
/// of threads may call it at the same time.
template <std::size_t Results>
class fused_stencil {
 public:
  /// An empty function; calls throw.
  fused_stencil() = default;
  explicit fused_stencil(std::shared_ptr<const detail::stored_stencil> program) : program_(std::move(program)) {}

  /// Runs the stencil and returns the result, or an array of all results. They are bitwise identical to those of the
  /// expression on shifted tensors, `kg::shift`, op by op. Throws for another number of operands, for an operand with
  /// fewer axes than offsets, and for operands that one of the ops rejects.
  template <std::same_as<tensor>... T>
    requires(sizeof...(T) > 0)
  auto operator()(const T&... xs) const {
    const tensor* const in[] = {&xs...};
    return (*this)(std::span<const tensor* const>(in));
  }
  /// Runs the stencil on operands in an array.
  auto operator()(std::span<const tensor* const> xs) const {
    std::array<tensor, Results> out;
    detail::run_stored(program_.get(), xs, out);
    if constexpr (Results == 1) return std::move(out[0]);
    else return out;
  }

 private:
  std::shared_ptr<const detail::stored_stencil> program_;
};

/// Fuses an expression that reads its operands at constant offsets. `f` is called once with a `field` for each of
/// `operands`, 1 to 100. It returns a symbol or a `std::array` of symbols, the results of one pass:
///   const auto step = kg::fuse(2, kg::boundary::periodic, [&](std::span<const kg::field> x) {
///     const kg::field h = x[0], u = x[1];
///     return std::array{h() - c * (u(0, 1) - u(0, -1)), u() - c * (h(0, 1) - h(0, -1))};
///   });
///   auto [h2, u2] = step(h, u);
/// Offsets and boundaries belong to the last axes of the operands, as in `shift`; a single boundary serves all axes.
/// Throws for expressions that are too long, as `fuse(operands, f)`, and for more than 100 different reads. Throws
/// unless there is one boundary, or one for each axis with offsets. Gradient, of any order: by the gradients of `shift`
/// and of the fused expression.
template <class F>
  requires std::is_invocable_v<F&, std::span<const field>>
auto fuse(int operands, std::span<const boundary> edges, F&& f) {
  constexpr std::size_t count = detail::stencil_results<std::invoke_result_t<F&, std::span<const field>>>;
  static_assert(count > 0, "[fuse] a stencil must return a symbol, or a std::array of them");
  detail::stencil_steps steps;
  const std::vector<field> xs = detail::fields_of(steps, operands);
  const auto result = f(std::span<const field>(xs));
  if constexpr (count == 1 && std::is_same_v<decltype(result), const symbol>)
    return fused_stencil<1>(detail::stored(operands, edges, std::move(steps), std::span(&result, 1)));
  else return fused_stencil<count>(detail::stored(operands, edges, std::move(steps), result));
}
template <class F>
  requires std::is_invocable_v<F&, std::span<const field>>
auto fuse(int operands, boundary edge, F&& f) {
  return fuse(operands, std::span<const boundary>(&edge, 1), std::forward<F>(f));
}
template <class F>
  requires std::is_invocable_v<F&, std::span<const field>>
auto fuse(int operands, std::initializer_list<boundary> edges, F&& f) {
  return fuse(operands, std::span<const boundary>(edges.begin(), edges.size()), std::forward<F>(f));
}

}  // namespace kerngrad
