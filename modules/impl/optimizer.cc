// SPDX-License-Identifier: Apache-2.0
module;
#include <cmath>
#include "kernels/abi.h"
#include "kernels/update.h"
module kerngrad;

import :tape;

namespace kerngrad {

namespace {

// The elements of a tensor for writing: its own when nobody else holds them, else those of a copy that replaces it.
template <class T>
T* writable(tensor& x) {
  if (!tensor_access::unique(x)) x = tensor(x.data<T>(), x.dims());
  return reinterpret_cast<T*>(detail::host_data(tensor_access::buffer(x)));
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
    if (!floating.has(now.type()) || g.grad.type() != now.type() || !(g.grad.dims() == now.dims()))
      fail("apply",
           "a gradient " + std::string(name_of(g.grad.type())) + " " + to_string(g.grad.dims()) + " for variable " +
               g.of.name(),
           "float32 or float64, like the variable's " + std::string(name_of(now.type())) + " " + to_string(now.dims()));
  }
  begin_step();
  for (const variable_gradient& g : grads) {
    slots& state = state_of(g.of);
    // Taken out, so that a value which nobody else holds can be changed in place; put back whatever happens.
    struct borrowed_value {
      const variable& of;
      tensor value = variable_access::take(of);
      ~borrowed_value() { variable_access::put(of, std::move(value)); }
    } borrowed{g.of};
    update(borrowed.value, state, g.grad);
  }
}

tensor optimizer::minimize(const std::function<tensor()>& f, std::span<const variable> only) {
  variable_gradients result = variable_grads(f, only);
  apply(result.grads);
  return std::move(result.value);
}

void sgd::update(tensor& value, slots&, const tensor& grad) const {
  const std::size_t n = static_cast<std::size_t>(value.size());
  if (value.type() == dtype::float32) kernels::sgd_float32(writable<float>(value), grad.data<float>().data(), n, rate_);
  else kernels::sgd_float64(writable<double>(value), grad.data<double>().data(), n, rate_);
}

void momentum::update(tensor& value, slots& state, const tensor& grad) const {
  const std::size_t n = static_cast<std::size_t>(value.size());
  if (value.type() == dtype::float32)
    kernels::momentum_float32(writable<float>(value), writable<float>(state.first), grad.data<float>().data(), n, rate_,
                              friction_, nesterov_);
  else
    kernels::momentum_float64(writable<double>(value), writable<double>(state.first), grad.data<double>().data(), n,
                              rate_, friction_, nesterov_);
}

void adam::update(tensor& value, slots& state, const tensor& grad) const {
  const std::size_t n = static_cast<std::size_t>(value.size());
  const kernels::adam_step step{
      rate_, beta1_, beta2_, epsilon_, 1 / (1 - std::pow(beta1_, steps_)), 1 / (1 - std::pow(beta2_, steps_))};
  if (value.type() == dtype::float32)
    kernels::adam_float32(writable<float>(value), writable<float>(state.first), writable<float>(state.second),
                          grad.data<float>().data(), n, step);
  else
    kernels::adam_float64(writable<double>(value), writable<double>(state.first), writable<double>(state.second),
                          grad.data<double>().data(), n, step);
}

}  // namespace kerngrad
