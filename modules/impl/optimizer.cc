// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <vector>
#include "kernels/abi.h"
#include "kernels/update.h"
module kerngrad;

import :tape;

namespace kerngrad {

namespace {

// The elements of a tensor that is a step's own, for writing.
template <class T>
T* elements(const tensor& x) {
  return reinterpret_cast<T*>(detail::host_data(tensor_access::buffer(x)));
}

// Empty where nobody else holds the elements, so that they can be changed in place; else a tensor with the same ones.
tensor copy_of_shared(const tensor& x) {
  if (!x.defined() || tensor_access::unique(x)) return {};
  if (x.type() == dtype::float32) return tensor(x.data<float>(), x.dims());
  return tensor(x.data<double>(), x.dims());
}

void replace(tensor& x, tensor by) {
  if (by.defined()) x = std::move(by);
}

// The value of a variable, taken out, so that it shows whether somebody else holds it; put back whatever happens.
struct borrowed_value {
  const variable& of;
  tensor value = variable_access::take(of);
  ~borrowed_value() { variable_access::put(of, std::move(value)); }
};

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
    if (!floating.has(now.type()) || g.grad.type() != now.type() || !(g.grad.dims() == now.dims()))
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
  const std::size_t n = static_cast<std::size_t>(value.size());
  if (value.type() == dtype::float32) kernels::sgd_float32(elements<float>(value), grad.data<float>().data(), n, rate_);
  else kernels::sgd_float64(elements<double>(value), grad.data<double>().data(), n, rate_);
}

void momentum::update(tensor& value, slots& state, const tensor& grad) const {
  const std::size_t n = static_cast<std::size_t>(value.size());
  if (value.type() == dtype::float32)
    kernels::momentum_float32(elements<float>(value), elements<float>(state.first), grad.data<float>().data(), n, rate_,
                              friction_, nesterov_);
  else
    kernels::momentum_float64(elements<double>(value), elements<double>(state.first), grad.data<double>().data(), n,
                              rate_, friction_, nesterov_);
}

void adam::update(tensor& value, slots& state, const tensor& grad) const {
  const std::size_t n = static_cast<std::size_t>(value.size());
  const kernels::adam_step step{
      rate_, beta1_, beta2_, epsilon_, 1 / (1 - std::pow(beta1_, steps_)), 1 / (1 - std::pow(beta2_, steps_))};
  if (value.type() == dtype::float32)
    kernels::adam_float32(elements<float>(value), elements<float>(state.first), elements<float>(state.second),
                          grad.data<float>().data(), n, step);
  else
    kernels::adam_float64(elements<double>(value), elements<double>(state.first), elements<double>(state.second),
                          grad.data<double>().data(), n, step);
}

}  // namespace kerngrad
