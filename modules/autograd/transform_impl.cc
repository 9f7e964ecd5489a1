// SPDX-License-Identifier: Apache-2.0
// Products with the Jacobian, checkpoints, and what a custom gradient puts on the tape.
module;
#include <algorithm>
#include <memory>
#include <vector>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
module kerngrad;

import :tape;
import :walk;

namespace kerngrad::detail {

// ------------------------------------------------------------------------------------------ Jacobian products

// A recording to be walked often: on the thread's tape while an outer gradient keeps that, else on one of its own.
struct pullback_state {
  tape own;
  tape* on = nullptr;  // the thread's tape, or null when it is `own`
  std::uint64_t id = 0;
  std::uint32_t lists = 0;
  tape_range range;
  tensor value;  // without history: what dy has to look like
  tape_position at;
  std::vector<signature> operands;
  std::vector<std::uint32_t> leaves;
};

namespace {

void check_operands(std::string_view name, std::span<const tensor> xs) {
  for (const tensor& x : xs)
    if (!x.defined()) fail(name, "an undefined tensor", "tensors", "check it with defined()");
}

// Runs f on leaves and ends the recording.
tensor run_on_leaves(recording& scope, borrowed f, std::span<const tensor> xs, std::vector<std::uint32_t>& leaves) {
  std::vector<tensor> handles;
  for (const tensor& x : xs) {
    handles.push_back(leaf(scope.on(), x));
    leaves.push_back(tensor_access::position(handles.back()).value);
  }
  tensor y = f.run(f.function, handles);
  scope.end_forward();
  return y;
}

tape& tape_for(const pullback_state& back) {
  if (!back.on) return const_cast<tape&>(back.own);  // a walk that is not the last one changes nothing
  if (back.on != current_tape || back.on->id != back.id || lists_in_use() != back.lists ||
      back.on->calls.size() < back.range.end_call)
    fail("kg::pullback", "a call outside the recording that it was made in", "a call inside it, on the same thread",
         "call vjp where the pullback is needed");
  return *back.on;
}

// The gradients of leaves, empty where nothing arrives; the walk is not the last one over its calls.
std::vector<tensor> walk_back(tape& t, const tape_range& range, const tape_position& at, const tensor& dy,
                              std::span<const std::uint32_t> leaves) {
  walk back(t, range, false);
  for (std::uint32_t value : leaves) back.want(value);
  back.mark();
  std::vector<tensor> grads(leaves.size());
  if (at.tape != t.id || !back.reaches(at.value)) return grads;
  back.grad(at.value) = dy;
  back.run();
  for (std::size_t i = 0; i < grads.size(); ++i) grads[i] = std::move(back.grad(leaves[i]));
  return grads;
}

}  // namespace

linearized linearize(borrowed f, std::span<const tensor> xs) {
  check_operands("kg::vjp", xs);
  auto state = std::make_shared<pullback_state>();
  recording scope;
  tape& t = scope.on();
  tensor y = run_on_leaves(scope, f, xs, state->leaves);
  static_cast<void>(seed_for("kg::vjp", y, &y));  // rejects what has no gradient
  state->range = range_of(scope);
  state->id = t.id;
  state->at = tensor_access::position(y);
  state->value = stop_gradient(y);
  for (const tensor& x : xs) state->operands.push_back(x.signature());
  if (t.depth > 0) {
    state->on = &t;
    state->lists = lists_in_use();
  } else {
    state->own.id = t.id;
    state->own.foreign = t.foreign;
    tape_lists lists;
    lists.swap_with(t);
    lists.swap_with(state->own);
  }
  leave(t, y);
  return {std::move(y), std::move(state)};
}

std::vector<tensor> pull(const pullback_state& back, const tensor& dy) {
  tape& t = tape_for(back);
  const rollback undo(this_tape());
  const tensor seed = seed_for("kg::pullback", back.value, dy.defined() ? &dy : nullptr);
  std::vector<tensor> grads = walk_back(t, back.range, back.at, seed, back.leaves);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) grads[i] = zeros(back.operands[i].dims, back.operands[i].type);
    leave(t, grads[i]);
  }
  return grads;
}

tensor tangent_of(borrowed f, std::span<const tensor> xs, std::span<const tensor> vs, tensor& value) {
  check_operands("kg::jvp", xs);
  for (const auto& [x, v] : ranges::views::zip(xs, vs)) {
    if (!v.defined()) continue;
    if (!differentiable.has(x.type()))
      fail("kg::jvp", "a direction for an operand of dtype " + std::string(name_of(x.type())), "none",
           "pass an empty tensor");
    if (!(v.signature() == x.signature()))
      fail("kg::jvp", "a direction " + std::string(name_of(v.type())) + " " + to_string(v.dims()),
           std::string(name_of(x.type())) + " " + to_string(x.dims()) + " like the operand");
  }
  recording both;  // keeps what f recorded until its gradient was differentiated, too
  tape& t = both.on();
  recording forward;
  std::vector<std::uint32_t> leaves;
  value = run_on_leaves(forward, f, xs, leaves);
  const tensor start = seed_for("kg::jvp", value, nullptr);
  const tape_range first = range_of(forward);
  recording backward;
  const tensor dy = leaf(t, start);
  const std::vector<tensor> grads = walk_back(t, first, tensor_access::position(value), dy, leaves);
  backward.end_forward();
  both.end_forward();
  walk back(t, range_of(backward), t.depth == 0);
  const std::uint32_t at = tensor_access::position(dy).value;
  back.want(at);
  back.mark();
  for (const auto& [g, v] : ranges::views::zip(grads, vs))
    if (v.defined() && g.defined() && back.reaches(g))
      accumulate(back.grad(tensor_access::position(g).value), v, t.depth > 0);
  back.run();
  tensor tangent = std::move(back.grad(at));
  if (!tangent.defined()) tangent = zeros(value.dims(), value.type());
  leave(t, tangent), leave(t, value);
  return tangent;
}

// ------------------------------------------------------------------------------------------ checkpoints

namespace {

// A tracked value from outside that a function used without taking it as an operand.
struct capture {
  std::uint32_t value;
  dtype type;
};

struct checkpoint_state {
  lists_function f;
  std::vector<tensor> xs;
  std::vector<std::pair<variable, tensor>> read;
  std::vector<capture> captures;
  std::uint64_t id = 0;  // the recording that the captures belong to
};

void note(std::vector<capture>& all, std::uint32_t value, dtype type) {
  if (std::none_of(all.begin(), all.end(), [&](const capture& c) { return c.value == value; }))
    all.push_back({value, type});
}

// The values below `base` that ops since then have taken, and the results that are some themselves.
std::vector<capture> captures_below(const tape& t, std::uint32_t base, std::span<const tensor> ys) {
  std::vector<capture> all;
  for (std::uint32_t s = 0; s < t.operands.size(); ++s)
    if (const recorded_operand& used = t.operands[s]; used.value != 0 && used.value < base)
      note(all, used.value, used.type);
  for (const tensor& y : ys)
    if (const tape_position at = tensor_access::position(y); at.tape == t.id && at.value < base)
      note(all, at.value, y.type());
  return all;
}

// A handle that stands for a value in the list of a call's operands. Its shape is of no account.
tensor stand_in(const tape& t, const capture& c) {
  const unrecorded pause;
  tensor x = zeros({}, c.type);
  tensor_access::position(x) = {t.id, c.value};
  return x;
}

// Checks what a later run of a checkpointed function returned next to the gradients of the first results.
void check_same_results(std::span<const tensor> ys, std::span<const tensor> dys) {
  bool same = ys.size() == dys.size();
  for (std::size_t k = 0; k < ys.size() && same; ++k) {
    same = ys[k].defined() && ys[k].signature() == dys[k].signature();
    if (ys[k].defined()) refuse_lost("kg::checkpoint", ys[k]);
  }
  if (!same)
    fail("kg::checkpoint", "another shape or dtype when the function ran again", "what it returned first",
         "a function that does the same whenever it runs");
}

// The second run of a checkpointed function and the backward pass over it.
std::vector<tensor> replay(const checkpoint_state& state, std::span<const tensor> dys,
                           const std::vector<bool>& wanted) {
  recording scope;
  tape& t = scope.on();
  const bool at_home = t.id == state.id;
  const std::size_t first_capture = state.xs.size() + state.read.size();
  for (std::size_t i = first_capture; i < wanted.size() && !at_home; ++i)
    if (wanted[i])
      fail("kg::checkpoint", "a gradient, outside the recording, of a tensor that the function captured",
           "a function that takes it as an operand");
  std::vector<tensor> leaves;
  for (const tensor& x : state.xs) leaves.push_back(leaf(t, x));
  variable_readings again(variable_readings::kind::replaying);
  for (const auto& [of, value] : state.read) {
    leaves.push_back(leaf(t, value));
    again.read.emplace_back(of, leaves.back());
  }
  for (const capture& c : state.captures) leaves.push_back(leaf(t, at_home ? stand_in(t, c) : zeros({}, c.type)));
  const std::uint32_t first_operand = t.operands.size();
  std::vector<tensor> ys;
  {
    const readings_scope now(again);
    ys = state.f(std::span<const tensor>(leaves).first(state.xs.size()));
  }
  scope.end_forward();
  check_same_results(ys, dys);
  // From here on, captured tensors are reached through their leaves.
  const auto through_leaf = [&](std::uint32_t& value) {
    for (std::size_t i = 0; i < state.captures.size() && at_home; ++i)
      if (value == state.captures[i].value) value = tensor_access::position(leaves[first_capture + i]).value;
  };
  for (std::uint32_t s = first_operand; s < t.operands.size() && !state.captures.empty(); ++s)
    through_leaf(t.operands[s].value);
  std::vector<tape_position> at;
  for (const tensor& y : ys) {
    at.push_back(tensor_access::position(y));
    if (at.back().tape == t.id) through_leaf(at.back().value);
  }
  walk back(t, range_of(scope), t.depth == 0);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (wanted[i]) back.want(tensor_access::position(leaves[i]).value);
  back.mark();
  std::vector<tensor> grads(leaves.size());
  for (const auto& [of, dy] : ranges::views::zip(at, dys))
    if (of.tape == t.id && back.reaches(of.value) && differentiable.has(dy.type()))
      accumulate(back.grad(of.value), dy, t.depth > 0);
  back.run();
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (wanted[i]) grads[i] = std::move(back.grad(tensor_access::position(leaves[i]).value));
  return grads;
}

}  // namespace

std::vector<tensor> run_checkpointed(const lists_function& f, std::span<const tensor> xs) {
  if (!recording_now()) return f(xs);
  check_operands("kg::checkpoint", xs);
  tape& t = this_tape();
  auto state = std::make_shared<checkpoint_state>(checkpoint_state{f, {xs.begin(), xs.end()}, {}, {}, t.id});
  variable_readings reads(variable_readings::kind::collecting);
  std::vector<tensor> ys;
  {
    const lists_aside dropped(t);
    const std::uint32_t base = t.next_value;
    const readings_scope now(reads);
    std::vector<tensor> constants;
    for (const tensor& x : xs) constants.push_back(stop_gradient(x));
    ys = f(constants);
    for (const tensor& y : ys) {
      if (!y.defined()) fail("kg::checkpoint", "a function that returned an undefined tensor", "a tensor");
      refuse_lost("kg::checkpoint", y);
    }
    state->captures = captures_below(t, base, ys);
  }
  std::vector<tensor> operands = state->xs;
  for (const auto& [of, value] : reads.read) {
    operands.push_back(innermost ? innermost->value_of(of, value) : value);
    state->read.emplace_back(of, operands.back());
  }
  for (const capture& c : state->captures) operands.push_back(stand_in(t, c));
  std::vector<const tensor*> in;
  for (const tensor& x : operands) in.push_back(&x);
  const std::uint32_t before = t.calls.size();
  record_free("checkpoint", in, ys, [state](std::span<const tensor> dys, const std::vector<bool>& wanted) {
    return replay(*state, dys, wanted);
  });
  if (t.calls.size() != before) {
    const recorded_call& n = t.calls[before];
    for (std::size_t i = operands.size() - state->captures.size(); i < operands.size(); ++i)
      t.operands[n.first_operand + static_cast<std::uint32_t>(i)].dims = any_dims;
  }
  return ys;
}

// ------------------------------------------------------------------------------------------ custom rules

void refuse_values(int got, int wanted) {
  fail("kg::custom_grad", "a function with " + std::to_string(got) + " values", std::to_string(wanted),
       "return with_gradients(values, rule) for several");
}

namespace {

// The rule of a custom gradient that saved something; without anything it is the function alone, which fits into
// a std::function.
struct saving_rule {
  decltype(custom_parts::gradient) gradient;
  std::vector<tensor> kept;
  std::vector<tensor> operator()(std::span<const tensor> dy, const std::vector<bool>& wanted) const {
    std::vector<tensor> grads(wanted.size());
    gradient(dy[0], kept.data(), grads.data());
    return grads;
  }
};

bool same_handle(const tensor& a, const tensor& b) {
  const tape_position p = tensor_access::position(a), q = tensor_access::position(b);
  return tensor_access::buffer(a) == tensor_access::buffer(b) && p.tape == q.tape && p.value == q.value;
}

free_rule rule_of(const custom_parts& parts, std::span<tensor> kept) {
  if (!kept.empty()) return saving_rule{parts.gradient, {kept.begin(), kept.end()}};
  return [gradient = parts.gradient](std::span<const tensor> dy, const std::vector<bool>& wanted) {
    std::vector<tensor> grads(wanted.size());
    gradient(dy[0], nullptr, grads.data());
    return grads;
  };
}

}  // namespace

tensor run_custom(const custom_parts& parts, std::span<const tensor* const> xs, std::span<tensor> kept) {
  constexpr std::string_view name = "custom_gradient";
  tensor y;
  if (!recording_now()) {
    y = parts.forward(xs.data(), kept.data());
    lose(xs, {&y, 1});
    return y;
  }
  tape& t = this_tape();
  // Inside, the ops are recorded only if a higher order can ask for them: through what was saved.
  if (t.depth > 1) {
    y = parts.forward(xs.data(), kept.data());
  } else {
    const unrecorded pause;
    y = parts.forward(xs.data(), kept.data());
  }
  if (!y.defined()) fail(name, "an undefined tensor as value", "a tensor");
  const bool own_value = std::none_of(xs.begin(), xs.end(), [&](const tensor* x) { return same_handle(*x, y); });
  const tensor made = y;
  const std::uint32_t before = t.calls.size();
  record_free(name, xs, {&y, 1}, rule_of(parts, kept));
  if (t.calls.size() == before || !own_value) return y;
  // A saved result is this call's: its gradient is the one given here, not that of the ops inside.
  if (auto* rule = t.free[t.calls[before].free].run.target<saving_rule>())
    for (tensor& x : rule->kept)
      if (same_handle(x, made)) x = y;
  return y;
}

}  // namespace kerngrad::detail

namespace kerngrad {
namespace {

detail::borrowed borrow_list(const detail::list_function& f) {
  return {const_cast<void*>(static_cast<const void*>(&f)), [](void* function, std::span<const tensor> values) {
            return (*static_cast<const detail::list_function*>(function))(values);
          }};
}

}  // namespace

value_and_pullback_list vjp_of(const std::function<tensor(std::span<const tensor>)>& f, std::span<const tensor> xs) {
  detail::linearized made = detail::linearize(borrow_list(f), xs);
  return {std::move(made.value), [back = std::move(made.back)](const tensor& dy) { return detail::pull(*back, dy); }};
}

value_and_tangent jvp_of(const std::function<tensor(std::span<const tensor>)>& f, std::span<const tensor> xs,
                         std::span<const tensor> vs) {
  if (vs.size() != xs.size())
    fail("kg::jvp_of", std::to_string(vs.size()) + " directions", std::to_string(xs.size()) + ", one per operand");
  value_and_tangent result;
  result.tangent = detail::tangent_of(borrow_list(f), xs, vs, result.value);
  return result;
}

}  // namespace kerngrad
