// SPDX-License-Identifier: Apache-2.0
// Steps that one kernel does together: runs of sums, differences and products, behind an activation or the derivative
// of one perhaps. Intermediate values are read by the next step only, or kept for others. kernels/fuse/chain.h lists
// those for which there is a kernel.
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

/// Role of a step as the end of a chain.
struct step_chain {
  std::int8_t kernel = -1;         // its index in chain_shapes; -1: the step is computed alone
  bool read_again = false;         // another step reads what this one gives
  std::int16_t within = -1;        // a later step, whose chain computes this one as well
  std::int16_t sigmoid_tail = -1;  // a Sigmoid whose tail stands in place of its value, which the chain writes or reads
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

template <fixed_string Op>
constexpr bool is_step(const fused_step& step) {
  return step.kind == step_kind::op && step.row == &row_of<op_id<Op>>;
}

/// The step of a chain that a step of the program can be, with the value so far as operand `operand`; none for others.
constexpr kernels::chain_step chain_step_of(const fused_step& step, std::size_t operand) {
  using kernels::chain_step;
  if (step.kind != step_kind::op) return chain_step::none;
  if (step.row == &row_of<op_id<"Add">>) return chain_step::plus;
  if (step.row == &row_of<op_id<"Multiply">>) return chain_step::times;
  if (step.row == &row_of<op_id<"Sub">>) return operand == 0 ? chain_step::minus : chain_step::from;
  return chain_step::none;
}

using chain_steps = std::array<kernels::chain_step, 3>;
using chain_operands = std::array<std::int16_t, kernels::most_chain_operands>;

/// A number for each combination of a first op and steps. The compiler looks for chains at every step of an expression:
/// a table by these numbers is the cheapest for it.
constexpr std::size_t chain_number(kernels::chain_first_op first_op, const kernels::chain_step (&steps)[3]) {
  constexpr std::size_t kinds = static_cast<std::size_t>(kernels::chain_step::from) + 1;
  std::size_t number = static_cast<std::size_t>(first_op);
  for (const kernels::chain_step step : steps) number = number * kinds + static_cast<std::size_t>(step);
  return number;
}
inline constexpr auto chain_kernels_by_number = [] {
  using enum kernels::chain_step;
  std::array<std::int8_t, chain_number(kernels::chain_first_op::SwishGrad, {from, from, from}) + 1> numbers{};
  for (std::int8_t& kernel : numbers) kernel = -1;
  for (std::size_t i = 0; i < std::size(kernels::chain_shapes); ++i)
    numbers[chain_number(kernels::chain_shapes[i].first_op, kernels::chain_shapes[i].steps)] =
        static_cast<std::int8_t>(i);
  return numbers;
}();
constexpr int chain_kernel_of(kernels::chain_first_op first_op, const chain_steps& steps) {
  return chain_kernels_by_number[chain_number(first_op, {steps[0], steps[1], steps[2]})];
}

/// The first op of a chain that ends with a step: its operands, and how many steps it saves. 0: there is none.
struct found_first_op {
  kernels::chain_first_op op = kernels::chain_first_op::none;
  std::array<std::int16_t, 3> in{-1, -1, -1};
  int length = 0;
};

/// Recognises first ops. No other step reads the values inside of one. `may_be_tail` marks the Sigmoid steps that may
/// have their tail in place of their value.
class first_op_finder {
 public:
  constexpr first_op_finder(const std::vector<fused_step>& steps, const std::vector<int>& uses,
                            const step_marks& may_be_tail)
      : steps_(steps), uses_(uses), may_be_tail_(may_be_tail) {}

  constexpr found_first_op at(std::int16_t i) const {
    using kernels::chain_first_op;
    const std::int16_t x = step(i).in[0];
    if (is<"Sigmoid">(i)) return {chain_first_op::Sigmoid, {x, -1, -1}, 1};
    if (is<"Tanh">(i)) return {chain_first_op::Tanh, {x, -1, -1}, 1};
    if (is<"Exp">(i)) return {chain_first_op::Exp, {x, -1, -1}, 1};
    if (is<"Add">(i)) return swish_grad(i);
    if (is<"SigmoidGrad">(i)) return sigmoid_grad(i);
    return {};
  }

 private:
  constexpr const fused_step& step(std::int16_t i) const { return steps_[static_cast<std::size_t>(i)]; }
  template <fixed_string Op>
  constexpr bool is(std::int16_t i) const {
    return is_step<Op>(step(i));
  }
  template <fixed_string Op>
  constexpr bool is_inside(std::int16_t i) const {
    return is<Op>(i) && uses_[static_cast<std::size_t>(i)] == 1;
  }
  // SigmoidGrad(dy, x) with s = Sigmoid(x)
  constexpr found_first_op sigmoid_grad(std::int16_t i) const {
    for (std::int16_t s = 0; s < i; ++s)
      if (is<"Sigmoid">(s) && step(s).in[0] == step(i).in[1] && may_be_tail_[static_cast<std::size_t>(s)])
        return {kernels::chain_first_op::SigmoidGrad, {step(i).in[0], s, -1}, 2};
    return {};
  }
  // dy * s + SigmoidGrad(dy * x, x) with s = Sigmoid(x)
  constexpr found_first_op swish_grad(std::int16_t i) const {
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int16_t direct = step(i).in[k], through = step(i).in[1 - k];
      if (!is_inside<"Multiply">(direct) || !is_inside<"SigmoidGrad">(through)) continue;
      const std::int16_t weighed = step(through).in[0], x = step(through).in[1];
      if (!is_inside<"Multiply">(weighed)) continue;
      for (std::size_t j = 0; j < 2; ++j) {
        const std::int16_t s = step(direct).in[j], dy = step(direct).in[1 - j];
        if (!is<"Sigmoid">(s) || step(s).in[0] != x || dy == s || !may_be_tail_[static_cast<std::size_t>(s)]) continue;
        const auto& factors = step(weighed).in;
        if ((factors[0] == dy && factors[1] == x) || (factors[0] == x && factors[1] == dy))
          return {kernels::chain_first_op::SwishGrad, {dy, s, x}, 4};
      }
    }
    return {};
  }

  const std::vector<fused_step>& steps_;
  const std::vector<int>& uses_;
  const step_marks& may_be_tail_;
};

/// Finds the longest chain that ends with step `at`; the one of its first operand where there are two.
class chain_finder {
 public:
  constexpr chain_finder(const std::vector<fused_step>& steps, const std::vector<int>& uses,
                         const step_marks& may_be_tail)
      : steps_(steps), uses_(uses), first_ops_(steps, uses, may_be_tail) {}

  constexpr step_chain longest(int at) {
    best_ = {};
    length_ = 1;
    end_ = at;
    if (steps_[static_cast<std::size_t>(at)].kind != step_kind::op) return best_;
    const found_first_op first = first_ops_.at(static_cast<std::int16_t>(at));
    if (first.length > 1) consider_first_op(first, {}, {-1, -1, -1}, {}, 0);
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
      consider(kernels::chain_first_op::none, with_first(chain_step_of(step, 0), so_far),
               {step.in[0], step.in[1], later[0], later[1]}, length);
    for (std::size_t operand = 0; operand < 2; ++operand) {
      const std::int16_t inner = step.in[operand], other = step.in[1 - operand];
      if (steps_[static_cast<std::size_t>(inner)].kind != step_kind::op) continue;
      const chain_steps longer = with_first(chain_step_of(step, operand), so_far);
      const later_operands all{other, later[0], later[1]};
      inside[static_cast<std::size_t>(length - 1)] = inner;
      const found_first_op first = first_ops_.at(inner);
      if (first.length) consider_first_op(first, longer, all, inside, length);
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
  // `length` steps after a first op, which is the last of as many steps inside.
  constexpr void consider_first_op(const found_first_op& first, const chain_steps& steps, const later_operands& later,
                                   const inner_steps& inside, int length) {
    chain_operands in{-1, -1, -1, -1};
    std::size_t next = kernels::operands_of(first.op);
    for (std::size_t k = 0; k < next; ++k) in[k] = first.in[k];
    for (std::int16_t k : later) {
      if (k < 0) break;
      if (next == in.size()) return;
      in[next++] = k;
    }
    inner_steps kept{-1, -1, -1};
    if (!alone(inside, length)) {
      if (!kernels::keeps_values(first.op) || !can_keep(inside, length, in)) return;
      for (int i = 0; i < length; ++i) {
        const std::int16_t step = inside[static_cast<std::size_t>(length - 1 - i)];
        if (uses_[static_cast<std::size_t>(step)] != 1) kept[static_cast<std::size_t>(i)] = step;
      }
    }
    consider(first.op, steps, in, length + first.length, kept);
  }
  constexpr void consider(kernels::chain_first_op first_op, const chain_steps& steps, const chain_operands& in,
                          int length, const inner_steps& kept = {-1, -1, -1}) {
    const int kernel = chain_kernel_of(first_op, steps);
    if (kernel < 0 || length <= length_) return;
    best_.kernel = static_cast<std::int8_t>(kernel);
    best_.in = in;
    best_.kept = kept;
    const bool reads =
        first_op == kernels::chain_first_op::SwishGrad || first_op == kernels::chain_first_op::SigmoidGrad;
    best_.sigmoid_tail = reads ? in[1] : std::int16_t{-1};
    length_ = length;
  }

  const std::vector<fused_step>& steps_;
  const std::vector<int>& uses_;
  const first_op_finder first_ops_;
  step_chain best_;
  int length_ = 1, end_ = 0;
};

/// The chains of a program, by the step that ends them. `may_be_tail` marks the Sigmoid steps whose tails first ops may
/// take.
constexpr std::vector<step_chain> chains_with_tails(const std::vector<fused_step>& steps, std::vector<int> uses,
                                                    const step_marks& may_be_tail) {
  for (const fused_step& step : steps) {
    if (!is_step<"SigmoidGrad">(step)) continue;
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (is_step<"Sigmoid">(steps[s]) && steps[s].in[0] == step.in[1] && may_be_tail[s]) ++uses[s];
  }
  std::vector<step_chain> chains = repeated(steps.size(), step_chain());
  chain_finder finder(steps, uses, may_be_tail);
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
    // Values inside it: the operands of its steps that it does not read, or of which it reads the tail instead.
    const std::int16_t s = chains[i].sigmoid_tail, x = s < 0 ? s : steps[static_cast<std::size_t>(s)].in[0];
    std::vector<std::int16_t> inside{static_cast<std::int16_t>(i)};
    for (std::size_t next = 0; next < inside.size(); ++next)
      for (std::int16_t k : steps[static_cast<std::size_t>(inside[next])].in)
        if (k >= 0 && k != x && !is_read(chains[i], k) && steps[static_cast<std::size_t>(k)].kind == step_kind::op) {
          chains[static_cast<std::size_t>(k)].within = static_cast<std::int16_t>(i);
          inside.push_back(k);
        }
  }
  return chains;
}

/// The step that ends the chain which computes a Sigmoid.
constexpr std::size_t writer_of_tail(std::span<const step_chain> chains, std::int16_t s) {
  const std::int16_t end = chains[static_cast<std::size_t>(s)].within;
  return static_cast<std::size_t>(end >= 0 ? end : s);
}

/// True if a Sigmoid that some chain reads as a tail can be one: the chain that computes it can write the tail, and no
/// one reads its value. Then that chain is marked.
constexpr bool make_tail(const std::vector<fused_step>& steps, const std::vector<int>& results,
                         std::vector<step_chain>& chains, std::int16_t s) {
  for (int r : results)
    if (r == s) return false;
  const std::int16_t end = chains[static_cast<std::size_t>(s)].within;
  const auto reads_tail = [&](const step_chain& chain) {
    return chain.sigmoid_tail == s && chain.in[0] != s && chain.in[2] != s && chain.in[3] != s;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (chains[i].sigmoid_tail == s && (!reads_tail(chains[i]) || static_cast<std::int16_t>(i) < end)) return false;
    for (std::int16_t k : steps[i].in) {
      if (k != s || steps[i].kind != step_kind::op) continue;
      const std::int16_t last = chains[i].within >= 0 ? chains[i].within : static_cast<std::int16_t>(i);
      if (last != end && !reads_tail(chains[static_cast<std::size_t>(last)])) return false;
    }
  }
  step_chain& writer = chains[writer_of_tail(chains, s)];
  if (end < 0) {  // computed alone
    writer.kernel = static_cast<std::int8_t>(chain_kernel_of(kernels::chain_first_op::SigmoidTail, {}));
    writer.in[0] = steps[static_cast<std::size_t>(s)].in[0];
  } else if (writer.kept[0] != s || writer.sigmoid_tail >= 0) {
    return false;
  }
  writer.sigmoid_tail = s;
  return true;
}

/// The chains of a program, by the step that ends them.
constexpr std::vector<step_chain> find_chains(const std::vector<fused_step>& steps, const std::vector<int>& results) {
  const std::vector<int> uses = uses_of(steps, results);
  step_marks may_be_tail = repeated<char>(steps.size(), 1);
  for (;;) {
    std::vector<step_chain> chains = chains_with_tails(steps, uses, may_be_tail);
    bool whole = true;
    for (std::size_t i = 0; i < steps.size() && whole; ++i) {
      const std::int16_t s = chains[i].sigmoid_tail;
      if (s < 0 || chains[writer_of_tail(chains, s)].sigmoid_tail == s) continue;
      whole = make_tail(steps, results, chains, s);
      if (!whole) may_be_tail[static_cast<std::size_t>(s)] = 0;
    }
    if (whole) return chains;
  }
}

}  // namespace kerngrad::detail
