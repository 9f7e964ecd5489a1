// SPDX-License-Identifier: Apache-2.0
// Parts that use the backward pass: gradients of functions, variables, custom rules.
module;
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/autograd/ready.h"
module kerngrad;

import :tape;
import :walk;

namespace kerngrad {
namespace detail {

tensor gradients(std::string_view name, borrowed f, std::span<const tensor> xs, const tensor* dy,
                 std::span<tensor> grads) {
  for (const tensor& x : xs)
    if (!x.defined()) fail(name, "an undefined tensor", "tensors", "check it with defined()");
  recording scope;
  tape& t = scope.on();
  work_array<std::uint32_t, 8> values(xs.size());
  const auto run = [&] {
    work_array<tensor, 8> leaves(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i) {
      leaves[i] = leaf(t, xs[i]);
      values[i] = tensor_access::position(leaves[i]).value;
    }
    return f.run(f.function, leaves.all());
  };
  tensor y = run();
  scope.end_forward();
  tensor seed = seed_for(name, y, dy);
  walk back(t, range_of(scope), t.depth == 0);
  if (scope.alone()) {
    back.mark_all();
  } else {
    for (std::uint32_t value : values.all())
      if (back.knows(value)) back.want(value);
    back.mark();
  }
  if (back.reaches(y)) {
    back.grad(tensor_access::position(y).value) = std::move(seed);
    back.run();
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    tensor g = back.knows(values[i]) ? std::move(back.grad(values[i])) : tensor();
    grads[i] = g.defined() ? std::move(g) : zeros(xs[i].dims(), xs[i].type());
    leave(t, grads[i]);
  }
  leave(t, y);
  return y;
}

namespace {

// The present value of a variable. If a checkpointed function runs again, these are the values that its first run saw.
const tensor& present(const variable& v, const tensor& held) {
  for (const variable_readings* w = innermost; w; w = w->outer)
    if (w->does == variable_readings::kind::replaying)
      for (const auto& [of, at] : w->read)
        if (of == v) return at;
  return held;
}

// A function that runs again must not change what it reads.
void refuse_inside_checkpoint(const variable_state& state) {
  for (const variable_readings* w = innermost; w; w = w->outer)
    if (w->does != variable_readings::kind::gradients)
      fail("assign", "a change of variable " + state.name + " inside a checkpointed function",
           "a function that only reads variables", "assign to it after the gradient was taken");
}

}  // namespace
}  // namespace detail

// ------------------------------------------------------------------------------------------ variables

variable::variable(tensor initial, std::string name, bool trainable) {
  static std::atomic<std::uint64_t> made{0};
  if (!initial.defined()) fail("kg::variable", "an undefined tensor", "an initial value", "check it with defined()");
  state_ = std::make_shared<detail::variable_state>(
      detail::variable_state{std::move(name), trainable, stop_gradient(initial), made++});
}

const std::string& variable::name() const { return state_->name; }
bool variable::trainable() const { return state_->trainable; }

tensor variable::value() const {
  if (!detail::innermost) return state_->value;
  return detail::innermost->value_of(*this, stop_gradient(detail::present(*this, state_->value)));
}

void variable::assign(const tensor& value) const {
  detail::refuse_inside_checkpoint(*state_);
  const tensor& old = state_->value;
  if (!value.defined()) fail("assign", "an undefined tensor", "a tensor", "check it with defined()");
  if (!(value.dims() == old.dims()) || value.type() != old.type())
    fail("assign", std::string(name_of(value.type())) + " " + to_string(value.dims()),
         std::string(name_of(old.type())) + " " + to_string(old.dims()) + " as variable " + state_->name + " has");
  state_->value = stop_gradient(value);
}

tensor variable_access::take(const variable& v) {
  detail::refuse_inside_checkpoint(*v.state_);
  return std::move(v.state_->value);
}
void variable_access::put(const variable& v, tensor value) { v.state_->value = std::move(value); }
std::uint64_t variable_access::number(const variable& v) { return v.state_->number; }

tensor stop_gradient(const tensor& x) {
  tensor y = x;
  tensor_access::position(y) = {};
  return y;
}

no_grad::no_grad() { ++detail::this_tape().paused; }
no_grad::~no_grad() { --detail::this_tape().paused; }

void detail::refuse_other_tree(std::string_view name, std::size_t got, std::size_t wanted) {
  fail(name, "a tree of " + std::to_string(got) + " tensors", std::to_string(wanted) + " as the first one has");
}

value_and_gradient_list value_and_grads_of(const std::function<tensor(std::span<const tensor>)>& f,
                                           std::span<const tensor> xs, const tensor& dy) {
  const detail::borrowed call{
      const_cast<void*>(static_cast<const void*>(&f)), [](void* function, std::span<const tensor> values) {
        return (*static_cast<const std::function<tensor(std::span<const tensor>)>*>(function))(values);
      }};
  value_and_gradient_list out;
  out.grads.resize(xs.size());
  out.value = detail::gradients("kg::value_and_grads_of", call, xs, dy.defined() ? &dy : nullptr, out.grads);
  return out;
}

variable_gradients variable_grads(const std::function<tensor()>& f, std::span<const variable> only) {
  using namespace detail;
  const kernels::gradient_listener* const listener = std::exchange(kernels::next_listener, nullptr);
  recording scope;
  tape& t = scope.on();
  variable_readings seen(variable_readings::kind::gradients);
  const tensor y = [&] {
    const readings_scope now(seen);
    return f();
  }();
  scope.end_forward();
  const tensor seed = seed_for("kg::variable_grads", y, nullptr);
  if (y.size() != 1)
    fail("kg::variable_grads", "a result of shape " + to_string(y.dims()), "a scalar", "take its sum or mean");
  if (!only.empty())
    std::erase_if(seen.read, [&](const auto& r) { return std::find(only.begin(), only.end(), r.first) == only.end(); });
  // The order of reading is each compiler's own where an expression reads several.
  std::ranges::sort(seen.read, {}, [](const auto& r) { return variable_access::number(r.first); });
  walk back(t, range_of(scope), t.depth == 0);
  for (const auto& [of, at] : seen.read) back.want(tensor_access::position(at).value);
  back.mark();
  if (!back.reaches(y))
    fail("kg::variable_grads", "a value that depends on no trainable variable",
         "a function that reads variables on the way to its result");
  back.grad(tensor_access::position(y).value) = seed;
  if (listener)
    back.when_complete([&](std::uint32_t value) {
      for (const auto& [of, at] : seen.read)
        if (tensor_access::position(at).value == value && back.grad(value).defined())
          listener->ready(listener->self, &of, &back.grad(value));
    });
  back.run();
  variable_gradients out{y, {}};
  leave(t, out.value);
  for (const auto& [of, leaf] : seen.read) {
    tensor g = std::move(back.grad(tensor_access::position(leaf).value));
    if (!g.defined()) continue;
    leave(t, g);
    out.grads.push_back({of, std::move(g)});
  }
  return out;
}

// ------------------------------------------------------------------------------------------ custom rules

custom_result with_gradient(tensor value, std::function<std::vector<tensor>(const tensor& dy)> gradient) {
  if (!gradient) return {{std::move(value)}, {}};
  return {{std::move(value)}, [gradient = std::move(gradient)](std::span<const tensor> dy) { return gradient(dy[0]); }};
}
custom_result with_gradient(tensor value,
                            std::function<std::vector<tensor>(const tensor& dy, const tensor& value)> gradient) {
  if (!gradient) return {{std::move(value)}, {}};
  return {{std::move(value)},
          [gradient = std::move(gradient)](std::span<const tensor> dy, std::span<const tensor> values) {
            return gradient(dy[0], values[0]);
          }};
}

namespace {

// The rule that the tape keeps for a custom_grad. The values are handles of the recorded step, so that they have its
// gradient.
struct rule_with_values {
  detail::custom_rule rule;
  std::vector<tensor> values;
  std::vector<tensor> operator()(std::span<const tensor> dy, const std::vector<bool>&) const {
    return rule(dy, values);
  }
};

}  // namespace

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
    if (!result.values[k].defined()) fail(name, "an undefined tensor as value " + std::to_string(k), "a tensor");
    out.push_back(result.values[k]);
  }
  tape& t = this_tape();
  const std::uint32_t before = t.calls.size();
  const bool takes_values = result.gradient.takes_values();
  record_free(name, in, out, rule_with_values{std::move(result.gradient), {}});
  if (takes_values && t.calls.size() != before)
    t.free[t.calls[before].free].run.target<rule_with_values>()->values.assign(out.begin(), out.end());
  tensor_list values;
  for (tensor& y : out) values.push_back(std::move(y));
  return values;
}

}  // namespace kerngrad
