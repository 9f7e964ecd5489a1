// SPDX-License-Identifier: Apache-2.0
module;
#include <numeric>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;

namespace kerngrad {

using detail::composed;
using detail::distances;
using detail::distances_of;
using detail::folded_squares;
using detail::narrowed;
using detail::promoted;
using detail::shaped;
using detail::widened;

namespace {

// A value for each channel, or none.
void check_channels(const composed& call, const char* name, const tensor& values, std::int64_t channels) {
  if (values.defined() && !(values.dims() == shape{channels}))
    call.refuse(shaped(name, values), "a value for each of " + std::to_string(channels) + " channels");
}
void check_epsilon(const composed& call, double epsilon) {
  if (!(epsilon >= 0)) call.refuse("epsilon " + to_string(attr_value(epsilon)), "0 or more");
}

// y * scale + offset, as far as they are given. Halves among them are computed in float32, the result is what x would
// promote to with them.
tensor scaled(const tensor& y, const tensor& x, const moment_norm_options& options) {
  const tensor product = options.scale.defined() ? y * options.scale : y;
  const tensor moved = options.offset.defined() ? product + options.offset : product;
  return narrowed(moved, promoted({&x, &options.scale, &options.offset}));
}

// (x - mean) / sqrt(variance + epsilon) with the moments of groups.
tensor standardized(const tensor& x, const distances& from, const axes& over, double epsilon) {
  folded_squares squares = squares_of(x, from, over, {}, epsilon);
  if (!squares.x.defined()) squares.x = x - from.mean;
  return over_root(squares, epsilon);
}

// x [batch, ..., channels] normalized over the axes between and the channels of each group.
tensor group_norm_of(const composed& call, const tensor& x, std::int64_t groups, const moment_norm_options& options) {
  const std::int64_t channels = x.dims()[x.rank() - 1], batch = x.dims()[0];
  check_channels(call, "scale", options.scale, channels);
  check_channels(call, "offset", options.offset, channels);
  check_epsilon(call, options.epsilon);
  if (x.size() == 0) return scaled(widened(x), x, options);
  const tensor grouped = reshape(widened(x), {batch, x.size() / batch / channels, groups, channels / groups});
  const axes over{1, 3};
  const tensor y = standardized(grouped, distances_of(grouped, over), over, options.epsilon);
  return scaled(reshape(y, x.dims()), x, options);
}

}  // namespace

tensor rms_norm(const tensor& x, const rms_norm_options& options) {
  constexpr composed call{"rms_norm"};
  call.floating("x", x);
  call.rank("x", x, 1);
  check_channels(call, "scale", options.scale, x.dims()[x.rank() - 1]);
  check_epsilon(call, options.epsilon);
  const tensor y = over_root(detail::squares_of(widened(x), -1, {}, options.epsilon), options.epsilon);
  return narrowed(options.scale.defined() ? y * options.scale : y, promoted({&x, &options.scale}));
}

tensor group_norm(const tensor& x, std::int64_t groups, const moment_norm_options& options) {
  constexpr composed call{"group_norm"};
  call.floating("x", x);
  call.rank("x", x, 2);
  const std::int64_t channels = x.dims()[x.rank() - 1];
  if (groups < 1 || channels % groups != 0)
    call.refuse(std::to_string(groups) + " groups of " + std::to_string(channels) + " channels",
                "groups of equal size");
  return group_norm_of(call, x, groups, options);
}

tensor instance_norm(const tensor& x, const moment_norm_options& options) {
  constexpr composed call{"instance_norm"};
  call.floating("x", x);
  call.rank("x", x, 3);
  return group_norm_of(call, x, x.dims()[x.rank() - 1], options);
}

batch_norm_parts batch_norm_training(const tensor& x, const moment_norm_options& options) {
  constexpr composed call{"batch_norm_training"};
  call.floating("x", x);
  call.rank("x", x, 2);
  const std::int64_t channels = x.dims()[x.rank() - 1];
  check_channels(call, "scale", options.scale, channels);
  check_channels(call, "offset", options.offset, channels);
  check_epsilon(call, options.epsilon);
  std::vector<std::int64_t> others(static_cast<std::size_t>(x.rank() - 1));
  std::iota(others.begin(), others.end(), 0);
  const tensor wide = widened(x);
  const distances from = distances_of(wide, others);
  const tensor mean = squeeze(from.mean, others), variance = squeeze(fold_of(from), others);
  const auto result = [&] {
    if (!from.plain() || !detail::square_in_range(variance, options.epsilon))
      return scaled(standardized(wide, from, others, options.epsilon), x, options);
    const tensor y = batch_norm(wide, mean, variance,
                                {.offset = options.offset, .scale = options.scale, .epsilon = options.epsilon});
    return narrowed(y, promoted({&x, &options.scale, &options.offset}));
  };
  return {result(), narrowed(mean, x.type()), narrowed(variance, x.type())};
}

}  // namespace kerngrad
