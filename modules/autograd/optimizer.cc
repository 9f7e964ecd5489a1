// SPDX-License-Identifier: Apache-2.0
// Optimizers: gradients of variables become new values of the variables.
module;
#include "kernels/common/abi.h"
export module kerngrad:optimizer;

import :std;
import :core;
import :tensor;
import :grad;
import :schedule;

export namespace kerngrad {

/// Tensors by name: the saved state of an optimizer.
using named_tensors = std::vector<std::pair<std::string, tensor>>;

/// Settings for a group of variables. They replace those of the optimizer; an empty setting keeps the optimizer's.
struct group_options {
  std::optional<schedule> learning_rate{};
  std::optional<double> weight_decay{};
};

/// Changes variables by their gradients. Values that were read before, also by a recording, never change: a step works
/// in place only if the value has no other owner. Variables and gradients are float32 or float64.
///
/// In the formulas of the optimizers `v` is the variable, `g` its gradient, and `rate` the learning rate,
/// `schedule(number of earlier steps)`. With a weight decay, v -= rate * weight_decay * v comes first; the gradient
/// does not include it (Loshchilov and Hutter 2019).
class optimizer {
 public:
  virtual ~optimizer() = default;
  /// Takes one step, for all variables or for none. Throws, before any variable has changed, if a gradient has another
  /// shape or dtype than its variable, a rate is not finite, or memory runs out.
  void apply(std::span<const variable_gradient> grads);
  /// Computes value and gradients of f, which returns a floating scalar, and takes one step. With `only`, the step
  /// changes these variables alone. Returns the value before the step. Throws as `variable_grads` and `apply`.
  tensor minimize(const std::function<tensor()>& f, std::span<const variable> only = {});

  /// The learning rate of the next step; groups may have their own.
  double learning_rate() const { return rate_(steps_); }
  /// Sets the learning rate from the next step on. A schedule is called with the number of all earlier steps, also
  /// those before this call.
  void set_learning_rate(schedule rate) { rate_ = std::move(rate); }
  double weight_decay() const { return weight_decay_; }
  /// Sets the weight decay from the next step on; groups with their own decay keep it. Throws unless it is finite and 0
  /// or more.
  void set_weight_decay(double weight_decay);
  /// Gives variables their own options. Throws for a variable that is in a group already, and for a weight decay that
  /// is below 0 or not finite.
  void add_group(std::span<const variable> variables, group_options options);
  void add_group(std::initializer_list<variable> variables, group_options options) {
    add_group(std::span(variables.begin(), variables.size()), std::move(options));
  }

  /// Number of steps so far.
  std::int64_t steps() const { return steps_; }
  /// The state after the steps so far: `steps`, an int64, and up to three tensors for each changed variable. Those of
  /// the variable NAME are called NAME.first, NAME.second and NAME.third. They are snapshots. Training that resumes
  /// from them and from the variables' values, also in another process, is bitwise identical to training without the
  /// break. Learning rates, groups and constants are not part of the state: set them again. Throws if a variable has no
  /// name, or two have the same name.
  named_tensors state() const;
  /// Restores the state that `state` returned, for variables of the same names. Variables without an entry start from
  /// the beginning. Throws, and changes nothing, if an entry belongs to no variable, is missing, or has another shape
  /// or dtype.
  void set_state(std::span<const std::pair<std::string, tensor>> state, std::span<const variable> variables);
  /// Restores the state from a map of names to tensors, or from any range of such pairs.
  template <class Names>
    requires(!detail::taken_for<const Names&, std::span<const std::pair<std::string, tensor>>>)
  void set_state(const Names& state, std::span<const variable> variables) {
    named_tensors entries;
    for (const auto& [name, value] : state) entries.emplace_back(name, value);
    set_state(std::span<const std::pair<std::string, tensor>>(entries), variables);
  }

 protected:
  /// The optimizer's state for one variable: up to three tensors of the variable's shape. They begin with zeros;
  /// `first` may begin with another value.
  struct slots {
    variable of;
    tensor first, second, third;
  };
  explicit optimizer(schedule rate, int slot_count, double first_value = 0)
      : rate_(std::move(rate)), slot_count_(slot_count), first_value_(first_value) {}
  /// The library calls it once in each step, before `update` of any variable.
  virtual void begin_step() {}
  /// Changes the elements of one variable and of its state in place; override it in a custom optimizer. No other tensor
  /// shares these elements, and they are on the host. `grad` has the shape and dtype of `value`. steps() counts the
  /// current step, so it is 1 in the first one. If it throws, variables that the step has already changed keep their
  /// new values.
  virtual void update(tensor& value, slots& state, const tensor& grad) const = 0;
  /// The learning rate and the weight decay of the variable, for `update`.
  double rate() const { return now_.rate; }
  double decay() const { return now_.decay; }
  /// True if `update` takes the weight decay into its own pass over the elements.
  virtual bool decays_in_update() const { return false; }

 private:
  slots& state_of(const variable& v);
  const group_options* group_of(const variable& v) const;
  struct step_rates {
    double rate = 0, decay = 0;
  };
  step_rates rates_of(const variable& v) const;
  struct group {
    std::vector<variable> variables;
    group_options options;
  };

  schedule rate_;
  double weight_decay_ = 0;
  step_rates now_;  // of the variable whose update is under way
  std::int64_t steps_ = 0;
  int slot_count_;
  double first_value_;
  std::vector<slots> states_;
  std::vector<group> groups_;
};

/// Gradient descent: v -= rate * g. `optimizer` explains the symbols.
class sgd : public optimizer {
 public:
  explicit sgd(schedule rate) : optimizer(std::move(rate), 0) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
};

/// Gradient descent with momentum: m = friction * m + g; v -= rate * m. With Nesterov's look-ahead, v -= rate * (g +
/// friction * m). `optimizer` explains the symbols.
class momentum : public optimizer {
 public:
  momentum(schedule rate, double friction, bool nesterov = false)
      : optimizer(std::move(rate), 1), friction_(friction), nesterov_(nesterov) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double friction_;
  bool nesterov_;
};

/// Adam (Kingma and Ba 2015): m and u are running means of g and g^2 with the factors beta1 and beta2. At step t,
/// counted from 1, v -= rate * (m / (1 - beta1^t)) / (sqrt(u / (1 - beta2^t)) + epsilon). `optimizer` explains the
/// symbols.
class adam : public optimizer {
 public:
  explicit adam(schedule rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7)
      : optimizer(std::move(rate), 2), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double beta1_, beta2_, epsilon_;
};

/// Adam with decoupled weight decay, 0.01 by default (Loshchilov and Hutter 2019). Otherwise it is `adam`. The step and
/// the decay share one pass over the elements.
class adam_w : public optimizer {
 public:
  explicit adam_w(schedule rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7,
                  double weight_decay = 1e-2)
      : optimizer(std::move(rate), 2), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {
    set_weight_decay(weight_decay);
  }

 private:
  bool decays_in_update() const override { return true; }
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double beta1_, beta2_, epsilon_, weight_decay_;
};

/// Adagrad (Duchi, Hazan and Singer 2011): a += g^2; v -= rate * g / sqrt(a + epsilon). `a` begins with `initial`.
/// `optimizer` explains the symbols.
class adagrad : public optimizer {
 public:
  explicit adagrad(schedule rate, double initial = 0.1, double epsilon = 1e-7)
      : optimizer(std::move(rate), 1, initial), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double epsilon_;
};

/// Adadelta (Zeiler 2012): w = g * sqrt(u + epsilon) / sqrt(a + epsilon); v -= rate * w. `optimizer` explains v, g and
/// rate; `a` and `u` are running means of g^2 and w^2 with the factor rho. Zeiler's `a` includes g of this step; here,
/// as in TensorFlow.js, it only has those of earlier steps.
class adadelta : public optimizer {
 public:
  explicit adadelta(schedule rate = 1e-3, double rho = 0.95, double epsilon = 1e-7)
      : optimizer(std::move(rate), 2), rho_(rho), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rho_, epsilon_;
};

/// Adamax (Kingma and Ba 2015, section 7.1), Adam by the largest gradient: m is as in Adam; u = max(beta2 * u, |g|). At
/// step t, v -= rate / (1 + decay * (t - 1)) / (1 - beta1^t) * m / (u + epsilon). `optimizer` explains the symbols.
class adamax : public optimizer {
 public:
  explicit adamax(schedule rate = 2e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7,
                  double decay = 0)
      : optimizer(std::move(rate), 2), beta1_(beta1), beta2_(beta2), epsilon_(epsilon), decay_(decay) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double beta1_, beta2_, epsilon_, decay_;
};

/// RMSProp (Tieleman and Hinton 2012): q = friction * q + rate * g / sqrt(s + epsilon); v -= q. `optimizer` explains v,
/// g and rate; `s` is the running mean of g^2 with the factor `decay`. With `centered`, the root is that of s - (c^2 +
/// epsilon), as in TensorFlow.js, where c is the running mean of g. If that is not above 0, because the gradient hardly
/// changes, the root is that of epsilon.
class rms_prop : public optimizer {
 public:
  explicit rms_prop(schedule rate, double decay = 0.9, double friction = 0, double epsilon = 1e-7,
                    bool centered = false)
      : optimizer(std::move(rate), centered ? 3 : 2),
        decay_(decay),
        friction_(friction),
        epsilon_(epsilon),
        centered_(centered) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double decay_, friction_, epsilon_;
  bool centered_;
};

}  // namespace kerngrad
