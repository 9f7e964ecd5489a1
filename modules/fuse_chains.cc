// SPDX-License-Identifier: Apache-2.0
// Steps that one kernel does together: runs of sums, differences and products, behind an activation perhaps, of which
// nobody but the next step reads what lies between. kernels/chain.inc has those for which there is a kernel.
module;
#include "kernels/abi.h"
#include "kernels/chain.h"
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
  std::int8_t kernel = -1;       // its place in chain_shapes; -1: the step is computed alone
  bool part_of_another = false;  // a later step computes this one as well
  bool read_again = false;       // another step reads what this one gives
  std::array<std::int16_t, kernels::most_chain_operands> in{-1, -1, -1, -1};  // the steps that the chain reads
};

/// How often each step is an operand or a result.
constexpr std::vector<int> uses_of(const std::vector<fused_step>& steps, const std::vector<int>& results) {
  std::vector<int> uses = repeated(steps.size(), 0);
  for (const fused_step& step : steps)
    for (std::int16_t k : step.in)
      if (k >= 0) ++uses[static_cast<std::size_t>(k)];
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

/// The head of a chain that a step can be.
constexpr kernels::chain_head chain_head_of(const fused_step& step) {
  using kernels::chain_head;
  if (step.kind != step_kind::op) return chain_head::none;
  if (step.row == &row_of<op_id<"Sigmoid">>) return chain_head::Sigmoid;
  if (step.row == &row_of<op_id<"Tanh">>) return chain_head::Tanh;
  if (step.row == &row_of<op_id<"Exp">>) return chain_head::Exp;
  return chain_head::none;
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

/// Finds the longest chain that ends with step `at`; the one of its first operand where there are two.
class chain_finder {
 public:
  constexpr chain_finder(const std::vector<fused_step>& steps, const std::vector<int>& uses)
      : steps_(steps), uses_(uses) {}

  constexpr step_chain longest(int at) {
    best_ = {};
    length_ = 1;
    extend(at, {}, {-1, -1, -1, -1}, 1);
    return best_;
  }

 private:
  // Step `at` gives what the steps so far begin with: `in` has their operands, from the third on.
  constexpr void extend(int at, chain_steps so_far, chain_operands in, int length) {
    const fused_step& step = steps_[static_cast<std::size_t>(at)];
    if (chain_step_of(step, 0) == kernels::chain_step::none) return;
    consider(kernels::chain_head::none, with_first(chain_step_of(step, 0), so_far),
             {step.in[0], step.in[1], in[2], in[3]}, length);
    for (std::size_t place = 0; place < 2; ++place) {
      const std::int16_t inner = step.in[place], other = step.in[1 - place];
      if (uses_[static_cast<std::size_t>(inner)] != 1) continue;
      const chain_steps longer = with_first(chain_step_of(step, place), so_far);
      const fused_step& before = steps_[static_cast<std::size_t>(inner)];
      if (chain_head_of(before) != kernels::chain_head::none)
        consider(chain_head_of(before), longer, {before.in[0], other, in[2], in[3]}, length + 1);
      if (length < 3) extend(inner, longer, {-1, -1, other, in[2]}, length + 1);
    }
  }
  static constexpr chain_steps with_first(kernels::chain_step first, const chain_steps& rest) {
    return {first, rest[0], rest[1]};
  }
  constexpr void consider(kernels::chain_head head, const chain_steps& steps, const chain_operands& in, int length) {
    const int kernel = chain_kernel_of(head, steps);
    if (kernel < 0 || length <= length_) return;
    best_.kernel = static_cast<std::int8_t>(kernel);
    best_.in = in;
    length_ = length;
  }

  const std::vector<fused_step>& steps_;
  const std::vector<int>& uses_;
  step_chain best_;
  int length_ = 1;
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
    if (chains[i].part_of_another) continue;
    chains[i] = finder.longest(static_cast<int>(i));
    chains[i].read_again = uses[i] > 1;
    if (chains[i].kernel < 0) continue;
    // What lies inside: the operands of its steps that it does not read.
    std::vector<std::int16_t> inside{static_cast<std::int16_t>(i)};
    for (std::size_t next = 0; next < inside.size(); ++next)
      for (std::int16_t k : steps[static_cast<std::size_t>(inside[next])].in)
        if (k >= 0 && !is_read(chains[i], k)) {
          chains[static_cast<std::size_t>(k)].part_of_another = true;
          inside.push_back(k);
        }
  }
  return chains;
}

}  // namespace kerngrad::detail
