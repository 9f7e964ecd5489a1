// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <span>
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

}  // namespace

optimizer::slots& optimizer::state_of(const variable& v) {
  for (slots& state : states_)
    if (state.of == v) return state;
  const tensor now = v.value();
  const auto zero = [&](int slot) { return slot < slot_count_ ? zeros_like(now) : tensor(); };
  return states_.emplace_back(slots{v, zero(0), zero(1)});
}

void optimizer::apply(std::span<const variable_gradient> grads) {
  const detail::unrecorded pause;
  for (const variable_gradient& g : grads) {
    const tensor now = g.of.value();
    if (!wide_floats.has(now.type()) || g.grad.type() != now.type() || !(g.grad.dims() == now.dims()))
      fail("apply",
           "a gradient " + std::string(name_of(g.grad.type())) + " " + to_string(g.grad.dims()) + " for variable " +
               g.of.name(),
           "float32 or float64, like the variable's " + std::string(name_of(now.type())) + " " + to_string(now.dims()));
  }
  // All that may fail comes first, so that a step changes all variables or none.
  struct own_elements {
    std::size_t state;
    tensor value{}, first{}, second{};
  };
  std::vector<own_elements> own;
  const std::size_t known = states_.size();
  try {
    for (const variable_gradient& g : grads) {
      g.grad.address();  // elements in a backend's storage are fetched
      const slots& state = state_of(g.of);
      const borrowed_value now{g.of};
      own_elements& copies = own.emplace_back(own_elements{static_cast<std::size_t>(&state - states_.data())});
      const auto twice = std::find_if(own.begin(), own.end(), [&](const auto& c) { return c.state == copies.state; });
      if (&*twice != &copies) continue;
      copies.value = copy_of_shared(now.value);
      copies.first = copy_of_shared(state.first);
      copies.second = copy_of_shared(state.second);
    }
    begin_step();
  } catch (...) {
    while (states_.size() > known) states_.pop_back();
    throw;
  }
  for (std::size_t i = 0; i < grads.size(); ++i) {
    slots& state = states_[own[i].state];
    borrowed_value now{grads[i].of};
    replace(now.value, std::move(own[i].value));
    replace(state.first, std::move(own[i].first));
    replace(state.second, std::move(own[i].second));
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
    if constexpr (std::is_same_v<T, float>) kernels::sgd_float32(p.of(value), p.gradient, p.count, rate_);
    else kernels::sgd_float64(p.of(value), p.gradient, p.count, rate_);
  });
}

void momentum::update(tensor& value, slots& state, const tensor& grad) const {
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    T *x = p.of(value), *m = p.of(state.first);
    if constexpr (std::is_same_v<T, float>)
      kernels::momentum_float32(x, m, p.gradient, p.count, rate_, friction_, nesterov_);
    else kernels::momentum_float64(x, m, p.gradient, p.count, rate_, friction_, nesterov_);
  });
}

void adam::update(tensor& value, slots& state, const tensor& grad) const {
  const kernels::adam_step step{.rate = rate_,
                                .beta1 = beta1_,
                                .beta2 = beta2_,
                                .epsilon = epsilon_,
                                .correction1 = 1 / (1 - std::pow(beta1_, steps_)),
                                .correction2 = 1 / (1 - std::pow(beta2_, steps_))};
  over_elements(value, grad, [&]<class T>(part_of<T> p) {
    T *x = p.of(value), *m = p.of(state.first), *v = p.of(state.second);
    if constexpr (std::is_same_v<T, float>) kernels::adam_float32(x, m, v, p.gradient, p.count, step);
    else kernels::adam_float64(x, m, v, p.gradient, p.count, step);
  });
}

}  // namespace kerngrad
