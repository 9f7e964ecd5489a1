// SPDX-License-Identifier: Apache-2.0
// A recording from its opening to its end, the backward pass over it, and what reads of variables are recorded in.
module;
#include <algorithm>
#include <exception>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :live;
import :scopes;
import :tape;
import :walk;

namespace kerngrad::detail {

constinit thread_local variable_readings* innermost = nullptr;

namespace {
constinit thread_local std::uint32_t current_lists = 0, made_lists = 0;
}

// ------------------------------------------------------------------------------------------ recordings

lists_aside::lists_aside(tape& t) : t_(t), outer_(std::exchange(current_lists, ++made_lists)) { kept_.swap_with(t); }
lists_aside::~lists_aside() {
  kept_.swap_with(t_);
  current_lists = outer_;
}
std::uint32_t lists_in_use() { return current_lists; }

rollback::rollback(tape& t)
    : t_(t),
      first_call_(t.calls.size()),
      first_result_(t.results.size()),
      first_free_(t.free.size()),
      exceptions_(std::uncaught_exceptions()) {}

rollback::~rollback() {
  if (t_.depth == 0 || std::uncaught_exceptions() == exceptions_) return;
  // The leaves of variables stay: they belong to outer gradients, which may read the variable again.
  const auto belongs_outside = [&](const recorded_call& n) {
    for (const variable_readings* w = innermost; w; w = w->outer)
      for (const auto& [of, at] : w->read)
        if (tensor_access::position(at).value == n.first_value) return true;
    return false;
  };
  for (std::uint32_t i = first_call_; i < t_.calls.size(); ++i) {
    const recorded_call& n = t_.calls[i];
    if (belongs_outside(n)) continue;
    // A call that ran out of memory lacks operands.
    const std::uint32_t end = std::min(n.first_operand + n.operands, t_.operands.size());
    for (std::uint32_t s = n.first_operand; s < end; ++s) t_.operands[s] = {};
  }
  for (std::uint32_t i = first_result_; i < t_.results.size(); ++i) t_.results[i] = {};
  for (std::uint32_t i = first_free_; i < t_.free.size(); ++i) t_.free[i] = {};
}

recording::recording() : t_(this_tape()), paused_(std::exchange(t_.paused, 0)) {
  t_.rules = &known_gradients;
  // A tape in use at depth 0 is being walked for the last time: a rule takes a gradient of its own. The id stays, so
  // that what the walk still holds keeps its position.
  if (t_.depth == 0 && t_.next_value > 1) {
    aside_.emplace(t_);
    ++t_.depth;
  } else {
    t_.open();
  }
  undo_.emplace(t_);
  first_call_ = t_.calls.size();
  first_value_ = t_.next_value;
}

recording::~recording() {
  if (forward_) end_forward();
  if (t_.depth == 0 && !aside_) t_.reset();
}

void recording::end_forward() {
  --t_.depth;
  t_.paused = paused_;
  forward_ = false;
}

void leave(const tape& t, tensor& x) {
  tape_position& at = tensor_access::position(x);
  if (t.depth > 0 || (at.tape != 0 && at.tape != t.id)) return;
  at = t.foreign && differentiable.has(x.type()) ? tape_position{t.foreign, lost} : tape_position{};
}

tensor leaf(tape& t, const tensor& x) {
  tensor y = x;
  refuse_lost("gradient", x);
  if (const std::uint64_t id = tensor_access::position(x).tape; id != 0 && id != t.id) t.foreign = id;
  if (t.tracks(x)) {
    const tensor* const in[] = {&x};
    record(known_entry<op_id<"Identity">>(), in, {}, {&y, 1});
  } else {
    tensor_access::position(y) = {t.id, t.next_value++};
  }
  return y;
}

tape_range range_of(recording& scope) {
  return {scope.first_call(), scope.on().calls.size(), scope.first_value(), scope.on().next_value};
}

void add_to(tensor& a, const tensor& g, bool recorded) {
  // Halves have no kernel: they are added in float32.
  const kernel_slot& slot = kernel_of<"Add">(backend::simd, a.type());
  if (!recorded && slot.flat2 && on_simd() && tensor_access::unique(a) && a.type() == g.type() &&
      a.dims() == g.dims()) {
    const buffer *p = tensor_access::buffer(a), *q = tensor_access::buffer(g);
    slot.flat2(host_data(p), host_data(q), host_data(p), static_cast<std::size_t>(a.size()));
    return;
  }
  a = add(a, g);
}

// ------------------------------------------------------------------------------------------ the walk

walk::walk(tape& t, const tape_range& range, bool last)
    : t_(t),
      first_call_(range.first_call),
      end_call_(range.end_call),
      base_(range.first_value),
      recorded_(this_tape().depth > 0),
      last_(last),
      grads_(range.end_value - range.first_value),
      relevant_(range.end_value - range.first_value) {}

void walk::mark() {
  for (std::uint32_t i = first_call_; i < end_call_; ++i) {
    const recorded_call& n = t_.calls[i];
    if (!n.whole()) continue;
    bool follows = false;
    for (std::uint32_t s = 0; s < n.operands && !follows; ++s) {
      const std::uint32_t value = t_.operands[n.first_operand + s].value;
      follows = knows(value) && relevant_[value - base_];
    }
    if (!follows) continue;
    for (std::uint32_t k = 0; k < n.results; ++k) {
      std::uint8_t& mark = relevant_[n.first_value + k - base_];
      if (mark != end) mark = on;
    }
  }
}

bool walk::reaches(const tensor& x) const {
  const tape_position at = tensor_access::position(x);
  return at.tape == t_.id && reaches(at.value);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> walk::first_uses() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uses;
  std::vector<bool> seen(relevant_.size());
  for (std::uint32_t i = first_call_; i < end_call_; ++i) {
    const recorded_call& n = t_.calls[i];
    if (!n.whole()) continue;
    for (std::uint32_t s = 0; s < n.operands; ++s) {
      const std::uint32_t value = t_.operands[n.first_operand + s].value;
      if (!knows(value) || relevant_[value - base_] != end || seen[value - base_]) continue;
      seen[value - base_] = true;
      uses.emplace_back(i, value);
    }
  }
  return uses;
}

void walk::run() {
  struct under_way {
    tape& t = this_tape();
    under_way() { ++t.walks; }
    ~under_way() { --t.walks; }
  } counted;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uses;
  if (complete_) uses = first_uses();
  for (std::uint32_t i = end_call_; i-- > first_call_;) {
    for (; !uses.empty() && uses.back().first > i; uses.pop_back()) complete_(uses.back().second);
    poll_stop("gradient");
    recorded_call& n = t_.calls[i];
    if (!n.whole() || (!all_ && relevant_[n.first_value - base_] != on)) continue;
    std::span<tensor> dys(&grads_[n.first_value - base_], n.results);
    if (std::any_of(dys.begin(), dys.end(), [](const tensor& dy) { return dy.defined(); })) step(n, dys);
    for (tensor& dy : dys) dy = tensor();
    if (last_) forget(n);
  }
  for (; !uses.empty(); uses.pop_back()) complete_(uses.back().second);
}

namespace {

// Ops that take complex128 and only move elements, which is linear: rules do the same to both parts of a number.
bool moves_elements(const op_row& row) {
  constexpr family moving[] = {family::move, family::image, family::sparse, family::count};
  return row.convention == convention::select || std::ranges::find(moving, row.group) != std::end(moving);
}

// A rule on the real and on the imaginary parts, as if the complex128 operands were float64: sums at indices have no
// kernels of complex128.
tensor run_by_parts(rule_fn run, const rule_frame& at) {
  const auto on_part = [&](auto part) {
    std::vector<tensor> dys = frame_all_dy(at);
    for (tensor& dy : dys)
      if (dy.type() == dtype::complex128) dy = part(dy);
    rule_frame one{at.on, at.at, dys};
    one.operand = at.operand;
    one.of_parts = true;
    return run(one);
  };
  return complex(on_part([](const tensor& z) { return real(z); }), on_part([](const tensor& z) { return imag(z); }));
}

}  // namespace

void walk::step(const recorded_call& n, std::span<tensor> dys) {
  if (!n.op) return step_free(n, dys);
  const op_row& row = *n.op->row;
  if (!n.rule) fail(row.name, "a gradient through it", "an op with a gradient rule", std::string(row.no_gradient));
  // Gradients are linear in dy: where no dy has elements they are zeros. Those of an operand without elements are
  // nothing. Rules need not be asked, which may walk the other axes of such shapes: these may be of any size.
  const bool nothing =
      std::all_of(dys.begin(), dys.end(), [](const tensor& dy) { return !dy.defined() || !dy.size(); });
  rule_frame at{t_, n, dys};
  for (std::uint32_t s = 0; s < n.operands; ++s) {
    const recorded_operand& target = t_.operands[n.first_operand + s];
    if (!wanted(target)) continue;
    const std::uint32_t part = n.rule->place_of(s);
    const rule_fn run = n.rule->of[part].run;
    if (!run) continue;
    if (nothing || at.dims(static_cast<int>(s)).size() == 0) [[unlikely]] {
      accumulate(grad(target.value), frame_zeros(at, static_cast<int>(s)), recorded_);
      continue;
    }
    at.operand = static_cast<int>(s - part);
    const bool by_parts = target.type == dtype::complex128 && moves_elements(row);
    accumulate(grad(target.value), by_parts ? run_by_parts(run, at) : run(at), recorded_);
  }
}

void walk::step_free(const recorded_call& n, std::span<tensor> dys) {
  const free_gradient& rule = t_.free[n.free];
  std::vector<bool> wants(n.operands);
  for (std::uint32_t s = 0; s < n.operands; ++s) wants[s] = wanted(t_.operands[n.first_operand + s]);
  const std::vector<tensor> complete = frame_all_dy({t_, n, dys});
  std::vector<tensor> given = rule.run(complete, wants);
  if (given.size() != n.operands)
    fail(rule.name, "a rule that returns " + std::to_string(given.size()) + " gradients",
         std::to_string(n.operands) + ", one per operand", "return an empty tensor where there is none");
  for (std::uint32_t s = 0; s < n.operands; ++s) {
    const recorded_operand& target = t_.operands[n.first_operand + s];
    if (!wants[s] || !given[s].defined()) continue;
    const shape& dims = target.dims == any_dims ? given[s].dims()
                        : target.dims == none   ? dys[0].dims()
                                                : t_.shapes[target.dims];
    if (!(given[s].dims() == dims) || given[s].type() != target.type)
      fail(rule.name,
           "a gradient of operand " + std::to_string(s) + " with " + std::string(name_of(given[s].type())) + " " +
               to_string(given[s].dims()),
           std::string(name_of(target.type)) + " " + to_string(dims) + " as the operand has");
    accumulate(grad(target.value), std::move(given[s]), recorded_);
  }
}

void walk::forget(recorded_call& n) {
  for (std::uint32_t s = 0; s < n.operands; ++s) t_.operands[n.first_operand + s].saved = tensor();
  std::uint32_t at = n.first_kept;
  for (std::uint32_t rest = n.kept_results; rest; rest &= rest - 1) t_.results[at++] = tensor();
  if (n.free != none) t_.free[n.free] = {};
}

tensor seed_for(std::string_view name, const tensor& value, const tensor* dy) {
  if (!value.defined()) fail(name, "a function that returned an undefined tensor", "a tensor");
  if (!differentiable.has(value.type()))
    fail(name, "a result of dtype " + std::string(name_of(value.type())), "one of " + to_string(differentiable),
         "cast it, or differentiate another result");
  refuse_lost(name, value);
  if (dy) refuse_lost(name, *dy);
  if (!dy && value.type() == dtype::float32 && value.size() <= 64) {  // the usual loss: less than a call of an op
    return tensor::build<float>(value.dims(), [](std::span<float> all) { std::fill(all.begin(), all.end(), 1.0f); });
  }
  if (!dy) return ones(value.dims(), value.type());
  if (!(dy->dims() == value.dims()) || dy->type() != value.type())
    fail(name, "dy " + std::string(name_of(dy->type())) + " " + to_string(dy->dims()),
         std::string(name_of(value.type())) + " " + to_string(value.dims()) + " like the result");
  return *dy;
}

// ------------------------------------------------------------------------------------------ variables

tensor variable_readings::value_of(const variable& v, const tensor& now) {
  if (does == kind::gradients) {
    if (v.trainable() && recording_now()) return leaf_of(v, now);
    return outer ? outer->value_of(v, now) : now;
  }
  const auto at = std::find_if(read.begin(), read.end(), [&](const auto& r) { return r.first == v; });
  if (at != read.end()) return at->second;
  if (does == kind::replaying)
    fail("kg::checkpoint", "a variable that the function did not read when it ran first: " + v.name(),
         "a function that does the same whenever it runs");
  read.emplace_back(v, now);
  return now;
}

// The leaf of a variable's present value. The outer readings get one first, and this one's continues it: what the
// inner gradient does with the variable is then seen by the outer one.
tensor variable_readings::leaf_of(const variable& v, const tensor& now) {
  for (const auto& [of, at] : read)
    if (of == v && at.address() == now.address()) return at;
  const tensor at = leaf(this_tape(), outer ? outer->value_of(v, now) : now);
  read.emplace_back(v, at);
  return at;
}

}  // namespace kerngrad::detail
