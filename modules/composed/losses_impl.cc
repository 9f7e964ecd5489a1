// SPDX-License-Identifier: Apache-2.0
module;
#include <limits>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;

namespace kerngrad {

using detail::composed;

namespace {

// Losses are computed in float32 or float64: small integers would wrap on the way, and half precision would be rounded
// there.
tensor in_floats(const tensor& x) { return wide_floats.has(x.type()) ? x : cast(x, dtype::float32); }
// The dtype of losses of operands of a dtype: integers give float32.
dtype losses_of(dtype type) { return floating.has(type) ? type : dtype::float32; }

// The largest number of a dtype.
double range_of_floats(dtype type) {
  return type == dtype::float64 ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
}

// Losses added up over what the reduction divides by.
tensor over_count(const tensor& total, const tensor& losses, const tensor& weights, loss_reduction reduction) {
  if (reduction == loss_reduction::sum) return total;
  if (!weights.defined()) return total / static_cast<double>(losses.size());
  // Each weight stands for as many losses as it is broadcast to.
  const double copies = weights.size() ? static_cast<double>(losses.size()) / static_cast<double>(weights.size()) : 1;
  const tensor counted = reduction == loss_reduction::mean ? weights : cast(weights != 0, dtype::float32);
  return total / (cast(sum(counted), total.type()) * copies);
}

// All numbers in one unit, a scalar.
detail::in_units in_one_unit(const tensor& x) {
  if (!x.defined()) return {};
  const auto [y, unit] = detail::in_square_units(in_floats(x), all_axes);
  return {y, unit.defined() ? reshape(unit, shape{}) : unit};
}

tensor reduced_in_floats(const composed& call, const tensor& losses, const tensor& weights, loss_reduction reduction) {
  if (weights.defined()) call.broadcasts_to("weights", weights, "losses", losses);
  const tensor weighted = weights.defined() ? losses * weights : losses;
  if (reduction == loss_reduction::none) return weighted;
  const tensor total = sum(weighted);
  if (detail::all_finite(total)) return over_count(total, losses, weights, reduction);
  // The sum leaves the range before the mean does.
  const bool is_mean = reduction == loss_reduction::mean;
  const auto [x, unit] = in_one_unit(losses);
  const auto [w, weight_unit] = in_one_unit(weights);
  const tensor y = over_count(sum(w.defined() ? x * w : x), losses, is_mean ? w : weights, reduction);
  return detail::times_unit(is_mean ? y : detail::times_unit(y, weight_unit), unit);
}

// Losses that stand for ones of a dtype, weighted, reduced, and rounded to a half where that is one.
tensor reduced(const composed& call, const tensor& losses, dtype type, const tensor& weights,
               loss_reduction reduction) {
  if (weights.defined()) call.real("weights", weights);
  const dtype result = weights.defined() ? promote(type, weights.type()) : type;
  return detail::narrowed(reduced_in_floats(call, losses, detail::widened(weights), reduction), result);
}

// Labels and what was predicted, as floats, and the dtype of their losses.
struct compared {
  tensor labels, predictions;
  dtype type;
};
compared checked(const composed& call, const tensor& labels, std::string_view name, const tensor& predictions) {
  call.one_shape("labels", labels, name, predictions);
  call.real("labels", labels);
  call.real(name, predictions);
  return {in_floats(labels), in_floats(predictions), promote(losses_of(labels.type()), losses_of(predictions.type()))};
}

void check_smoothing(const composed& call, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    call.refuse("label_smoothing " + to_string(attr_value(smoothing)), "a number from 0 to 1");
}

tensor smoothed(const composed& call, const tensor& labels, double smoothing, double share) {
  check_smoothing(call, smoothing);
  return smoothing > 0 ? labels * (1 - smoothing) + smoothing * share : labels;
}

// The losses of rows whose labels are class indices: what labels of 0 and 1 would give, without making them.
tensor losses_of_classes(const composed& call, const tensor& labels, const tensor& logits, double smoothing) {
  const std::int64_t classes = logits.dims()[logits.rank() - 1];
  const std::span<const std::int64_t> rows = logits.dims().dims().first(static_cast<std::size_t>(labels.rank()));
  if (!(labels.dims() == shape(rows)))
    call.refuse(detail::shaped("labels", labels) + " and " + detail::shaped("logits", logits),
                "a class for each row of logits, or labels of the shape of logits");
  if (labels.size() == 0) return zeros(labels.dims(), in_floats(logits).type());
  for (const double label : {min(labels).item(), max(labels).item()})
    if (label < 0 || label >= static_cast<double>(classes))
      call.refuse("label " + to_string(attr_value(label)), "classes from 0 to " + std::to_string(classes - 1),
                  "give rows that do not count weights of 0");
  const tensor logs = log_softmax(in_floats(logits));
  const tensor indices = cast(reshape(labels, {labels.size(), 1}), dtype::int32);
  const tensor losses = neg(reshape(gather(reshape(logs, {labels.size(), classes}), indices, 1, 1), labels.dims()));
  return smoothing > 0 ? losses * (1 - smoothing) - mean(logs, -1) * smoothing : losses;
}

}  // namespace

tensor compute_weighted_loss(const tensor& losses, const loss_options& options) {
  constexpr composed call{"compute_weighted_loss"};
  call.real("losses", losses);
  return reduced(call, in_floats(losses), losses_of(losses.type()), options.weights, options.reduction);
}

tensor absolute_difference(const tensor& labels, const tensor& predictions, const loss_options& options) {
  constexpr composed call{"absolute_difference"};
  const auto [y, p, type] = checked(call, labels, "predictions", predictions);
  return reduced(call, abs(y - p), type, options.weights, options.reduction);
}

tensor mean_squared_error(const tensor& labels, const tensor& predictions, const loss_options& options) {
  constexpr composed call{"mean_squared_error"};
  const auto [y, p, type] = checked(call, labels, "predictions", predictions);
  return reduced(call, squared_difference(y, p), type, options.weights, options.reduction);
}

tensor cosine_distance(const tensor& labels, const tensor& predictions, axis_index axis, const loss_options& options) {
  constexpr composed call{"cosine_distance"};
  const auto [y, p, type] = checked(call, labels, "predictions", predictions);
  const int along = call.axis(axis.value(), y.rank());
  return reduced(call, 1 - sum(y * p, along, true), type, options.weights, options.reduction);
}

tensor hinge_loss(const tensor& labels, const tensor& predictions, const loss_options& options) {
  constexpr composed call{"hinge_loss"};
  const auto [y, p, type] = checked(call, labels, "predictions", predictions);
  const tensor sign = y * 2 - 1;
  return reduced(call, relu(1 - sign * p), type, options.weights, options.reduction);
}

tensor huber_loss(const tensor& labels, const tensor& predictions, const huber_loss_options& options) {
  constexpr composed call{"huber_loss"};
  const auto [y, p, type] = checked(call, labels, "predictions", predictions);
  if (!(options.delta > 0)) call.refuse("delta " + to_string(attr_value(options.delta)), "a number above 0");
  const tensor error = abs(p - y);
  if (options.delta > range_of_floats(error.type()))  // all errors are small
    return reduced(call, (error * 0.5) * error, type, options.weights, options.reduction);
  // Two branches: in one sum for both the gradient of a small error would be a difference of numbers near delta. The
  // branch of small errors gets 0 in place of others: an infinite one would have a gradient of NaN there.
  const tensor is_small = error <= options.delta, near = where(is_small, error, zeros_like(error));
  const tensor losses = where(is_small, (near * 0.5) * near, (error - 0.5 * options.delta) * options.delta);
  return reduced(call, losses, type, options.weights, options.reduction);
}

tensor log_loss(const tensor& labels, const tensor& predictions, const log_loss_options& options) {
  constexpr composed call{"log_loss"};
  const auto [y, p, type] = checked(call, labels, "predictions", predictions);
  const tensor here = y * log(p + options.epsilon);
  const tensor elsewhere = (1 - y) * log(1 - p + options.epsilon);
  return reduced(call, neg(here) - elsewhere, type, options.weights, options.reduction);
}

tensor sigmoid_cross_entropy(const tensor& labels, const tensor& logits, const cross_entropy_options& options) {
  constexpr composed call{"sigmoid_cross_entropy"};
  const auto [y, x, type] = checked(call, labels, "logits", logits);
  const tensor wanted = smoothed(call, y, options.label_smoothing, 0.5);
  // The part that is large apart from log(1 + exp(-|x|)), which is accurate in both tails. For an infinite logit that
  // is right, it is 0. The magnitude is a choice of two branches, each of which has the derivatives of the loss at 0.
  const tensor above = x > 0, apart = cast(above, x.type()) - wanted;
  const tensor far = where(logical_and(is_inf(x), apart == 0), zeros_like(x), x);
  const tensor losses = far * apart + softplus(where(above, neg(x), x));
  return reduced(call, losses, type, options.weights, options.reduction);
}

tensor softmax_cross_entropy_loss(const tensor& labels, const tensor& logits, const cross_entropy_options& options) {
  constexpr composed call{"softmax_cross_entropy_loss"};
  call.real("labels", labels);
  call.real("logits", logits);
  if (integral.has(labels.type()) && labels.rank() + 1 == logits.rank()) {
    check_smoothing(call, options.label_smoothing);
    const tensor losses = losses_of_classes(call, labels, logits, options.label_smoothing);
    return reduced(call, losses, losses_of(logits.type()), options.weights, options.reduction);
  }
  call.rank("labels", labels, 1);
  const auto [y, x, type] = checked(call, labels, "logits", logits);
  const double classes = static_cast<double>(labels.dims()[labels.rank() - 1]);
  const tensor wanted = smoothed(call, y, options.label_smoothing, 1 / classes);
  return reduced(call, softmax_cross_entropy(x, wanted), type, options.weights, options.reduction);
}

}  // namespace kerngrad
