// SPDX-License-Identifier: Apache-2.0
// Learning rates that change from step to step.
module;
#include "kernels/common/abi.h"
export module kerngrad:schedule;

import :std;
import :core;

export namespace kerngrad {

/// A learning rate by the number of the step, from 0: a constant, or a function `double(std::int64_t)`. The rate
/// depends on that number alone, so resumed training has the same rates.
class schedule {
 public:
  template <class T>
    requires number<T>
  schedule(T constant) : constant_(static_cast<double>(constant)) {}
  template <class F>
    requires(!std::same_as<F, schedule> && std::is_invocable_r_v<double, const F&, std::int64_t>)
  schedule(F rate) : rate_(std::move(rate)) {}

  inline double operator()(std::int64_t step) const { return rate_ ? rate_(step) : constant_; }

 private:
  double constant_ = 0;
  std::function<double(std::int64_t)> rate_;
};

/// A rate that changes in stairs: first * factor^floor(step / every). Throws unless `every` is 1 or more.
schedule step_schedule(double first, std::int64_t every, double factor);
/// Exponential decay: first * factor^(step / every), but not below `least`. Throws unless `every` is 1 or more.
schedule exponential_schedule(double first, std::int64_t every, double factor, double least = 0);
/// A straight line from `first` to `last`. It reaches `last` at step `steps` and stays there. Throws unless `steps` is
/// 1 or more.
schedule linear_schedule(double first, double last, std::int64_t steps);
/// Half a cosine from `first` to `last`: last + (first - last) * (1 + cos(pi * step / steps)) / 2 (Loshchilov and
/// Hutter 2017, without restarts). It reaches `last` at step `steps` and stays there. Throws unless `steps` is 1 or
/// more.
schedule cosine_schedule(double first, std::int64_t steps, double last = 0);

/// A schedule and the number of steps that it is used for, as a part of `chain_schedules`. The schedule counts its own
/// steps from 0. The last part of a chain has no end, so its number of steps is not used.
struct schedule_part {
  schedule rate;
  std::int64_t steps = 0;
};
/// Runs schedules one after the other. Throws for an empty list, and for a part of less than 1 step that is not the
/// last.
schedule chain_schedules(std::span<const schedule_part> parts);
inline schedule chain_schedules(std::initializer_list<schedule_part> parts) {
  return chain_schedules(std::span(parts.begin(), parts.size()));
}
/// Rises linearly from `first` to the first rate of `then` during `steps` steps. The schedule `then` follows, from its
/// step 0. Throws unless `steps` is 1 or more.
schedule warm_up(std::int64_t steps, schedule then, double first = 0);

}  // namespace kerngrad
