// SPDX-License-Identifier: Apache-2.0
// Fused programs: what the compiler makes of an expression, of its derivative, and of both at once. Steps that no
// result needs are dropped, and the values in between get as few buffers as are alive at once.
module;
#include "kernels/common/abi.h"
export module kerngrad:fuse_program;

import :std;
import :core;
import :op;
import :launch;
import :shapes;
import :table;
import :entry;
import :symbol;
import :fuse_rules;
import :fuse_chains;

namespace kerngrad::detail {

/// A reduction at the end of an expression.
struct fused_reduction {
  const op_entry* op = nullptr;  // null: there is none
  std::optional<std::int64_t> axis;
  bool keep_dims = false;
};

/// True if there is a reduction. A function, because GCC warns where the address of a built-in op is compared with
/// none.
constexpr bool is_reduction(const fused_reduction& reduction) { return reduction.op != nullptr; }
/// True if the reduction hands every element the same of its gradient, the element's value aside.
constexpr bool is_sum_or_mean(const fused_reduction& reduction) {
  return reduction.op == &known_entry<op_id<"Sum">>() || reduction.op == &known_entry<op_id<"Mean">>();
}

/// How a step is run when all operands of the program have one shape and one floating dtype.
struct uniform_step {
  enum class form : std::uint8_t { none, flat1, flat2, unary, broadcast };
  form how = form::none;
  std::uint8_t operands = 0;
  bool of_booleans = false;  // the kernel is that for booleans
  bool gives_booleans = false;
  std::array<std::int64_t, 3> moves{};  // 1 for arrays, 0 for single numbers
};

/// A program: steps in an order in which they can run, and which of them are results.
struct fused_program {
  std::span<const fused_step> steps;
  std::span<const std::int16_t> results;  // -1: there is none, an operand has no gradient
  int operands = 0;
  int shape_step = 0;  // the step that has the shape of a block's walk: all elements of all results
  int buffers = 0;     // how many steps' results are alive at once and are no result of the program
  int singles = 0;     // how often a number is an operand
  fused_reduction reduction{};
  std::span<const uniform_step> uniform{};  // empty when some step needs more than that
  std::span<const step_chain> chains{};     // and then the steps that one kernel does together
  std::span<const std::uint16_t> order{};   // and which kernels run when all results are wanted, by their last steps
  bool has_others = false;                  // some result is no step's own: an operand, a number, a result once more
};

// ------------------------------------------------------------------------------------------ reading

/// Facts of an expression.
enum class fused_kind { value, gradient, value_and_gradient };

/// A program under construction.
struct program_builder {
  std::vector<fused_step> steps;
  std::vector<step_chain> chains;
  std::vector<int> results;
  int shape_step = 0, buffers = 0, singles = 0;
  fused_reduction reduction{};
  bool has_gradient = true;  // every op on the way has a rule, and something flows to the result
};

template <class F, std::size_t... I>
constexpr auto read_expression(step_list& list, std::index_sequence<I...>) {
  const auto operand = [&](std::size_t i) {
    return symbol{&list, list.add({.kind = step_kind::operand, .operand = static_cast<std::int8_t>(i)})};
  };
  return F{}(operand(I)...);
}

constexpr symbol last_step(symbol y, fused_reduction&) { return y; }
constexpr symbol last_step(const reduced_symbol& y, fused_reduction& reduction) {
  reduction = {y.op, y.axis, y.keep_dims};
  return y.of;
}

/// Products with ones are their other operand: what the gradient of a result without a weight begins with.
constexpr void drop_ones(std::vector<fused_step>& steps, std::vector<int>& results) {
  std::vector<std::int16_t> stands_for = repeated<std::int16_t>(steps.size(), -1);
  const auto one = [&](std::int16_t i) {
    const fused_step& step = steps[static_cast<std::size_t>(i)];
    return step.kind == step_kind::constant && step.numbers[0] == 1;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    stands_for[i] = static_cast<std::int16_t>(i);
    for (std::int16_t& k : steps[i].in)
      if (k >= 0) k = stands_for[static_cast<std::size_t>(k)];
    if (steps[i].kind != step_kind::op || steps[i].row != &row_of<op_id<"Multiply">>) continue;
    if (one(steps[i].in[0])) stands_for[i] = steps[i].in[1];
    else if (one(steps[i].in[1])) stands_for[i] = steps[i].in[0];
  }
  for (int& r : results)
    if (r >= 0) r = stands_for[static_cast<std::size_t>(r)];
}

/// Drops the steps that no result needs.
constexpr void drop_unused(program_builder& p) {
  step_marks used = repeated<char>(p.steps.size(), 0);
  used[static_cast<std::size_t>(p.shape_step)] = true;
  for (int r : p.results)
    if (r >= 0) used[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = p.steps.size(); i-- > 0;)
    for (std::int16_t k : p.steps[i].in)
      if (used[i] && k >= 0) used[static_cast<std::size_t>(k)] = true;
  std::vector<int> moved = repeated(p.steps.size(), -1);
  std::vector<fused_step> kept;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    if (!used[i]) continue;
    moved[i] = static_cast<int>(kept.size());
    kept.push_back(p.steps[i]);
    for (std::int16_t& k : kept.back().in)
      if (k >= 0) k = static_cast<std::int16_t>(moved[static_cast<std::size_t>(k)]);
  }
  p.steps = kept;
  p.shape_step = moved[static_cast<std::size_t>(p.shape_step)];
  for (int& r : p.results)
    if (r >= 0) r = moved[static_cast<std::size_t>(r)];
}

/// Gives every op that is no result a buffer, which is free again after the last step that reads it; and every result
/// as well, if it may turn out that only others want it.
constexpr void assign_buffers(program_builder& p, bool of_results) {
  std::vector<std::size_t> last = repeated<std::size_t>(p.steps.size(), 0);
  step_marks is_result = repeated<char>(p.steps.size(), 0);
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    for (std::int16_t k : p.steps[i].in)
      if (k >= 0) last[static_cast<std::size_t>(k)] = i;
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    for (std::int16_t k : p.chains[i].in)  // by the end of a chain, too
      if (k >= 0 && last[static_cast<std::size_t>(k)] < i) last[static_cast<std::size_t>(k)] = i;
  for (int r : p.results)
    if (r >= 0) is_result[static_cast<std::size_t>(r)] = true;
  // A value without a reader is written at least, where its chain ends.
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const std::size_t written = p.chains[i].within >= 0 ? static_cast<std::size_t>(p.chains[i].within) : i;
    if (last[i] <= written) last[i] = written + 1;
  }
  // A Cast to the dtype that its operand has is that operand: a step that reads the one reads the other.
  for (std::size_t i = p.steps.size(); i-- > 0;) {
    if (p.steps[i].kind != step_kind::op || p.steps[i].row->convention != convention::cast) continue;
    std::size_t& read = last[static_cast<std::size_t>(p.steps[i].in[0])];
    if (read < last[i]) read = last[i];
  }
  step_marks taken;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    fused_step& step = p.steps[i];
    if (step.kind != step_kind::op) continue;
    for (std::int16_t k : step.in)
      if (k >= 0 && p.steps[static_cast<std::size_t>(k)].kind != step_kind::op) ++p.singles;
    if (!is_result[i] || of_results) {
      std::size_t free = 0;
      while (free < taken.size() && taken[free]) ++free;
      if (free == taken.size()) taken.push_back(false);
      taken[free] = true;
      step.buffer = static_cast<std::int8_t>(free);
    }
    // The result of a step never shares memory with its operands: they are given back after it.
    for (std::size_t k = 0; k < i; ++k)
      if (p.steps[k].buffer >= 0 && last[k] == i) taken[static_cast<std::size_t>(p.steps[k].buffer)] = false;
  }
  p.buffers = static_cast<int>(taken.size());
}

/// The program of the steps that lead to `root`, of as many operands; with gradients, of the operands in `of`, and of
/// all when that is empty. A gradient begins with one operand more, or with ones where the value is a sum or is not
/// reduced: then there is no such operand.
constexpr program_builder program_of_steps(step_list list, symbol root, const fused_reduction& reduction,
                                           std::size_t operands, fused_kind what, std::span<const std::size_t> of) {
  program_builder p;
  p.reduction = reduction;
  root.in = &list;
  p.shape_step = root.at;
  if (what != fused_kind::gradient) p.results.push_back(root.at);
  if (what != fused_kind::value) {
    symbol seed;
    const bool of_mean = p.reduction.op == &known_entry<op_id<"Mean">>();
    if (what == fused_kind::gradient || of_mean)
      seed = {&list, list.add({.kind = step_kind::operand, .operand = static_cast<std::int8_t>(operands)})};
    else seed = constant_step(1, root);
    if (what == fused_kind::gradient) p.shape_step = seed.at;
    std::vector<symbol> grads = repeated(operands, symbol());
    p.has_gradient = flowing(list.steps)[static_cast<std::size_t>(root.at)] && differentiate(root, seed, grads);
    for (std::size_t i = 0; i < (of.empty() ? operands : of.size()); ++i)
      p.results.push_back(grads[of.empty() ? i : of[i]].at);
    drop_ones(list.steps, p.results);
  }
  p.steps = list.steps;
  drop_unused(p);
  p.chains = find_chains(p.steps, p.results);
  assign_buffers(p, what == fused_kind::gradient);
  return p;
}

/// The program of an expression that the compiler reads.
template <class F, std::size_t N>
constexpr program_builder build_program(fused_kind what, std::span<const std::size_t> of) {
  step_list list;
  fused_reduction reduction;
  const symbol root = last_step(read_expression<F>(list, std::make_index_sequence<N>{}), reduction);
  return program_of_steps(list, root, reduction, N, what, of);
}

/// The steps for operands of one shape and one floating dtype; empty when that does not settle every step's dtype.
constexpr std::vector<uniform_step> uniform_steps(const program_builder& p) {
  std::vector<uniform_step> all;
  const auto is_boolean = [&](std::int16_t k) { return all[static_cast<std::size_t>(k)].gives_booleans; };
  for (const fused_step& step : p.steps) {
    uniform_step u;
    if (step.kind == step_kind::operand || step.kind == step_kind::literal || step.kind == step_kind::constant) {
      if (step.kind != step_kind::operand && is_boolean(step.in[0])) return {};
      all.push_back(u);
      continue;
    }
    const op_row& row = *step.row;
    if (row.convention == convention::cast || row.convention == convention::convert) return {};
    shape_effect effect{};
    if (std::is_constant_evaluated()) effect = effect_of(row);
    else effect = step.op->effect;
    const bool clips = effect == shape_effect::bounds && step.numbers[0] <= step.numbers[1];
    if (!clips && effect != shape_effect::none) return {};
    u.operands = static_cast<std::uint8_t>(row.operands.size());
    bool any_single = false, any = false;
    for (std::size_t k = 0; k < row.operands.size(); ++k) {
      const bool boolean = is_boolean(step.in[k]);
      if (!row.operands[k].types.has(boolean ? dtype::boolean : dtype::float32)) return {};
      const step_kind from = p.steps[static_cast<std::size_t>(step.in[k])].kind;
      u.moves[k] = from == step_kind::op || from == step_kind::operand;
      any_single = any_single || !u.moves[k];
      if (row.operands[k].part != role::value) continue;
      if (any && boolean != u.of_booleans) return {};  // a boolean among numbers is promoted
      u.of_booleans = boolean;
      any = true;
    }
    if (u.of_booleans && lifted(dtype::boolean, row.types.before) != dtype::boolean) return {};
    u.gives_booleans = u.of_booleans || row.types.after == result::boolean;
    if (!u.gives_booleans && row.types.after != result::same) return {};
    using form = uniform_step::form;
    if (row.convention == convention::unary) u.how = row.attrs.empty() ? form::flat1 : form::unary;
    else u.how = row.convention == convention::binary && !any_single ? form::flat2 : form::broadcast;
    if (any_single && row.convention == convention::unary) return {};
    all.push_back(u);
  }
  return all;
}

/// Which kernels run when all results are wanted, by their last steps. A constant takes its dtype from a step without
/// reading it.
constexpr std::vector<std::uint16_t> kernel_order(const program_builder& p) {
  step_marks needed = repeated<char>(p.steps.size(), 0);
  for (int r : p.results)
    if (r >= 0) needed[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = p.steps.size(); i-- > 0;) {
    if (!needed[i] || p.steps[i].kind != step_kind::op) continue;
    for (std::int16_t k : p.steps[i].in)
      if (k >= 0) needed[static_cast<std::size_t>(k)] = true;
    // No step reads the Sigmoid whose tail a chain reads.
    if (p.chains[i].sigmoid_tail >= 0) needed[static_cast<std::size_t>(p.chains[i].sigmoid_tail)] = true;
    // A value that is kept inside a chain needs all of that.
    const std::int16_t end = p.chains[i].within;
    if (end < 0 || needed[static_cast<std::size_t>(end)]) continue;
    needed[static_cast<std::size_t>(end)] = true;
    i = static_cast<std::size_t>(end) + 1;
  }
  std::vector<std::uint16_t> order;
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    if (needed[i] && p.steps[i].kind == step_kind::op && p.chains[i].within < 0)
      order.push_back(static_cast<std::uint16_t>(i));
  return order;
}

/// Some result is no step's own: an operand, a number, a result once more.
constexpr bool has_other_results(const program_builder& p) {
  for (std::size_t i = 0; i < p.results.size(); ++i) {
    const int r = p.results[i];
    if (r >= 0 && p.steps[static_cast<std::size_t>(r)].kind != step_kind::op) return true;
    for (std::size_t j = 0; j < i; ++j)
      if (r >= 0 && p.results[j] == r) return true;
  }
  return false;
}

/// The most steps of a program, and values that it keeps at once.
inline constexpr std::size_t most_fused_steps = 1000;
inline constexpr int most_fused_buffers = 100;

/// A program in the memory of the program that uses it, with room for as many steps and results.
template <std::size_t Steps, std::size_t Results>
struct program_parts {
  std::array<fused_step, Steps> steps{};
  std::array<std::int16_t, Results> results{};
  std::array<uniform_step, Steps> uniform{};
  std::array<step_chain, Steps> chains{};
  std::array<std::uint16_t, Steps> order{};
  std::size_t count = 0, kernels = 0;  // how many steps and kernels there are
  bool is_uniform = false, has_others = false;
  int shape_step = 0, buffers = 0, singles = 0;
  fused_reduction reduction{};
  bool has_gradient = false;
};

/// A program with more steps than there is room for leaves their count alone.
template <std::size_t Steps, std::size_t Results>
constexpr program_parts<Steps, Results> parts_with_room(const program_builder& p) {
  program_parts<Steps, Results> all{.count = p.steps.size(),
                                    .shape_step = p.shape_step,
                                    .buffers = p.buffers,
                                    .singles = p.singles,
                                    .reduction = p.reduction,
                                    .has_gradient = p.has_gradient};
  if (all.count > Steps) return all;
  for (std::size_t i = 0; i < all.count; ++i) all.steps[i] = p.steps[i], all.chains[i] = p.chains[i];
  for (std::size_t i = 0; i < Results; ++i) all.results[i] = static_cast<std::int16_t>(p.results[i]);
  const std::vector<uniform_step> uniform = uniform_steps(p);
  all.is_uniform = !uniform.empty();
  for (std::size_t i = 0; i < uniform.size(); ++i) all.uniform[i] = uniform[i];
  for (const std::uint16_t i : kernel_order(p)) all.order[all.kernels++] = i;
  all.has_others = has_other_results(p);
  return all;
}

/// The same with no more room than it takes.
template <std::size_t Steps, std::size_t Room, std::size_t Results>
constexpr program_parts<Steps, Results> without_room(const program_parts<Room, Results>& from) {
  program_parts<Steps, Results> all{.results = from.results,
                                    .count = from.count,
                                    .kernels = from.kernels,
                                    .is_uniform = from.is_uniform,
                                    .has_others = from.has_others,
                                    .shape_step = from.shape_step,
                                    .buffers = from.buffers,
                                    .singles = from.singles,
                                    .reduction = from.reduction,
                                    .has_gradient = from.has_gradient};
  for (std::size_t i = 0; i < Steps; ++i) {
    all.steps[i] = from.steps[i], all.uniform[i] = from.uniform[i];
    all.chains[i] = from.chains[i], all.order[i] = from.order[i];
  }
  return all;
}

/// The compiler reads an expression once when its program has no more steps, and twice otherwise.
inline constexpr std::size_t steps_read_once = 64;

/// The program of an expression; `Of` as in `program_of_steps`.
template <class F, std::size_t N, fused_kind What, std::size_t... Of>
struct program_of {
  static constexpr std::array<std::size_t, sizeof...(Of)> of{Of...};
  static constexpr std::size_t grad_count = What == fused_kind::value ? 0 : sizeof...(Of) > 0 ? sizeof...(Of) : N;
  static constexpr std::size_t result_count = (What == fused_kind::gradient ? 0 : 1) + grad_count;
  static constexpr auto read = parts_with_room<steps_read_once, result_count>(build_program<F, N>(What, of));
  static_assert(read.count < most_fused_steps, "[fuse] an expression of a thousand steps: split it");
  static constexpr auto whole = [] {
    if constexpr (read.count <= steps_read_once) return without_room<read.count>(read);
    else return parts_with_room<read.count, result_count>(build_program<F, N>(What, of));
  }();
  static_assert(whole.buffers < most_fused_buffers,
                "[fuse] an expression that keeps a hundred values at once: split it");
  static constexpr fused_program program{
      .steps = whole.steps,
      .results = whole.results,
      .operands = static_cast<int>(N),
      .shape_step = whole.shape_step,
      .buffers = whole.buffers,
      .singles = whole.singles,
      .reduction = whole.reduction,
      .uniform = whole.is_uniform ? std::span<const uniform_step>(whole.uniform) : std::span<const uniform_step>(),
      .chains = whole.chains,
      .order = std::span<const std::uint16_t>(whole.order).first(whole.kernels),
      .has_others = whole.has_others};
};

}  // namespace kerngrad::detail
