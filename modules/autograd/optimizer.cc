// SPDX-License-Identifier: Apache-2.0
// Optimizers: gradients of variables become new values of the variables.
module;
#include "kernels/common/abi.h"
export module kerngrad:optimizer;

import :std;
import :core;
import :tensor;
import :grad;

export namespace kerngrad {

/// Changes variables by their gradients. Values that were read before, also by a tape, keep what they were: a step
/// works in place only where the value has no other owner. Variables and gradients are float32 or float64.
class optimizer {
 public:
  virtual ~optimizer() = default;
  /// One step, of all variables or of none: when a gradient does not fit its variable, or memory runs out, that is
  /// thrown before any has changed.
  void apply(std::span<const variable_gradient> grads);
  /// Value and gradients of f (a floating scalar), then one step; returns the value before the step.
  tensor minimize(const std::function<tensor()>& f, std::span<const variable> only = {});

 protected:
  /// The optimizer's state for one variable: as many tensors of its shape as the optimizer has slots, zeros at first;
  /// `first` may begin with another value.
  struct slots {
    variable of;
    tensor first, second, third;
  };
  explicit optimizer(int slot_count, double first_value = 0) : slot_count_(slot_count), first_value_(first_value) {}
  /// Called once a step, before its updates.
  virtual void begin_step() {}
  /// Writes to value and state, which have no other owner and whose elements are on the host. What a custom update
  /// throws does not undo the updates before it.
  virtual void update(tensor& value, slots& state, const tensor& grad) const = 0;

 private:
  slots& state_of(const variable& v);
  int slot_count_;
  double first_value_;
  std::vector<slots> states_;
};

/// v -= rate * g.
class sgd : public optimizer {
 public:
  explicit sgd(double rate) : optimizer(0), rate_(rate) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_;
};

/// m = friction * m + g; v -= rate * m, or with Nesterov's look-ahead v -= rate * (g + friction * m).
class momentum : public optimizer {
 public:
  momentum(double rate, double friction, bool nesterov = false)
      : optimizer(1), rate_(rate), friction_(friction), nesterov_(nesterov) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, friction_;
  bool nesterov_;
};

/// Adam (Kingma and Ba 2015) with bias correction; epsilon is added to the root.
class adam : public optimizer {
 public:
  explicit adam(double rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7)
      : optimizer(2), rate_(rate), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}

 private:
  void begin_step() override { ++steps_; }
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, beta1_, beta2_, epsilon_;
  int steps_ = 0;
};

/// Adam whose weights decay apart from the gradient, v -= rate * weight_decay * v before the step (Loshchilov and
/// Hutter 2019).
class adam_w : public optimizer {
 public:
  explicit adam_w(double rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7,
                  double weight_decay = 1e-2)
      : optimizer(2), rate_(rate), beta1_(beta1), beta2_(beta2), epsilon_(epsilon), weight_decay_(weight_decay) {}

 private:
  void begin_step() override { ++steps_; }
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, beta1_, beta2_, epsilon_, weight_decay_;
  int steps_ = 0;
};

/// a += g^2; v -= rate * g / sqrt(a + epsilon), where a begins with `initial` (Duchi, Hazan and Singer 2011).
class adagrad : public optimizer {
 public:
  explicit adagrad(double rate, double initial = 0.1, double epsilon = 1e-7)
      : optimizer(1, initial), rate_(rate), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, epsilon_;
};

/// w = g * sqrt(u + epsilon) / sqrt(a + epsilon); a and u are means of g^2 and w^2 that forget by rho; v -= rate * w.
/// Zeiler (2012) divides by the mean with this step's g in it; here, as in TensorFlow.js, it is that of the steps
/// before.
class adadelta : public optimizer {
 public:
  explicit adadelta(double rate = 1e-3, double rho = 0.95, double epsilon = 1e-7)
      : optimizer(2), rate_(rate), rho_(rho), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, rho_, epsilon_;
};

/// Adam by the largest gradient in place of the squares: m as Adam; u = max(beta2 * u, |g|); at step t
/// v -= rate / (1 + decay * (t - 1)) / (1 - beta1^t) * m / (u + epsilon) (Kingma and Ba 2015, section 7.1).
class adamax : public optimizer {
 public:
  explicit adamax(double rate = 2e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7, double decay = 0)
      : optimizer(2), rate_(rate), beta1_(beta1), beta2_(beta2), epsilon_(epsilon), decay_(decay) {}

 private:
  void begin_step() override { ++steps_; }
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, beta1_, beta2_, epsilon_, decay_;
  int steps_ = 0;
};

/// s is the mean of g^2 that forgets by `decay`; q = friction * q + rate * g / sqrt(s + epsilon); v -= q (Tieleman and
/// Hinton 2012). `centered` takes the squared mean of g off s: s - (c^2 + epsilon) stands under the root, as in
/// TensorFlow.js, and epsilon alone where that is not above 0, as it is while the gradient hardly changes.
class rms_prop : public optimizer {
 public:
  explicit rms_prop(double rate, double decay = 0.9, double friction = 0, double epsilon = 1e-7, bool centered = false)
      : optimizer(centered ? 3 : 2),
        rate_(rate),
        decay_(decay),
        friction_(friction),
        epsilon_(epsilon),
        centered_(centered) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rate_, decay_, friction_, epsilon_;
  bool centered_;
};

}  // namespace kerngrad
