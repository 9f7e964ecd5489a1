// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad {

namespace {

void check_schedule_steps(std::string_view name, std::string_view what, std::int64_t steps) {
  if (steps < 1) fail(name, std::string(what) + " " + std::to_string(steps), "1 or more");
}

// How much of `steps` has passed, 0 to 1.
double part_passed(std::int64_t step, std::int64_t steps) {
  return static_cast<double>(std::clamp<std::int64_t>(step, 0, steps)) / static_cast<double>(steps);
}

}  // namespace

schedule step_schedule(double first, std::int64_t every, double factor) {
  check_schedule_steps("kg::step_schedule", "every", every);
  return [=](std::int64_t step) { return first * std::pow(factor, static_cast<double>(step / every)); };
}

schedule exponential_schedule(double first, std::int64_t every, double factor, double least) {
  check_schedule_steps("kg::exponential_schedule", "every", every);
  return [=](std::int64_t step) {
    return std::max(first * std::pow(factor, static_cast<double>(step) / static_cast<double>(every)), least);
  };
}

schedule linear_schedule(double first, double last, std::int64_t steps) {
  check_schedule_steps("kg::linear_schedule", "steps", steps);
  return [=](std::int64_t step) { return std::lerp(first, last, part_passed(step, steps)); };
}

schedule cosine_schedule(double first, std::int64_t steps, double last) {
  check_schedule_steps("kg::cosine_schedule", "steps", steps);
  return [=](std::int64_t step) {
    const double left = (1 + std::cos(std::numbers::pi * part_passed(step, steps))) / 2;
    return std::lerp(last, first, left);
  };
}

schedule chain_schedules(std::span<const schedule_part> parts) {
  if (parts.empty()) fail("kg::chain_schedules", "no schedule", "at least one");
  for (const schedule_part& part : parts.first(parts.size() - 1))
    check_schedule_steps("kg::chain_schedules", "steps of a part", part.steps);
  return [parts = std::vector<schedule_part>(parts.begin(), parts.end())](std::int64_t step) {
    std::size_t at = 0;
    for (; at + 1 < parts.size() && step >= parts[at].steps; ++at) step -= parts[at].steps;
    return parts[at].rate(step);
  };
}

schedule warm_up(std::int64_t steps, schedule then, double first) {
  check_schedule_steps("kg::warm_up", "steps", steps);
  const double reached = then(0);
  return chain_schedules({{linear_schedule(first, reached, steps), steps}, {std::move(then), 0}});
}

}  // namespace kerngrad
