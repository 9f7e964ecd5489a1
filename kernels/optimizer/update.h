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
/// The same after p -= rate * decay * p: the decay does not go through the moments (Loshchilov and Hutter 2019,
/// algorithm 2).
void adam_w_float32(float* p, float* m, float* v, const float* g, std::size_t n, const adam_step& step, double decay);
void adam_w_float64(double* p, double* m, double* v, const double* g, std::size_t n, const adam_step& step,
                    double decay);

struct adagrad_step {
  double rate, epsilon;
};
/// a += g^2; p -= rate g / sqrt(a + epsilon) (Duchi, Hazan and Singer 2011)
void adagrad_float32(float* p, float* a, const float* g, std::size_t n, const adagrad_step& step);
void adagrad_float64(double* p, double* a, const double* g, std::size_t n, const adagrad_step& step);

struct adadelta_step {
  double rate, rho, epsilon;
};
/// w = g sqrt(u + epsilon) / sqrt(a + epsilon); a = rho a + (1 - rho) g^2; u = rho u + (1 - rho) w^2; p -= rate w.
/// Zeiler 2012 divides by the mean with this step's square in it; TensorFlow.js, whose steps these are, by the old one.
void adadelta_float32(float* p, float* a, float* u, const float* g, std::size_t n, const adadelta_step& step);
void adadelta_float64(double* p, double* a, double* u, const double* g, std::size_t n, const adadelta_step& step);

/// `rate` has the correction 1 / (1 - beta1^t) in it.
struct adamax_step {
  double rate, beta1, beta2, epsilon;
};
/// m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g|); p -= rate m / (u + epsilon) (Kingma and Ba 2015, algorithm 2)
void adamax_float32(float* p, float* m, float* u, const float* g, std::size_t n, const adamax_step& step);
void adamax_float64(double* p, double* m, double* u, const double* g, std::size_t n, const adamax_step& step);

struct rms_prop_step {
  double rate, decay, friction, epsilon;
};
/// a = decay a + (1 - decay) g^2; q = friction q + rate g / sqrt(a + epsilon); p -= q (Tieleman and Hinton 2012)
void rms_prop_float32(float* p, float* a, float* q, const float* g, std::size_t n, const rms_prop_step& step);
void rms_prop_float64(double* p, double* a, double* q, const double* g, std::size_t n, const rms_prop_step& step);
/// c = decay c + (1 - decay) g, and a - (c^2 + epsilon) stands under the root; epsilon alone where that is not above 0.
void centered_rms_prop_float32(float* p, float* a, float* q, float* c, const float* g, std::size_t n,
                               const rms_prop_step& step);
void centered_rms_prop_float64(double* p, double* a, double* q, double* c, const double* g, std::size_t n,
                               const rms_prop_step& step);

}  // namespace kerngrad::kernels
