// SPDX-License-Identifier: Apache-2.0
// Steps that one kernel does together: runs of sums, differences and products, behind an activation or the derivative
// of one perhaps. What lies between is read by the next step only, or kept for others. kernels/fuse/chain.inc has those
// for which there is a kernel.
module;
#include "kernels/common/abi.h"
#include "kernels/fuse/chain.h"
export module kerngrad:fuse_chains;

import :std;
import :core;
import :op;
import :table;
import :symbol;
import :fuse_rules;

namespace kerngrad::detail {

/// What a step is as the end of a chain.
struct step_chain {
  std::int8_t kernel = -1;   // its place in chain_shapes; -1: the step is computed alone
  bool read_again = false;   // another step reads what this one gives
  std::int16_t within = -1;  // a later step, whose chain computes this one as well
  std::array<std::int16_t, kernels::most_kept_values> kept{-1, -1, -1};       // the steps in it that others read, too
  std::array<std::int16_t, kernels::most_chain_operands> in{-1, -1, -1, -1};  // the steps that the chain reads
};

/// How often each step is an operand or a result. Numbers read nothing of the step whose dtype they take.
constexpr std::vector<int> uses_of(const std::vector<fused_step>& steps, const std::vector<int>& results) {
  std::vector<int> uses = repeated(steps.size(), 0);
  for (const fused_step& step : steps)
    for (std::int16_t k : step.in)
      if (k >= 0 && step.kind == step_kind::op) ++uses[static_cast<std::size_t>(k)];
  for (int r : results)
    if (r >= 0) ++uses[static_cast<std::size_t>(r)];
  return uses;
}

/// The step of a chain that a step of the program can be, when the value so far is operand `place`; none for others.
constexpr kernels::chain_step chain_step_of(const fused_step& step, std::size_t place) {
  using kernels::chain_step;
  if (step.kind != step_kind::op) return chain_step::none;
  if (step.row == &row_of<op_id<"Add">>) return chain_step::plus;
  if (step.row == &row_of<op_id<"Multiply">>) return chain_step::times;
  if (step.row == &row_of<op_id<"Sub">>) return place == 0 ? chain_step::minus : chain_step::from;
  return chain_step::none;
}

using chain_steps = std::array<kernels::chain_step, 3>;
using chain_operands = std::array<std::int16_t, kernels::most_chain_operands>;

constexpr int chain_kernel_of(kernels::chain_head head, const chain_steps& steps) {
  for (std::size_t i = 0; i < std::size(kernels::chain_shapes); ++i) {
    const kernels::chain_shape& shape = kernels::chain_shapes[i];
    if (head == shape.head && steps == chain_steps{shape.steps[0], shape.steps[1], shape.steps[2]})
      return static_cast<int>(i);
  }
  return -1;
}

/// The head of a chain that ends with a step: its operands, and how many steps it is made of. 0: there is none.
struct found_head {
  kernels::chain_head head = kernels::chain_head::none;
  std::array<std::int16_t, 3> in{-1, -1, -1};
  int length = 0;
};

/// Recognises heads. What lies inside one is read by no other step.
class head_finder {
 public:
  constexpr head_finder(const std::vector<fused_step>& steps, const std::vector<int>& uses)
      : steps_(steps), uses_(uses) {}

  constexpr found_head at(std::int16_t i) const {
    using kernels::chain_head;
    const std::int16_t x = step(i).in[0];
    if (is<"Sigmoid">(i)) return {chain_head::Sigmoid, {x, -1, -1}, 1};
    if (is<"Tanh">(i)) return {chain_head::Tanh, {x, -1, -1}, 1};
    if (is<"Exp">(i)) return {chain_head::Exp, {x, -1, -1}, 1};
    if (is<"Add">(i)) return swish_grad(i);
    const found_head sigmoid = sigmoid_grad(i);
    return sigmoid.length ? sigmoid : tanh_grad(i);
  }

 private:
  constexpr const fused_step& step(std::int16_t i) const { return steps_[static_cast<std::size_t>(i)]; }
  template <fixed_string Op>
  constexpr bool is(std::int16_t i) const {
    return step(i).kind == step_kind::op && step(i).row == &row_of<op_id<Op>>;
  }
  template <fixed_string Op>
  constexpr bool is_inside(std::int16_t i) const {
    return is<Op>(i) && uses_[static_cast<std::size_t>(i)] == 1;
  }
  // 1 - x
  constexpr bool is_rest_of(std::int16_t i, std::int16_t x) const {
    return is_inside<"Sub">(i) && step(i).in[1] == x && step(step(i).in[0]).kind == step_kind::literal &&
           step(step(i).in[0]).numbers[0] == 1;
  }
  constexpr found_head sigmoid_grad(std::int16_t i) const {
    if (!is<"Multiply">(i)) return {};
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int16_t dy = step(i).in[1 - k], slope = step(i).in[k];
      if (!is_inside<"Multiply">(slope)) continue;
      for (std::size_t j = 0; j < 2; ++j) {
        const std::int16_t s = step(slope).in[j];
        if (is_rest_of(step(slope).in[1 - j], s)) return {kernels::chain_head::SigmoidGrad, {dy, s, -1}, 3};
      }
    }
    return {};
  }
  constexpr found_head tanh_grad(std::int16_t i) const {
    if (!is<"Multiply">(i)) return {};
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int16_t dy = step(i).in[1 - k], slope = step(i).in[k];
      if (!is_inside<"Sub">(slope)) continue;
      const std::int16_t square = step(slope).in[1];
      if (is_inside<"Square">(square) && is_rest_of(slope, square))
        return {kernels::chain_head::TanhGrad, {dy, step(square).in[0], -1}, 3};
    }
    return {};
  }
  constexpr found_head swish_grad(std::int16_t i) const {
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int16_t direct = step(i).in[k], through = step(i).in[1 - k];
      if (!is_inside<"Multiply">(direct) || !is_inside<"Multiply">(through)) continue;
      const found_head inner = sigmoid_grad(through);
      if (!inner.length || !is_inside<"Multiply">(inner.in[0])) continue;
      const std::int16_t s = inner.in[1];
      const auto& weighed = step(inner.in[0]).in;
      for (std::size_t j = 0; j < 2; ++j) {
        const std::int16_t dy = weighed[j], x = weighed[1 - j];
        const auto& plain = step(direct).in;
        if ((plain[0] == dy && plain[1] == s) || (plain[0] == s && plain[1] == dy))
          return {kernels::chain_head::SwishGrad, {dy, s, x}, 6};
      }
    }
    return {};
  }

  const std::vector<fused_step>& steps_;
  const std::vector<int>& uses_;
};

/// Finds the longest chain that ends with step `at`; the one of its first operand where there are two.
class chain_finder {
 public:
  constexpr chain_finder(const std::vector<fused_step>& steps, const std::vector<int>& uses)
      : steps_(steps), uses_(uses), heads_(steps, uses) {}

  constexpr step_chain longest(int at) {
    best_ = {};
    length_ = 1;
    end_ = at;
    if (steps_[static_cast<std::size_t>(at)].kind != step_kind::op) return best_;
    const found_head head = heads_.at(static_cast<std::int16_t>(at));
    if (head.length > 1) consider_head(head, {}, {-1, -1, -1}, {}, 0);
    extend(at, {}, {-1, -1, -1}, {}, 1);
    return best_;
  }

 private:
  using later_operands = std::array<std::int16_t, 3>;  // of the steps, in their order
  using inner_steps = std::array<std::int16_t, 3>;     // what the last step reads of the chain, and so on inwards

  // Step `at` gives what the steps so far begin with; `later` has the operands of those, and the first `length` - 1 of
  // `inside` are the steps from the end to here.
  constexpr void extend(int at, chain_steps so_far, later_operands later, inner_steps inside, int length) {
    const fused_step& step = steps_[static_cast<std::size_t>(at)];
    if (chain_step_of(step, 0) == kernels::chain_step::none) return;
    if (alone(inside, length - 1))
      consider(kernels::chain_head::none, with_first(chain_step_of(step, 0), so_far),
               {step.in[0], step.in[1], later[0], later[1]}, length);
    for (std::size_t place = 0; place < 2; ++place) {
      const std::int16_t inner = step.in[place], other = step.in[1 - place];
      if (steps_[static_cast<std::size_t>(inner)].kind != step_kind::op) continue;
      const chain_steps longer = with_first(chain_step_of(step, place), so_far);
      const later_operands all{other, later[0], later[1]};
      inside[static_cast<std::size_t>(length - 1)] = inner;
      const found_head head = heads_.at(inner);
      if (head.length) consider_head(head, longer, all, inside, length);
      if (length < 3) extend(inner, longer, all, inside, length + 1);
    }
  }
  static constexpr chain_steps with_first(kernels::chain_step first, const chain_steps& rest) {
    return {first, rest[0], rest[1]};
  }
  // Only the chain reads the first `count`.
  constexpr bool alone(const inner_steps& inside, int count) const {
    for (int i = 0; i < count; ++i)
      if (uses_[static_cast<std::size_t>(inside[static_cast<std::size_t>(i)])] != 1) return false;
    return true;
  }
  // No step reads the first `count` before the chain ends, and it does not take them for operands.
  constexpr bool can_keep(const inner_steps& inside, int count, const chain_operands& in) const {
    const auto is_inside = [&](int step) {
      bool found = step == end_;
      for (int i = 0; i < count; ++i) found = found || inside[static_cast<std::size_t>(i)] == step;
      return found;
    };
    for (std::int16_t k : in)
      if (k >= 0 && is_inside(k)) return false;
    for (int i = 0; i < end_; ++i) {
      const fused_step& reader = steps_[static_cast<std::size_t>(i)];
      for (std::int16_t k : reader.in)
        if (k >= 0 && reader.kind == step_kind::op && !is_inside(i) && is_inside(k)) return false;
    }
    return true;
  }
  // `length` steps behind a head, which is the last of as many steps inside.
  constexpr void consider_head(const found_head& head, const chain_steps& steps, const later_operands& later,
                               const inner_steps& inside, int length) {
    chain_operands in{-1, -1, -1, -1};
    std::size_t next = kernels::operands_of(head.head);
    for (std::size_t k = 0; k < next; ++k) in[k] = head.in[k];
    for (std::int16_t k : later) {
      if (k < 0) break;
      if (next == in.size()) return;
      in[next++] = k;
    }
    inner_steps kept{-1, -1, -1};
    if (!alone(inside, length)) {
      if (!kernels::keeps_values(head.head) || !can_keep(inside, length, in)) return;
      for (int i = 0; i < length; ++i) {
        const std::int16_t step = inside[static_cast<std::size_t>(length - 1 - i)];
        if (uses_[static_cast<std::size_t>(step)] != 1) kept[static_cast<std::size_t>(i)] = step;
      }
    }
    consider(head.head, steps, in, length + head.length, kept);
  }
  constexpr void consider(kernels::chain_head head, const chain_steps& steps, const chain_operands& in, int length,
                          const inner_steps& kept = {-1, -1, -1}) {
    const int kernel = chain_kernel_of(head, steps);
    if (kernel < 0 || length <= length_) return;
    best_.kernel = static_cast<std::int8_t>(kernel);
    best_.in = in;
    best_.kept = kept;
    length_ = length;
  }

  const std::vector<fused_step>& steps_;
  const std::vector<int>& uses_;
  const head_finder heads_;
  step_chain best_;
  int length_ = 1, end_ = 0;
};

/// The chains of a program, by the step that ends them.
constexpr std::vector<step_chain> find_chains(const std::vector<fused_step>& steps, const std::vector<int>& results) {
  const std::vector<int> uses = uses_of(steps, results);
  std::vector<step_chain> chains = repeated(steps.size(), step_chain());
  chain_finder finder(steps, uses);
  const auto is_read = [](const step_chain& chain, std::int16_t step) {
    bool found = false;
    for (std::int16_t k : chain.in) found = found || k == step;
    return found;
  };
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (chains[i].within >= 0) continue;
    chains[i] = finder.longest(static_cast<int>(i));
    chains[i].read_again = uses[i] > 1;
    if (chains[i].kernel < 0) continue;
    // What lies inside: the operands of its steps that it does not read.
    std::vector<std::int16_t> inside{static_cast<std::int16_t>(i)};
    for (std::size_t next = 0; next < inside.size(); ++next)
      for (std::int16_t k : steps[static_cast<std::size_t>(inside[next])].in)
        if (k >= 0 && !is_read(chains[i], k) && steps[static_cast<std::size_t>(k)].kind == step_kind::op) {
          chains[static_cast<std::size_t>(k)].within = static_cast<std::int16_t>(i);
          inside.push_back(k);
        }
  }
  return chains;
}

}  // namespace kerngrad::detail
