// SPDX-License-Identifier: Apache-2.0
// Calls of fused functions: in blocks where they can be, step by step where a hook or a recording needs every op, and
// on the tape as one call whose rule is the program of the derivative.
module;
#include <algorithm>
#include <memory>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :fuse_plan;
import :fuse_uniform;
import :live;
import :run;
import :snapshot;
import :tape;

namespace kerngrad::detail {

bool tracked(std::span<const tensor* const> in) {
  if (!recording_now()) return false;
  for (const tensor* x : in)
    if (this_tape().tracks(*x) && differentiable.has(x->type())) return true;
  return false;
}

namespace {

// The steps as calls of their ops, which check, watch, record and reject as they do.
class single_steps {
 public:
  single_steps(const fused_program& p, std::span<const tensor* const> in) : p_(p), values_(p.steps.size()) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const fused_step& s = p_.steps[i];
      if (s.kind == step_kind::operand) values_[i] = *in[static_cast<std::size_t>(s.operand)];
      else if (s.kind == step_kind::constant)
        values_[i] = s.numbers[0] == 0 ? zeros_like(value(s.in[0])) : ones_like(value(s.in[0]));
      else if (s.kind == step_kind::op) values_[i] = run(s);
    }
  }
  /// Result of a step; a number becomes a tensor when it is read as one.
  const tensor& value(std::int16_t i) {
    tensor& x = values_[static_cast<std::size_t>(i)];
    const fused_step& s = p_.steps[static_cast<std::size_t>(i)];
    if (s.kind == step_kind::literal && !x.defined()) x = number_like("kg::fuse", s.number, value(s.in[0]));
    return x;
  }

 private:
  tensor run(const fused_step& s) {
    const op_row& row = *s.row;
    if (row.types.after == result::attribute) return cast(value(s.in[0]), s.to);
    const auto number = [&](std::size_t k) -> const plain_number* {
      const fused_step& from = p_.steps[static_cast<std::size_t>(s.in[k])];
      return from.kind == step_kind::literal ? &from.number : nullptr;
    };
    if (row.operands.size() == 2) {
      if (const plain_number* n = number(1)) return run_beside(*s.op, value(s.in[0]), *n, number_is::right);
      if (const plain_number* n = number(0)) return run_beside(*s.op, value(s.in[1]), *n, number_is::left);
    }
    const tensor* operands[3] = {};
    for (std::size_t k = 0; k < row.operands.size(); ++k) operands[k] = &value(s.in[k]);
    const attr_value attrs[] = {s.numbers[0], s.numbers[1]};
    return run_one(*s.op, {operands, row.operands.size()}, {attrs, row.attrs.size()});
  }

  const fused_program& p_;
  std::vector<tensor> values_;
};
std::vector<tensor> run_steps(const fused_program& p, std::span<const tensor* const> in) {
  single_steps steps(p, in);
  std::vector<tensor> results(p.results.size());
  for (std::size_t k = 0; k < results.size(); ++k)
    if (p.results[k] >= 0) results[k] = steps.value(p.results[k]);
  return results;
}

// True if an op has another rule now than the one that it was compiled with.
bool has_another_rule(const op_entry& op) {
  if (rule_of_scope(op)) return true;
  if (replaced_gradients.load(std::memory_order_relaxed) == 0) return false;
  const pinned now;
  const name_record* record = now->find(op.row->name);
  return record && record->op && record->op->row == op.row && record->gradient_now();
}

// A program knows the rules that its ops were compiled with: where one of those that the value is made of has another
// now, it does not guess.
void refuse_replaced(const fused_program& p) {
  work_array<bool, 32> of_value(p.steps.size());
  of_value[static_cast<std::size_t>(p.results[0])] = true;
  for (std::size_t i = p.steps.size(); i-- > 0;) {
    const fused_step& s = p.steps[i];
    if (!of_value[i] || s.kind != step_kind::op) continue;
    for (std::int16_t k : s.in)
      if (k >= 0) of_value[static_cast<std::size_t>(k)] = true;
    if (has_another_rule(*s.op))
      fail("kg::fuse", "a gradient of a fused function while the rule of " + std::string(s.row->name) + " is replaced",
           "the rules that the function was compiled with",
           "end the replacement, or call the ops of the expression one by one");
  }
}

// Which dtypes the values of a program may have: those of a call that is differentiated are one floating dtype, for
// which its rules were compiled.
enum class dtypes_of_values : std::uint8_t { any, one_floating };

// Computes the results that are wanted, all when `wanted` is empty, in blocks: without a plan where the compiler
// settled everything, else by a plan of this call. False: nothing was done; what remains are the steps as calls, which
// also say what is wrong with them.
bool run_in_blocks(const fused_program& p, std::span<const tensor* const> in, std::span<const bool> wanted,
                   dtypes_of_values allowed, std::span<tensor> out) {
  if (!on_simd()) return false;
  if (run_uniform(p, in, wanted, out)) return true;
  fused_plan plan(p, in, wanted);
  if (!plan.make() || (allowed == dtypes_of_values::one_floating && !plan.has_one_floating_dtype())) return false;
  plan.run(out);
  return true;
}

// The gradients of the operands, from dy, each in its operand's shape.
std::vector<tensor> run_gradient(const fused_program& p, std::span<const tensor> xs, const tensor& dy,
                                 const std::vector<bool>& wanted) {
  std::vector<const tensor*> in;
  for (const tensor& x : xs) in.push_back(&x);
  in.push_back(&dy);
  std::vector<tensor> grads(xs.size());
  work_array<bool, 8> of(xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) of[i] = wanted[i] && differentiable.has(xs[i].type());
  if (tracked(in) || !run_in_blocks(p, in, of.all(), dtypes_of_values::any, grads)) grads = run_steps(p, in);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!wanted[i] || !grads[i].defined()) grads[i] = {};
    else grads[i] = reduced_to(xs[i].dims(), std::move(grads[i]));
  }
  return grads;
}

// The same for operands of one shape under a sum or mean at the end, from what it hands to each of its elements.
std::vector<tensor> run_gradient_of_sum(const fused_program& p, const fused_reduction& reduction,
                                        std::span<const tensor> xs, const tensor& seed,
                                        const std::vector<bool>& wanted) {
  std::vector<const tensor*> in;
  for (const tensor& x : xs) in.push_back(&x);
  in.push_back(&seed);
  if (on_simd() && !tracked(in)) {
    std::vector<tensor> grads(xs.size());
    work_array<bool, 8> of(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) of[i] = wanted[i];
    if (run_spread(p, {in.data(), xs.size()}, reduction, seed, of.all(), grads)) return grads;
  }
  return run_gradient(p, xs, spread_seed(reduction, xs[0].dims(), seed), wanted);
}

// Notes a call on the tape as one step, if a recording is open.
void record_fused(const fused_parts& parts, std::span<const tensor* const> in, tensor& y,
                  const fused_reduction& reduction) {
  refuse_replaced(*parts.value);
  std::vector<tensor> xs;
  for (const tensor* x : in) xs.push_back(*x);
  record_free("fuse", in, {&y, 1},
              [gradient = parts.gradient, reduction, xs = std::move(xs)](std::span<const tensor> dy,
                                                                         const std::vector<bool>& wanted) {
                if (!reduction.op) return run_gradient(*gradient, xs, dy[0], wanted);
                return run_gradient_of_sum(*gradient, reduction, xs, seed_of(reduction, xs[0].dims(), dy[0]), wanted);
              });
}

// The value without the reduction at the end, recorded as one step if a recording is open.
tensor run_body(const fused_parts& parts, std::span<const tensor* const> in) {
  const fused_program& p = *parts.value;
  const bool records = tracked(in);
  const dtypes_of_values allowed = records ? dtypes_of_values::one_floating : dtypes_of_values::any;
  tensor y;
  if ((records && !parts.gradient) || !run_in_blocks(p, in, {}, allowed, {&y, 1})) return run_steps(p, in)[0];
  if (records) record_fused(parts, in, y, {});
  else lose(in, {&y, 1});
  return y;
}

// The reduction at the end as a call, if there is one.
tensor reduced(const fused_reduction& reduction, tensor y) {
  if (!reduction.op) return y;
  const attr_value attrs[] = {reduction.axis ? attr_value(*reduction.axis) : attr_value(),
                              attr_value(reduction.keep_dims)};
  const tensor* const operand[] = {&y};
  return run_one(*reduction.op, operand, attrs);
}

}  // namespace

tensor run_following_rules(const fused_parts& parts, std::span<const tensor* const> in) {
  const std::span<const fused_step> steps = parts.value->steps;
  const auto is_replaced = [](const fused_step& s) { return s.kind == step_kind::op && has_another_rule(*s.op); };
  if (!tracked(in) || std::ranges::none_of(steps, is_replaced)) return run_fused(parts, in);
  return reduced(parts.value->reduction, run_steps(*parts.value, in)[0]);
}

tensor run_fused(const fused_parts& parts, std::span<const tensor* const> in) {
  const fused_reduction& reduction = parts.value->reduction;
  if (!reduction.op) return run_body(parts, in);
  tensor y;
  const bool records = tracked(in);
  // A replaced rule of the reduction itself is followed: then it is a call of its own.
  const bool folds =
      on_simd() && (!records || (parts.gradient && is_sum_or_mean(reduction) && !has_another_rule(*reduction.op)));
  if (folds && run_folded(*parts.value, in, y, {})) {
    if (records) record_fused(parts, in, y, reduction);
    else lose(in, {&y, 1});
    return y;
  }
  return reduced(reduction, run_body(parts, in));
}

bool run_fused_with_gradients(const fused_program& program, std::span<const tensor* const> in,
                              std::span<const std::size_t> of, tensor& value, std::span<tensor> grads) {
  if (recording_now()) return false;
  if (program.reduction.op) {
    if (!on_simd() || has_another_rule(*program.reduction.op) || !run_folded(program, in, value, grads)) return false;
  } else {
    work_array<tensor, 8> all(grads.size() + 1);
    const std::span<tensor> out = all.all();
    if (!run_in_blocks(program, in, {}, dtypes_of_values::one_floating, out)) return false;
    value = std::move(out[0]);
    for (std::size_t i = 0; i < grads.size(); ++i) grads[i] = std::move(out[i + 1]);
  }
  refuse_replaced(program);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    const tensor& x = *in[of[i]];
    grads[i] = grads[i].defined() ? reduced_to(x.dims(), std::move(grads[i])) : zeros(x.dims(), x.type());
  }
  lose(in, {&value, 1});
  lose(in, grads);
  return true;
}

}  // namespace kerngrad::detail
