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

/// Tensors by names: what is saved of an optimizer, and read again.
using named_tensors = std::vector<std::pair<std::string, tensor>>;

/// Settings of a group of variables, in place of those of the optimizer.
struct group_options {
  std::optional<schedule> learning_rate{};
  std::optional<double> weight_decay{};
};

/// Changes variables by their gradients. Values that were read before, also by a tape, keep what they were: a step
/// works in place only where the value has no other owner. Variables and gradients are float32 or float64.
///
/// `rate` in what follows is the learning rate of the step, `schedule(number of steps before it)`. With a weight decay,
/// v -= rate * weight_decay * v comes before the step: the decay is no part of the gradient (Loshchilov and Hutter
/// 2019).
class optimizer {
 public:
  virtual ~optimizer() = default;
  /// One step, of all variables or of none: when a gradient does not fit its variable, a rate is not finite, or memory
  /// runs out, that is thrown before any has changed.
  void apply(std::span<const variable_gradient> grads);
  /// Value and gradients of f (a floating scalar), then one step; returns the value before the step.
  tensor minimize(const std::function<tensor()>& f, std::span<const variable> only = {});

  /// The rate of the next step, groups aside.
  double learning_rate() const { return rate_(steps_); }
  /// Another rate from the next step on. A schedule gets the number of all steps, also of those before.
  void set_learning_rate(schedule rate) { rate_ = std::move(rate); }
  double weight_decay() const { return weight_decay_; }
  /// Throws for a number below 0.
  void set_weight_decay(double weight_decay);
  /// Variables with options of their own. Throws for one that is in a group already.
  void add_group(std::span<const variable> variables, group_options options);
  void add_group(std::initializer_list<variable> variables, group_options options) {
    add_group(std::span(variables.begin(), variables.size()), std::move(options));
  }

  /// How many steps there were.
  std::int64_t steps() const { return steps_; }
  /// All that the steps so far have left: `steps`, an int64, and for each variable NAME that was changed as many
  /// tensors NAME.first, NAME.second, NAME.third as the optimizer has. They are snapshots. Training that goes on with
  /// them and the variables' values, in another process too, is bitwise identical to one without the break; rates,
  /// groups and constants are the program's to set. Throws for variables without a name, or with one name.
  named_tensors state() const;
  /// Goes on where `state` was taken, for variables of the same names; those that it has nothing of begin again. All of
  /// it or nothing: throws where an entry fits none of the variables, or is missing, or has another shape or dtype.
  void set_state(std::span<const std::pair<std::string, tensor>> state, std::span<const variable> variables);
  /// The same from a map of names to tensors, or any range of such pairs.
  template <class Names>
    requires(!std::is_convertible_v<const Names&, std::span<const std::pair<std::string, tensor>>>)
  void set_state(const Names& state, std::span<const variable> variables) {
    named_tensors entries;
    for (const auto& [name, value] : state) entries.emplace_back(name, value);
    set_state(std::span<const std::pair<std::string, tensor>>(entries), variables);
  }

 protected:
  /// The optimizer's state for one variable: as many tensors of its shape as the optimizer has slots, zeros at first;
  /// `first` may begin with another value.
  struct slots {
    variable of;
    tensor first, second, third;
  };
  explicit optimizer(schedule rate, int slot_count, double first_value = 0)
      : rate_(std::move(rate)), slot_count_(slot_count), first_value_(first_value) {}
  /// Called once a step, before its updates.
  virtual void begin_step() {}
  /// Writes to value and state, which have no other owner and whose elements are on the host. steps() is the number of
  /// this step, from 1. An exception of a custom update does not undo the updates before it.
  virtual void update(tensor& value, slots& state, const tensor& grad) const = 0;
  /// For `update`: the rate and the weight decay of the variable.
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

/// v -= rate * g.
class sgd : public optimizer {
 public:
  explicit sgd(schedule rate) : optimizer(std::move(rate), 0) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
};

/// m = friction * m + g; v -= rate * m, or with Nesterov's look-ahead v -= rate * (g + friction * m).
class momentum : public optimizer {
 public:
  momentum(schedule rate, double friction, bool nesterov = false)
      : optimizer(std::move(rate), 1), friction_(friction), nesterov_(nesterov) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double friction_;
  bool nesterov_;
};

/// Adam (Kingma and Ba 2015) with bias correction; epsilon is added to the root.
class adam : public optimizer {
 public:
  explicit adam(schedule rate = 1e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7)
      : optimizer(std::move(rate), 2), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double beta1_, beta2_, epsilon_;
};

/// Adam with a weight decay from the start, in one pass over the elements (Loshchilov and Hutter 2019).
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

/// a += g^2; v -= rate * g / sqrt(a + epsilon), where a begins with `initial` (Duchi, Hazan and Singer 2011).
class adagrad : public optimizer {
 public:
  explicit adagrad(schedule rate, double initial = 0.1, double epsilon = 1e-7)
      : optimizer(std::move(rate), 1, initial), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double epsilon_;
};

/// w = g * sqrt(u + epsilon) / sqrt(a + epsilon); a and u are means of g^2 and w^2 that forget by rho; v -= rate * w.
/// Zeiler (2012) divides by the mean with this step's g in it; here, as in TensorFlow.js, it is that of the steps
/// before.
class adadelta : public optimizer {
 public:
  explicit adadelta(schedule rate = 1e-3, double rho = 0.95, double epsilon = 1e-7)
      : optimizer(std::move(rate), 2), rho_(rho), epsilon_(epsilon) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double rho_, epsilon_;
};

/// Adam by the largest gradient in place of the squares: m as Adam; u = max(beta2 * u, |g|); at step t
/// v -= rate / (1 + decay * (t - 1)) / (1 - beta1^t) * m / (u + epsilon) (Kingma and Ba 2015, section 7.1).
class adamax : public optimizer {
 public:
  explicit adamax(schedule rate = 2e-3, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-7,
                  double decay = 0)
      : optimizer(std::move(rate), 2), beta1_(beta1), beta2_(beta2), epsilon_(epsilon), decay_(decay) {}

 private:
  void update(tensor& value, slots& state, const tensor& grad) const override;
  double beta1_, beta2_, epsilon_, decay_;
};

/// s is the mean of g^2 that forgets by `decay`; q = friction * q + rate * g / sqrt(s + epsilon); v -= q (Tieleman and
/// Hinton 2012). `centered` subtracts the squared mean c of g: the root is taken of s - (c^2 + epsilon), as in
/// TensorFlow.js, or of epsilon where that is not above 0, as while the gradient hardly changes.
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
