// SPDX-License-Identifier: Apache-2.0
// A loop over the first axis of tensors that carries a tensor or a tree from one step to the next.
module;
#include "kernels/common/abi.h"
export module kerngrad:scan;

import :std;
import :core;
import :tensor;
import :engine;
import :tree;
import :grad;
import :transform;

namespace kerngrad::detail {

/// Number of steps that all leaves have on their first axis.
std::int64_t scan_steps(std::span<const tensor> leaves);
/// The parts of each leaf along its first axis.
std::vector<tensor_list> scan_parts(std::span<const tensor> leaves);
/// Leaf k of each step joined along a new first axis, for each k: `made` has the leaves of all steps in a row.
std::vector<tensor> scan_joined(std::span<const tensor> made, std::int64_t steps, bool reverse);
/// Throws unless a step returned a carry like the first one, and as many results as the step before.
void check_scan_step(std::int64_t step, std::span<const tensor> first, std::span<const tensor> carry, std::size_t made);
void check_scan_length(std::int64_t steps);

// The parts of what a step returns: a pair, or a tuple of two.
template <class R>
concept step_result = tuple_tree<R> && std::tuple_size_v<std::remove_cvref_t<R>> == 2;
template <class R, std::size_t I>
using step_part = std::remove_cvref_t<std::tuple_element_t<I, std::remove_cvref_t<R>>>;

template <class F, class Carry, class In>
concept scan_function =
    std::is_invocable_v<F&, const Carry&, const In&> && step_result<std::invoke_result_t<F&, const Carry&, const In&>>;

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Options of scan. With `reverse` the loop runs from the last step to the first; results keep the order of their
/// inputs. With `checkpoint` a gradient keeps only the carries, and the backward pass runs each step again.
struct scan_options {
  bool reverse = false;
  bool checkpoint = false;
};
/// The result of scan: the last carry, and the results of all steps along a new first axis.
template <class Carry, class Y>
struct scan_result {
  Carry carry;
  Y ys;
};

}  // namespace kerngrad

namespace kerngrad::detail {

template <class Carry, class F, class Input>
auto run_scan(F& f, const Carry& initial, std::int64_t steps, bool reverse, const Input& input) {
  using result = std::invoke_result_t<F&, const Carry&, decltype(input(std::int64_t{}))>;
  using part = step_part<result, 1>;
  check_scan_length(steps);
  Carry carry = initial;
  std::optional<part> like;
  std::vector<tensor> first, made;
  take_leaves(initial, first);
  for (std::int64_t i = 0; i < steps; ++i) {
    auto [next, y] = f(static_cast<const Carry&>(carry), input(reverse ? steps - 1 - i : i));
    std::vector<tensor> leaves;
    take_leaves(next, leaves);
    take_leaves(y, made);
    check_scan_step(i, first, leaves, made.size());
    carry = std::move(next);
    if (!like) like = std::move(y);
  }
  const std::vector<tensor> joined = scan_joined(made, steps, reverse);
  std::span<const tensor> rest = joined;
  return scan_result<Carry, part>{std::move(carry), with_leaves(*std::move(like), rest)};
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A loop over the first axis of xs, as jax.lax.scan. Step i calls `f(carry, x)` with part i of xs; f returns the next
/// carry and a result, as a pair. Carry, xs and result are tensors or trees of tensors; return `std::tuple<>()` for no
/// result. The carry keeps its shapes and dtypes. Throws if a tensor of xs is a scalar, and if the tensors have
/// different lengths or length 0. Throws if a step returns a carry whose tensors have another number, shape or dtype.
/// Differentiable to any order, also in the values that f captured.
template <class F, detail::tensor_or_tree Carry, detail::tensor_or_tree Xs>
  requires detail::scan_function<F, detail::followed<Carry>, detail::followed<Xs>>
auto scan(F f, const Carry& initial, const Xs& xs, const scan_options& options = {}) {
  using carry_type = detail::followed<Carry>;
  using input_type = detail::followed<Xs>;
  const input_type like = xs;
  std::vector<tensor> leaves;
  detail::take_leaves(like, leaves);
  const std::int64_t steps = detail::scan_steps(leaves);
  const std::vector<tensor_list> parts = detail::scan_parts(leaves);
  const auto input = [&](std::int64_t i) -> input_type {
    std::vector<tensor> at;
    for (const tensor_list& of : parts) at.push_back(of[static_cast<int>(i)]);
    std::span<const tensor> rest = at;
    return detail::with_leaves(like, rest);
  };
  if (!options.checkpoint) return detail::run_scan<carry_type>(f, initial, steps, options.reverse, input);
  auto light = checkpoint(std::move(f));
  return detail::run_scan<carry_type>(light, initial, steps, options.reverse, input);
}
/// A loop of `steps` steps without inputs: `f(carry, i)` is called with each index from 0 to steps - 1, a std::int64_t.
/// Throws unless `steps` is 1 or more. The rest is as for `scan` over tensors.
template <class F, detail::tensor_or_tree Carry>
  requires detail::scan_function<F, detail::followed<Carry>, std::int64_t>
auto scan(F f, const Carry& initial, std::int64_t steps, const scan_options& options = {}) {
  using carry_type = detail::followed<Carry>;
  const auto input = [](std::int64_t i) { return i; };
  if (!options.checkpoint) return detail::run_scan<carry_type>(f, initial, steps, options.reverse, input);
  const auto light = [shared = std::shared_ptr<F>(new F(std::move(f)))](const carry_type& carry, std::int64_t i) {
    return checkpoint([shared, i](const carry_type& at) { return (*shared)(at, i); })(carry);
  };
  return detail::run_scan<carry_type>(light, initial, steps, options.reverse, input);
}

}  // namespace kerngrad
