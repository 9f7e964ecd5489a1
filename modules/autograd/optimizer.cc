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
  /// The optimizer's state for one variable, zeros at first.
  struct slots {
    variable of;
    tensor first, second;
  };
  explicit optimizer(int slot_count) : slot_count_(slot_count) {}
  /// Called once a step, before its updates.
  virtual void begin_step() {}
  /// Writes to value and state, which have no other owner and whose elements are on the host. What a custom update
  /// throws does not undo the updates before it.
  virtual void update(tensor& value, slots& state, const tensor& grad) const = 0;

 private:
  slots& state_of(const variable& v);
  int slot_count_;
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

}  // namespace kerngrad
