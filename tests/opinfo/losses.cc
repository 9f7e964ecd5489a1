// SPDX-License-Identifier: Apache-2.0
// Calls of losses: the library's, and those that are written with elementwise functions.
#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

kg::loss_reduction reduction_of(in s, int place = -1) {
  // The arguments that PyTorch no longer uses have no other value than none.
  s.has("size_average"), s.has("reduce");
  const std::string name = s.text("reduction", place, "mean");
  if (name != "none" && name != "sum" && name != "mean") throw skip{"a reduction of an unknown name"};
  if (name == "none") return kg::loss_reduction::none;
  return name == "sum" ? kg::loss_reduction::sum : kg::loss_reduction::mean;
}

results reduced(in s, const kg::tensor& losses) {
  switch (reduction_of(s)) {
    case kg::loss_reduction::none: return list_of(losses);
    case kg::loss_reduction::sum: return list_of(kg::sum(losses));
    default: return list_of(kg::mean(losses));
  }
}

kg::tensor softplus_of(const kg::tensor& x) { return kg::softplus(x); }

results cross_entropy(in s) {
  const kg::tensor logits = s.x(), labels = s.x(1);
  if (s.has("weight", 2)) throw skip{"weights of classes"};
  const auto ignored = s.whole("ignore_index", -1, -100);
  const bool shares = labels.dims() == logits.dims();
  const kg::cross_entropy_options how{.label_smoothing = s.number("label_smoothing", -1, 0),
                                      .reduction = reduction_of(s)};
  if (!shares && ignored >= 0) throw skip{"a class that is ignored"};
  if (shares && how.reduction == kg::loss_reduction::mean && logits.rank() > 2) throw skip{"a mean over rows alone"};
  const auto classes_last = [](const kg::tensor& x) { return x.rank() < 2 ? x : kg::moveaxis(x, 1, -1); };
  return list_of(kg::softmax_cross_entropy_loss(shares ? classes_last(labels) : labels, classes_last(logits), how));
}

// The negative of the logarithm that each class index names.
results likelihood(in s) {
  if (s.has("weight", 2)) throw skip{"weights of classes"};
  if (s.whole("ignore_index", -1, -100) >= 0) throw skip{"a class that is ignored"};
  const kg::tensor x = s.x(), labels = s.x(1);
  const auto axis = x.rank() < 2 ? 0 : 1;
  return reduced(s, -kg::squeeze(kg::take_along_axis(x, kg::expand_dims(labels, axis), axis), axis));
}

results binary_cross_entropy(in s) {
  if (s.has("pos_weight")) throw skip{"weights of positive labels"};
  kg::tensor losses = kg::sigmoid_cross_entropy(s.x(1), s.x(), {.reduction = kg::loss_reduction::none});
  if (s.has("weight", 2)) losses = losses * s.tensor("weight", 2);
  return reduced(s, losses);
}

results log_loss(in s) {
  kg::tensor losses = kg::log_loss(s.x(1), s.x(), {.epsilon = 0, .reduction = kg::loss_reduction::none});
  if (s.has("weight", 2)) losses = losses * s.tensor("weight", 2);
  return reduced(s, losses);
}

results divergence(in s) {
  const kg::tensor x = s.x(), target = s.x(1);
  const bool logarithms = s.truth("log_target", -1);
  const kg::tensor losses = logarithms ? kg::exp(target) * (target - x) : kg::xlogy(target, target) - target * x;
  if (s.text("reduction", -1, "mean") == "batchmean")
    return list_of(kg::sum(losses) / static_cast<double>(x.rank() == 0 ? 1 : x.dims()[0]));
  return reduced(s, losses);
}

// max(0, margin - x), 0 where x is far enough.
kg::tensor hinge(const kg::tensor& x, double margin) { return kg::relu(margin - x); }

// A sign that is neither 1 nor -1 counts as both in PyTorch.
results hinge_embedding(in s) {
  const kg::tensor x = s.x(), sign = s.x(1);
  const double margin = s.number("margin", 2, 1);
  const kg::tensor zero = kg::zeros_like(x);
  return reduced(s, kg::where(sign == -1, zero, x) + kg::where(sign == 1, zero, hinge(x, margin)));
}

// The margin, a float, makes PyTorch's losses of integers float32.
results ranking(in s) {
  const kg::tensor x = -s.x(2) * (s.x() - s.x(1));
  return reduced(
      s, kg::relu((kg::integral.has(x.type()) ? kg::cast(x, kg::dtype::float32) : x) + s.number("margin", 3, 0)));
}

kg::tensor cosine(const kg::tensor& x, const kg::tensor& y, std::int64_t axis, double epsilon) {
  const auto both = kg::broadcast(x.dims(), y.dims());
  if (!both) throw skip{"shapes that do not broadcast"};
  const kg::tensor a = kg::broadcast_to(x, *both), b = kg::broadcast_to(y, *both);
  const kg::tensor lengths =
      kg::maximum(kg::euclidean_norm(a, axis), epsilon) * kg::maximum(kg::euclidean_norm(b, axis), epsilon);
  return kg::sum(a * b, axis) / lengths;
}

results cosine_embedding(in s) {
  const kg::tensor a = s.x(), b = s.x(1), sign = s.x(2);
  const double margin = s.number("margin", 3, 0), epsilon = 1e-12;
  const auto axis = a.rank() - 1;
  const kg::tensor lengths = kg::sqrt((kg::sum(a * a, axis) + epsilon) * (kg::sum(b * b, axis) + epsilon));
  const kg::tensor y = kg::sum(a * b, axis) / lengths;
  return reduced(s, kg::where(sign == 1, 1 - y, kg::relu(y - margin)));
}

kg::tensor pair_distance(const kg::tensor& a, const kg::tensor& b, double p, double epsilon, bool keep) {
  const kg::tensor d = a - b + epsilon;
  if (p == 2) return kg::euclidean_norm(d, -1, keep);
  if (p == 1) return kg::sum(kg::abs(d), -1, keep);
  if (std::isinf(p)) return kg::max(kg::abs(d), -1, keep);
  return norm_of_order(d, p, -1, keep);
}

results triplets(in s) {
  const double margin = s.number("margin", 3, 1), p = s.number("p", 4, 2), epsilon = s.number("eps", 5, 1e-6);
  const kg::tensor near = pair_distance(s.x(), s.x(1), p, epsilon, false);
  kg::tensor far = pair_distance(s.x(), s.x(2), p, epsilon, false);
  if (s.truth("swap", 6)) far = kg::minimum(far, pair_distance(s.x(1), s.x(2), p, epsilon, false));
  return reduced(s, kg::relu(near - far + margin));
}

results poisson(in s) {
  if (s.truth("full", 3)) throw skip{"the term of Stirling"};
  const kg::tensor x = s.x(), target = s.x(1);
  const bool logarithms = s.truth("log_input", 2, true);
  const double epsilon = s.number("eps", 5, 1e-8);
  return reduced(s, logarithms ? kg::exp(x) - target * x : x - target * kg::log(x + epsilon));
}

results gaussian(in s) {
  const kg::tensor x = s.x(), target = s.x(1);
  kg::tensor variance = s.x(2);
  const double epsilon = s.number("eps", 4, 1e-6);
  if (variance.rank() + 1 == x.rank()) variance = kg::expand_dims(variance, -1);
  variance = variance + kg::stop_gradient(kg::maximum(variance, epsilon) - variance);
  kg::tensor losses = (kg::log(variance) + kg::square(x - target) / variance) * 0.5;
  if (s.truth("full", 3)) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return reduced(s, losses);
}

results several_labels(in s) {
  const kg::tensor x = s.x(), target = s.x(1);
  kg::tensor losses = target * softplus_of(-x) + (1 - target) * softplus_of(x);
  if (s.has("weight", 2)) losses = losses * s.tensor("weight", 2);
  return reduced(s, kg::mean(losses, -1));
}

results smooth(in s) {
  const double beta = s.number("beta", -1, 1);
  if (beta == 0) return reduced(s, kg::absolute_difference(s.x(1), s.x(), {.reduction = kg::loss_reduction::none}));
  return reduced(s, kg::huber_loss(s.x(1), s.x(), {.delta = beta, .reduction = kg::loss_reduction::none}) / beta);
}

constexpr call_line lines[] = {
    {"networks", "nn.functional.mse_loss",
     [](in s) { return list_of(kg::mean_squared_error(s.x(1), s.x(), {.reduction = reduction_of(s)})); }},
    {"networks", "nn.functional.l1_loss",
     [](in s) { return list_of(kg::absolute_difference(s.x(1), s.x(), {.reduction = reduction_of(s)})); }},
    {"networks", "nn.functional.huber_loss",
     [](in s) {
       return list_of(kg::huber_loss(s.x(1), s.x(), {.delta = s.number("delta", -1, 1), .reduction = reduction_of(s)}));
     }},
    {"networks", "nn.functional.smooth_l1_loss", smooth},
    {"networks", "nn.functional.cross_entropy", cross_entropy},
    {"networks", "nn.functional.nll_loss", likelihood},
    {"networks", "nn.functional.binary_cross_entropy", log_loss},
    {"networks", "nn.functional.binary_cross_entropy_with_logits", binary_cross_entropy},
    {"networks", "nn.functional.kl_div", divergence},
    {"networks", "nn.functional.soft_margin_loss", [](in s) { return reduced(s, softplus_of(-s.x(1) * s.x())); }},
    {"networks", "nn.functional.hinge_embedding_loss", hinge_embedding},
    {"networks", "nn.functional.margin_ranking_loss", ranking},
    {"networks", "nn.functional.cosine_embedding_loss", cosine_embedding},
    {"networks", "nn.functional.triplet_margin_loss", triplets},
    {"networks", "nn.functional.poisson_nll_loss", poisson},
    {"networks", "nn.functional.gaussian_nll_loss", gaussian},
    {"networks", "nn.functional.multilabel_soft_margin_loss", several_labels},
    {"networks", "nn.functional.cosine_similarity",
     [](in s) { return list_of(cosine(s.x(), s.x(1), s.whole("dim", 2, 1), s.number("eps", 3, 1e-8))); }},
    {"networks", "nn.functional.pairwise_distance",
     [](in s) {
       return list_of(
           pair_distance(s.x(), s.x(1), s.number("p", 2, 2), s.number("eps", 3, 1e-6), s.truth("keepdim", 4)));
     }},
};

}  // namespace

std::span<const call_line> losses_calls() { return lines; }

}  // namespace opinfo
