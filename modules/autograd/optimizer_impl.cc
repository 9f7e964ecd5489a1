// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/optimizer/update.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad {

namespace {

// The elements of a tensor that is a step's own, for writing.
template <class T>
T* elements(const tensor& x) {
  return reinterpret_cast<T*>(detail::host_data(tensor_access::buffer(x)));
}

// Empty where the elements have no other owner, so that they can be changed in place; else a tensor with the same ones.
tensor copy_of_shared(const tensor& x) {
  if (!x.defined() || tensor_access::unique(x)) return {};
  if (x.type() == dtype::float32) return tensor(x.data<float>(), x.dims());
  return tensor(x.data<double>(), x.dims());
}

void replace(tensor& x, tensor by) {
  if (by.defined()) x = std::move(by);
}

// The value of a variable, taken out, so that it shows whether it has another owner; put back whatever happens.
struct borrowed_value {
  const variable& of;
  tensor value = variable_access::take(of);
  ~borrowed_value() { variable_access::put(of, std::move(value)); }
};

// Elements [begin, begin + count) of a variable, its state and its gradient.
template <class T>
struct part_of {
  const T* gradient;
  std::int64_t begin;
  std::size_t count;
  T* of(const tensor& x) const { return elements<T>(x) + begin; }
};

// Calls step(part_of) for all elements of a variable, by several threads where they are many.
template <class Step>
void over_elements(const tensor& value, const tensor& grad, const Step& step) {
  constexpr double operations = 14;  // Adam's for an element; the others wait for memory
  const std::int64_t count = value.size();
  const auto run = [&]<class T>(std::span<const T> g) {
    // Not by a pool that may throw midway: a step happens to all elements or to none.
    const bool shared = detail::worth_splitting(count, operations) && !detail::uses_callers_pool();
    const std::int64_t chunk = shared ? detail::chunk_elements(operations) : std::max<std::int64_t>(count, 1);
    detail::in_chunks(count, chunk, 0, [&](std::int64_t begin, std::int64_t size) {
      step(part_of<T>{g.data() + begin, begin, static_cast<std::size_t>(size)});
    });
  };
  if (value.type() == dtype::float32) run(grad.data<float>());
  else run(grad.data<double>());
}

// Rejects a gradient that does not fit its variable.
void check_step(const variable_gradient& g) {
  const tensor now = g.of.value();
  if (!wide_floats.has(now.type()) || g.grad.type() != now.type() || !(g.grad.dims() == now.dims()))
    fail("apply",
         "a gradient " + std::string(name_of(g.grad.type())) + " " + to_string(g.grad.dims()) + " for variable " +
             g.of.name(),
         "float32 or float64, like the variable's " + std::string(name_of(now.type())) + " " + to_string(now.dims()));
}

// v -= share * v: a pass of its own, which waits for memory whatever it is compiled to.
void shrink_weights(const tensor& value, double share) {
  over_elements(value, value, [&]<class T>(part_of<T> p) {
    T* const v = p.of(value);
    for (std::size_t i = 0; i < p.count; ++i) v[i] -= static_cast<T>(share) * v[i];
  });
}

// The kernel for elements of type T.
template <class T, class F32, class F64>
constexpr auto kernel_for(F32* float32, F64* float64) {
  if constexpr (std::is_same_v<T, float>) return float32;
  else return float64;
}

// Parameters of a step of Adam, with the number of the step, from 1.
kernels::adam_step adam_step_of(double rate, double beta1, double beta2, double epsilon, std::int64_t steps) {
  const double number = static_cast<double>(steps);
  return {.rate = rate,
          .beta1 = beta1,
          .beta2 = beta2,
          .epsilon = epsilon,
          .correction1 = 1 / (1 - std::pow(beta1, number)),
          .correction2 = 1 / (1 - std::pow(beta2, number))};
}

}  // namespace

optimizer::slots& optimizer::state_of(const variable& v) {
  for (slots& state : states_)
    if (state.of == v) return state;
  const tensor now = v.value();
  const auto made = [&](int slot, double value) {
    return slot < slot_count_ ? full(now.dims(), value, now.type()) : tensor();
  };
  return states_.emplace_back(slots{v, made(0, first_value_), made(1, 0), made(2, 0)});
}

const group_options* optimizer::group_of(const variable& v) const {
  for (const group& g : groups_)
    if (std::find(g.variables.begin(), g.variables.end(), v) != g.variables.end()) return &g.options;
  return nullptr;
}

optimizer::step_rates optimizer::rates_of(const variable& v) const {
  const group_options* own = group_of(v);
  const step_rates rates{.rate = own && own->learning_rate ? (*own->learning_rate)(steps_) : learning_rate(),
                         .decay = own && own->weight_decay ? *own->weight_decay : weight_decay_};
  if (!std::isfinite(rates.rate))
    fail("apply", "learning rate " + to_string(attr_value(rates.rate)) + " after " + std::to_string(steps_) + " steps",
         "a finite number");
  return rates;
}

void optimizer::apply(std::span<const variable_gradient> grads) {
  const detail::unrecorded pause;
  for (const variable_gradient& g : grads) check_step(g);
  // All that may fail comes first, so that a step changes all variables or none.
  struct own_elements {
    std::size_t state;
    step_rates rates;
    tensor value{}, first{}, second{}, third{};
  };
  std::vector<own_elements> own;
  const std::size_t known = states_.size();
  try {
    for (const variable_gradient& g : grads) {
      g.grad.address();  // elements in a backend's storage are fetched
      const slots& state = state_of(g.of);
      own_elements& copies =
          own.emplace_back(own_elements{static_cast<std::size_t>(&state - states_.data()), rates_of(g.of)});
      const borrowed_value now{g.of};
      const auto twice = std::find_if(own.begin(), own.end(), [&](const auto& c) { return c.state == copies.state; });
      if (&*twice != &copies) continue;
      copies.value = copy_of_shared(now.value);
      copies.first = copy_of_shared(state.first);
      copies.second = copy_of_shared(state.second);
      copies.third = copy_of_shared(state.third);
    }
    begin_step();
  } catch (...) {
    while (states_.size() > known) states_.pop_back();
    throw;
  }
  ++steps_;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    slots& state = states_[own[i].state];
    borrowed_value now{grads[i].of};
    replace(now.value, std::move(own[i].value));
    replace(state.first, std::move(own[i].first));
    replace(state.second, std::move(own[i].second));
    replace(state.third, std::move(own[i].third));
    now_ = own[i].rates;
    if (decay() != 0 && !decays_in_update()) shrink_weights(now.value, rate() * decay());
    update(now.value, state, grads[i].grad);
  }
}

tensor optimizer::minimize(const std::function<tensor()>& f, std::span<const variable> only) {
  variable_gradients result = variable_grads(f, only);
  apply(result.grads);
  return std::move(result.value);
}

void sgd::update(tensor& value, slots&, const tensor& grad) const {
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    kernel_for<T>(kernels::sgd_float32, kernels::sgd_float64)(p.of(value), p.gradient, p.count, rate());
  });
}

void momentum::update(tensor& value, slots& state, const tensor& grad) const {
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    const auto run = kernel_for<T>(kernels::momentum_float32, kernels::momentum_float64);
    run(p.of(value), p.of(state.first), p.gradient, p.count, rate(), friction_, nesterov_);
  });
}

void adam::update(tensor& value, slots& state, const tensor& grad) const {
  const kernels::adam_step step = adam_step_of(rate(), beta1_, beta2_, epsilon_, steps());
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    const auto run = kernel_for<T>(kernels::adam_float32, kernels::adam_float64);
    run(p.of(value), p.of(state.first), p.of(state.second), p.gradient, p.count, step);
  });
}

void adam_w::update(tensor& value, slots& state, const tensor& grad) const {
  const kernels::adam_step step = adam_step_of(rate(), beta1_, beta2_, epsilon_, steps());
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    const auto run = kernel_for<T>(kernels::adam_w_float32, kernels::adam_w_float64);
    run(p.of(value), p.of(state.first), p.of(state.second), p.gradient, p.count, step, decay());
  });
}

void adagrad::update(tensor& value, slots& state, const tensor& grad) const {
  const kernels::adagrad_step step{rate(), epsilon_};
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    const auto run = kernel_for<T>(kernels::adagrad_float32, kernels::adagrad_float64);
    run(p.of(value), p.of(state.first), p.gradient, p.count, step);
  });
}

void adadelta::update(tensor& value, slots& state, const tensor& grad) const {
  const kernels::adadelta_step step{rate(), rho_, epsilon_};
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    const auto run = kernel_for<T>(kernels::adadelta_float32, kernels::adadelta_float64);
    run(p.of(value), p.of(state.first), p.of(state.second), p.gradient, p.count, step);
  });
}

void adamax::update(tensor& value, slots& state, const tensor& grad) const {
  const double number = static_cast<double>(steps());
  const double corrected = rate() / (1 + decay_ * (number - 1)) / (1 - std::pow(beta1_, number));
  const kernels::adamax_step step{corrected, beta1_, beta2_, epsilon_};
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    const auto run = kernel_for<T>(kernels::adamax_float32, kernels::adamax_float64);
    run(p.of(value), p.of(state.first), p.of(state.second), p.gradient, p.count, step);
  });
}

void rms_prop::update(tensor& value, slots& state, const tensor& grad) const {
  const kernels::rms_prop_step step{rate(), decay_, friction_, epsilon_};
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    T *x = p.of(value), *a = p.of(state.first), *q = p.of(state.second);
    if (centered_) {
      const auto run = kernel_for<T>(kernels::centered_rms_prop_float32, kernels::centered_rms_prop_float64);
      run(x, a, q, p.of(state.third), p.gradient, p.count, step);
    } else {
      const auto run = kernel_for<T>(kernels::rms_prop_float32, kernels::rms_prop_float64);
      run(x, a, q, p.gradient, p.count, step);
    }
  });
}

}  // namespace kerngrad
