// SPDX-License-Identifier: Apache-2.0
// The optimizers' steps: parameters and state are changed in place, one pass over memory.
#pragma once
#include <cstddef>

namespace kerngrad::kernels {

/// p -= rate * g
void sgd_float32(float* p, const float* g, std::size_t n, double rate);
void sgd_float64(double* p, const double* g, std::size_t n, double rate);

/// m = friction * m + g; p -= rate * m, or with Nesterov's look-ahead p -= rate * (g + friction * m)
void momentum_float32(float* p, float* m, const float* g, std::size_t n, double rate, double friction, bool nesterov);
void momentum_float64(double* p, double* m, const double* g, std::size_t n, double rate, double friction,
                      bool nesterov);

/// What a step of Adam is made of; the corrections are 1 / (1 - beta^t).
struct adam_step {
  double rate, beta1, beta2, epsilon, correction1, correction2;
};
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= rate m c1 / (sqrt(v c2) + epsilon)
/// (Kingma and Ba 2015, algorithm 1)
void adam_float32(float* p, float* m, float* v, const float* g, std::size_t n, const adam_step& step);
void adam_float64(double* p, double* m, double* v, const double* g, std::size_t n, const adam_step& step);

}  // namespace kerngrad::kernels
