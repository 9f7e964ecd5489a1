// SPDX-License-Identifier: Apache-2.0
// The optimizers' steps: parameters and state are changed in place, one pass over memory.
#pragma once
#include <cstddef>

namespace kerngrad::kernels {

/// Numbers of a step of Adam. The corrections are 1 / (1 - beta^t).
struct adam_step {
  double rate, beta1, beta2, epsilon, correction1, correction2;
};
struct adagrad_step {
  double rate, epsilon;
};
struct adadelta_step {
  double rate, rho, epsilon;
};
/// `rate` includes the correction 1 / (1 - beta1^t).
struct adamax_step {
  double rate, beta1, beta2, epsilon;
};
struct rms_prop_step {
  double rate, decay, friction, epsilon;
};

// Every kernel: X(name, dtype, parameters, arguments), where T is the dtype's type. For n elements: p are the
// parameters, g the gradient, and the others the state.
//   sgd                p -= rate * g
//   momentum           m = friction * m + g; p -= rate * m, or with Nesterov's look-ahead p -= rate * (g + friction *
//   m) adam               m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= rate m c1 / (sqrt(v c2) +
//   epsilon)
//                      (Kingma and Ba 2015, algorithm 1)
//   adam_w             adam after p -= rate * decay * p: the decay does not go through the moments (Loshchilov and
//                      Hutter 2019, algorithm 2)
//   adagrad            a += g^2; p -= rate g / sqrt(a + epsilon) (Duchi, Hazan and Singer 2011)
//   adadelta           w = g sqrt(u + epsilon) / sqrt(a + epsilon); a = rho a + (1 - rho) g^2;
//                      u = rho u + (1 - rho) w^2; p -= rate w. Zeiler 2012 divides by the mean that includes this
//                      step's square. TensorFlow.js divides by the old one, as here.
//   adamax             m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g|); p -= rate m / (u + epsilon)
//                      (Kingma and Ba 2015, algorithm 2)
//   rms_prop           a = decay a + (1 - decay) g^2; q = friction q + rate g / sqrt(a + epsilon); p -= q
//                      (Tieleman and Hinton 2012)
//   centered_rms_prop  c = decay c + (1 - decay) g, and the root is that of a - (c^2 + epsilon), or of epsilon where
//                      the difference is not above 0
#define KG_UPDATE_KERNELS(X, type, T)                                                                               \
  X(sgd, type, (T * p, const T* g, std::size_t n, double rate), (p, g, n, rate))                                    \
  X(momentum, type, (T * p, T * m, const T* g, std::size_t n, double rate, double friction, bool nesterov),         \
    (p, m, g, n, rate, friction, nesterov))                                                                         \
  X(adam, type, (T * p, T * m, T * v, const T* g, std::size_t n, const adam_step& step), (p, m, v, g, n, step))     \
  X(adam_w, type, (T * p, T * m, T * v, const T* g, std::size_t n, const adam_step& step, double decay),            \
    (p, m, v, g, n, step, decay))                                                                                   \
  X(adagrad, type, (T * p, T * a, const T* g, std::size_t n, const adagrad_step& step), (p, a, g, n, step))         \
  X(adadelta, type, (T * p, T * a, T * u, const T* g, std::size_t n, const adadelta_step& step),                    \
    (p, a, u, g, n, step))                                                                                          \
  X(adamax, type, (T * p, T * m, T * u, const T* g, std::size_t n, const adamax_step& step), (p, m, u, g, n, step)) \
  X(rms_prop, type, (T * p, T * a, T * q, const T* g, std::size_t n, const rms_prop_step& step),                    \
    (p, a, q, g, n, step))                                                                                          \
  X(centered_rms_prop, type, (T * p, T * a, T * q, T * c, const T* g, std::size_t n, const rms_prop_step& step),    \
    (p, a, q, c, g, n, step))

#define KG_DECLARE_UPDATE(name, type, parameters, arguments) void name##_##type parameters;
KG_UPDATE_KERNELS(KG_DECLARE_UPDATE, float32, float)
KG_UPDATE_KERNELS(KG_DECLARE_UPDATE, float64, double)
#undef KG_DECLARE_UPDATE

}  // namespace kerngrad::kernels
