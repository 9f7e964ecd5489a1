// SPDX-License-Identifier: Apache-2.0
// The walk back over the tape, and what stands on it: gradients of functions, variables, rules of one's own.
module;
#include <algorithm>
#include <memory>
#include <vector>
#include "kernels/abi.h"
module kerngrad;

import :dispatch;
import :tape;

namespace kerngrad {
namespace detail {
namespace {

// One gradient being taken: opens the tape, remembers where it starts, and closes it whatever happens.
class recording {
 public:
  recording() : t_(this_tape()), paused_(std::exchange(t_.paused, 0)) {
    t_.open();
    first_node_ = t_.nodes.size();
    first_value_ = t_.next_value;
  }
  ~recording() {
    if (forward_) end_forward();
    if (t_.depth == 0) t_.reset();
  }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  /// The forward pass is over: what follows is recorded for outer gradients only.
  void end_forward() {
    --t_.depth;
    t_.paused = paused_;
    forward_ = false;
  }
  tape& on() { return t_; }
  std::uint32_t first_node() const { return first_node_; }
  std::uint32_t first_value() const { return first_value_; }

 private:
  tape& t_;
  int paused_;
  std::uint32_t first_node_ = 0, first_value_ = 0;
  bool forward_ = true;
};

// A handle of x that gradients can be asked for. If an outer gradient follows x, it goes on through this one.
tensor leaf(tape& t, const tensor& x) {
  tensor y = x;
  if (t.tracks(x)) {
    const tensor* const in[] = {&x};
    record(known_entry(op_id<"Identity">), in, {}, {&y, 1});
  } else {
    tensor_access::place(y) = {t.id, t.next_value++};
  }
  return y;
}

// a += g; into a's own memory when nobody else sees it and nothing is recorded.
void accumulate(tensor& a, tensor g, bool recorded) {
  if (!a.defined()) {
    a = std::move(g);
    return;
  }
  if (!recorded && on_simd() && tensor_access::unique(a) && a.type() == g.type() && a.dims() == g.dims()) {
    const buffer *p = tensor_access::buffer(a), *q = tensor_access::buffer(g);
    const kernel_slot& slot = slot_of(backend::simd, op_id<"Add">, a.type());
    slot.flat2(host_data(p), host_data(q), host_data(p), static_cast<std::size_t>(a.size()));
    return;
  }
  a = add(a, g);
}

// The walk: gradients by value id, filled in from the back.
class walk {
 public:
  walk(recording& scope, std::uint32_t end_node, std::uint32_t end_value)
      : t_(scope.on()),
        first_node_(scope.first_node()),
        end_node_(end_node),
        base_(scope.first_value()),
        grads_(end_value - base_),
        relevant_(end_value - base_) {}

  bool knows(std::uint32_t value) const { return value >= base_ && value - base_ < grads_.size(); }
  // A wanted value is an end of the walk: its gradient stays, even if an outer gradient goes on from there.
  void want(std::uint32_t value) { relevant_[value - base_] = end; }
  tensor& grad(std::uint32_t value) { return grads_[value - base_]; }

  // Values that depend on a wanted one: everything else is left alone.
  void mark() {
    for (std::uint32_t i = first_node_; i < end_node_; ++i) {
      const node& n = t_.nodes[i];
      bool follows = false;
      for (std::uint32_t s = 0; s < n.slots && !follows; ++s) {
        const std::uint32_t value = t_.slots[n.first_slot + s].value;
        follows = knows(value) && relevant_[value - base_];
      }
      if (!follows) continue;
      for (std::uint32_t k = 0; k < n.results; ++k) {
        std::uint8_t& mark = relevant_[n.first_value + k - base_];
        if (mark != end) mark = on;
      }
    }
  }
  bool reaches(std::uint32_t value) const { return knows(value) && relevant_[value - base_]; }

  void run() {
    struct under_way {
      tape& t;
      explicit under_way(tape& on) : t(on) { ++t.walks; }
      ~under_way() { --t.walks; }
    } counted(t_);
    const bool last = t_.depth == 0;  // nobody will walk here again: what a node saved can go
    for (std::uint32_t i = end_node_; i-- > first_node_;) {
      node& n = t_.nodes[i];
      if (relevant_[n.first_value - base_] != on) continue;
      std::span<tensor> dys(&grads_[n.first_value - base_], n.results);
      if (std::any_of(dys.begin(), dys.end(), [](const tensor& dy) { return dy.defined(); })) step(n, dys);
      for (tensor& dy : dys) dy = tensor();
      if (last) forget(n);
    }
  }

 private:
  static constexpr std::uint8_t on = 1, end = 2;

  bool wanted(const slot& s) const { return s.value != 0 && reaches(s.value); }

  void step(const node& n, std::span<tensor> dys) {
    if (!n.op) return step_free(n, dys);
    const op_row& row = *n.op->row;
    if (!n.rule) fail(row.name, "a gradient through it", "an op with a gradient rule", std::string(row.no_gradient));
    frame at{t_, n, dys};
    for (std::uint32_t s = 0; s < n.slots; ++s) {
      const slot& target = t_.slots[n.first_slot + s];
      if (!wanted(target)) continue;
      const rule_fn run = n.rule->of[n.rule->list ? 0 : s].run;
      if (!run) continue;
      at.operand = static_cast<int>(s);
      accumulate(grad(target.value), run(at), t_.depth > 0);
    }
  }

  void step_free(const node& n, std::span<tensor> dys) {
    const free_gradient& rule = t_.free[n.free];
    std::vector<bool> wants(n.slots);
    for (std::uint32_t s = 0; s < n.slots; ++s) wants[s] = wanted(t_.slots[n.first_slot + s]);
    std::vector<tensor> complete(dys.begin(), dys.end());
    if (n.results > 1) complete = completed({t_, n, dys});
    std::vector<tensor> given = rule.run(complete, wants);
    if (given.size() != n.slots)
      fail(rule.name, "a rule that returns " + std::to_string(given.size()) + " gradients",
           std::to_string(n.slots) + ", one per operand", "return an empty tensor where there is none");
    for (std::uint32_t s = 0; s < n.slots; ++s) {
      const slot& target = t_.slots[n.first_slot + s];
      if (!wants[s] || !given[s].defined()) continue;
      const shape& dims = target.dims == none ? dys[0].dims() : t_.shapes[target.dims];
      if (!(given[s].dims() == dims) || given[s].type() != target.type)
        fail(rule.name,
             "a gradient of operand " + std::to_string(s) + " with " + std::string(name_of(given[s].type())) + " " +
                 to_string(given[s].dims()),
             std::string(name_of(target.type)) + " " + to_string(dims) + " as the operand has");
      accumulate(grad(target.value), std::move(given[s]), t_.depth > 0);
    }
  }

  void forget(node& n) {
    for (std::uint32_t s = 0; s < n.slots; ++s) t_.slots[n.first_slot + s].saved = tensor();
    if (n.kept_result != none) t_.results[n.kept_result] = tensor();
    if (n.free != none) t_.free[n.free] = {};
  }

  tape& t_;
  std::uint32_t first_node_, end_node_, base_;
  std::vector<tensor> grads_;
  std::vector<std::uint8_t> relevant_;
};

// What the walk starts from: dy as given, or ones.
tensor seed_for(std::string_view name, const tensor& value, const tensor* dy) {
  if (!value.defined()) fail(name, "a function that returned an empty handle", "a tensor");
  if (!differentiable.has(value.type()))
    fail(name, "a result of dtype " + std::string(name_of(value.type())), "one of " + to_string(differentiable),
         "cast it, or differentiate another result");
  if (!dy) return ones(value.dims(), value.type());
  if (!(dy->dims() == value.dims()) || dy->type() != value.type())
    fail(name, "dy " + std::string(name_of(dy->type())) + " " + to_string(dy->dims()),
         std::string(name_of(value.type())) + " " + to_string(value.dims()) + " like the result");
  return *dy;
}

}  // namespace

walked gradients(std::string_view name, borrowed f, std::span<const tensor> xs, const tensor* dy) {
  for (const tensor& x : xs)
    if (!x.defined()) fail(name, "an empty handle", "tensors");
  recording scope;
  tape& t = scope.on();
  std::vector<tensor> leaves;
  std::vector<std::uint32_t> values;
  for (const tensor& x : xs) {
    leaves.push_back(leaf(t, x));
    values.push_back(tensor_access::place(leaves.back()).value);
  }
  tensor y = f.run(f.function, leaves);
  leaves.clear();
  scope.end_forward();
  const tensor seed = seed_for(name, y, dy);
  const std::uint32_t end_node = t.nodes.size(), end_value = t.next_value;
  walk back(scope, end_node, end_value);
  for (std::uint32_t value : values)
    if (back.knows(value)) back.want(value);
  back.mark();
  const place at = tensor_access::place(y);
  walked out;
  if (at.tape == t.id && back.reaches(at.value)) {
    back.grad(at.value) = seed;
    back.run();
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    tensor g = back.knows(values[i]) ? std::move(back.grad(values[i])) : tensor();
    out.grads.push_back(g.defined() ? std::move(g) : zeros(xs[i].dims(), xs[i].type()));
  }
  out.value = std::move(y);
  return out;
}

// ------------------------------------------------------------------------------------------ variables

struct variable_state {
  std::string name;
  bool trainable;
  tensor value;
};

namespace {

// A variable_grads at work on this thread: which variables its function has read so far, and the leaves that stand
// for their values. It belongs to the thread, so variables may be shared by several.
struct watch {
  watch* outer = nullptr;
  std::vector<std::pair<variable, tensor>> read;

  // The leaf of a variable's present value. An outer watch gets one first, and this one's continues it: what the
  // inner gradient does with the variable is then seen by the outer one.
  tensor leaf_of(const variable& v, const tensor& now) {
    for (const auto& [of, at] : read)
      if (of == v && at.shares_with(now)) return at;
    const tensor at = leaf(this_tape(), outer ? outer->leaf_of(v, now) : stop_gradient(now));
    read.emplace_back(v, at);
    return at;
  }
};
constinit thread_local watch* innermost = nullptr;

// Makes a watch the innermost one in a scope.
class watching {
 public:
  explicit watching(watch& w) : outer_(std::exchange(innermost, &w)) { w.outer = outer_; }
  ~watching() { innermost = outer_; }
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;

 private:
  watch* outer_;
};

}  // namespace
}  // namespace detail

variable::variable(tensor initial, std::string name, bool trainable) {
  if (!initial.defined()) fail("variable", "an empty handle", "an initial value");
  state_ = std::make_shared<detail::variable_state>(
      detail::variable_state{std::move(name), trainable, stop_gradient(initial)});
}

const std::string& variable::name() const { return state_->name; }
bool variable::trainable() const { return state_->trainable; }

tensor variable::value() const {
  if (!detail::innermost || !state_->trainable || !detail::recording_now()) return state_->value;
  return detail::innermost->leaf_of(*this, state_->value);
}

void variable::assign(const tensor& value) const {
  const tensor& old = state_->value;
  if (!value.defined()) fail("assign", "an empty handle", "a tensor");
  if (!(value.dims() == old.dims()) || value.type() != old.type())
    fail("assign", std::string(name_of(value.type())) + " " + to_string(value.dims()),
         std::string(name_of(old.type())) + " " + to_string(old.dims()) + " as variable " + state_->name + " has");
  state_->value = stop_gradient(value);
}

tensor variable_access::take(const variable& v) { return std::move(v.state_->value); }
void variable_access::put(const variable& v, tensor value) { v.state_->value = std::move(value); }

tensor stop_gradient(const tensor& x) {
  tensor y = x;
  tensor_access::place(y) = {};
  return y;
}

value_and_gradient_list value_and_grads_of(const std::function<tensor(std::span<const tensor>)>& f,
                                           std::span<const tensor> xs, const tensor& dy) {
  const detail::borrowed call{
      const_cast<void*>(static_cast<const void*>(&f)), [](void* function, std::span<const tensor> values) {
        return (*static_cast<const std::function<tensor(std::span<const tensor>)>*>(function))(values);
      }};
  return detail::gradients("value_and_grads_of", call, xs, dy.defined() ? &dy : nullptr);
}

variable_gradients variable_grads(const std::function<tensor()>& f, std::span<const variable> only) {
  using namespace detail;
  recording scope;
  tape& t = scope.on();
  watch seen;
  const tensor y = [&] {
    const watching now(seen);
    return f();
  }();
  scope.end_forward();
  const tensor seed = seed_for("variable_grads", y, nullptr);
  if (y.size() != 1)
    fail("variable_grads", "a result of shape " + to_string(y.dims()), "a scalar", "take its sum or mean");
  if (!only.empty())
    std::erase_if(seen.read, [&](const auto& r) { return std::find(only.begin(), only.end(), r.first) == only.end(); });
  walk back(scope, t.nodes.size(), t.next_value);
  for (const auto& [of, at] : seen.read) back.want(tensor_access::place(at).value);
  back.mark();
  const place at = tensor_access::place(y);
  if (at.tape != t.id || !back.reaches(at.value))
    fail("variable_grads", "a value that depends on no trainable variable",
         "a function that reads variables on the way to its result");
  back.grad(at.value) = seed;
  back.run();
  variable_gradients out{y, {}};
  for (const auto& [of, leaf] : seen.read) {
    tensor g = std::move(back.grad(tensor_access::place(leaf).value));
    if (g.defined()) out.grads.push_back({of, std::move(g)});
  }
  return out;
}

// ------------------------------------------------------------------------------------------ rules of one's own

custom_result with_gradient(tensor value, std::function<std::vector<tensor>(const tensor& dy)> gradient) {
  return {{std::move(value)}, [gradient = std::move(gradient)](std::span<const tensor> dy) { return gradient(dy[0]); }};
}

tensor_list custom_grad(const std::function<custom_result(std::span<const tensor>)>& f, std::span<const tensor> xs,
                        std::string_view name) {
  using namespace detail;
  custom_result result;
  // Inside, the ops are recorded only if a higher order can ask for them: through values that the rule captured.
  if (this_tape().depth > 1) {
    result = f(xs);
  } else {
    const unrecorded pause;
    result = f(xs);
  }
  if (result.values.empty() || !result.gradient) fail(name, "a function without values or without a rule", "both");
  std::vector<const tensor*> in;
  for (const tensor& x : xs) in.push_back(&x);
  std::vector<tensor> out;
  for (int k = 0; k < result.values.size(); ++k) {
    if (!result.values[k].defined()) fail(name, "an empty handle as value " + std::to_string(k), "a tensor");
    out.push_back(result.values[k]);
  }
  record_free(name, in, out, [rule = std::move(result.gradient)](std::span<const tensor> dy, const std::vector<bool>&) {
    return rule(dy);
  });
  tensor_list values;
  for (tensor& y : out) values.push_back(std::move(y));
  return values;
}

}  // namespace kerngrad
