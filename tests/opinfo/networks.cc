// SPDX-License-Identifier: Apache-2.0
// Calls of activations, normalizations and embeddings.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

// ---- softmax

// `axis` of the positional arguments; the dtype is a keyword, or follows the axis.
results over_axis(in s, kg::tensor (*f)(const kg::tensor&, kg::axis_index), double sign) {
  const kg::tensor x = s.typed(sign < 0 ? -s.x() : s.x());
  const auto axis = s.whole("dim", 1);
  s.whole("_stacklevel", -1, 3);
  if (x.rank() == 0) return list_of(kg::reshape(f(kg::reshape(x, {1}), axis), {}));
  return list_of(f(x, axis));
}

kg::tensor softmax(const kg::tensor& x, kg::axis_index axis) { return kg::softmax(x, axis); }
kg::tensor log_softmax(const kg::tensor& x, kg::axis_index axis) { return kg::log_softmax(x, axis); }

// Elements where the mask is false have no share.
kg::tensor masked(in s, double sign) {
  const kg::tensor x = sign < 0 ? -s.typed(s.x()) : s.typed(s.x());
  if (!s.has("mask")) return x;
  return kg::where(kg::broadcast_to(s.tensor("mask"), x.dims()), x,
                   kg::full_like(x, -std::numeric_limits<double>::infinity()));
}

// ---- activations

results gelu(in s) {
  const kg::tensor x = s.x();
  const std::string how = s.text("approximate", -1, "none");
  if (how == "none") return list_of(kg::gelu(x));
  if (how != "tanh") throw skip{"an approximation of an unknown name"};
  const kg::tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi);
  return list_of(x * 0.5 * (1 + kg::tanh(inner)));
}

results softplus(in s) {
  const double beta = s.number("beta", 1, 1), threshold = s.number("threshold", 2, 20);
  const kg::tensor x = s.x(), scaled = x * beta;
  return list_of(kg::where(scaled > threshold, x, kg::softplus(scaled) / beta));
}

results elu(in s) {
  const double alpha = s.number("alpha", 1, 1);
  const kg::tensor x = s.x();
  return list_of(alpha == 1 ? kg::elu(x) : kg::where(x > 0, x, kg::expm1(x) * alpha));
}

kg::tensor celu(in s) {
  const double alpha = s.number("alpha", 1, 1);
  return kg::where(s.x() > 0, s.x(), kg::expm1(s.x() / alpha) * alpha);
}

kg::tensor gated(in s) {
  const auto axis = s.whole("dim", 1, -1);
  const auto parts = kg::split(s.x(), 2, axis);
  return parts[0] * kg::sigmoid(parts[1]);
}

kg::tensor prelu(in s) {
  const kg::tensor x = s.x();
  kg::tensor weight = s.x(1);
  if (weight.size() == 1) return kg::prelu(x, kg::reshape(weight, {}));
  std::vector<std::int64_t> dims(static_cast<std::size_t>(x.rank()), 1);
  if (x.rank() > 1) dims[1] = weight.size();
  return kg::prelu(x, kg::reshape(weight, kg::shape(dims)));
}

// ---- normalizations: channels are axis 1 in PyTorch, and the last one here

kg::tensor channels_last(const kg::tensor& x) {
  if (x.rank() < 2) throw skip{"an operand without channels"};
  return kg::moveaxis(x, 1, -1);
}
kg::tensor channels_second(const kg::tensor& x) { return kg::moveaxis(x, -1, 1); }

// Along the last axis, which stands for all that are normalized.
results layer_norm(in s, bool with_moments) {
  const kg::tensor x = s.x();
  const std::vector<std::int64_t> wanted = s.list("normalized_shape", 1);
  const auto count = static_cast<int>(wanted.size());
  if (count == 0 || count > x.rank() || !std::equal(wanted.begin(), wanted.end(), x.dims().end() - count))
    throw skip{"a normalized shape that is not the operand's"};
  std::vector<std::int64_t> dims(x.dims().begin(), x.dims().end() - count);
  dims.push_back(-1);
  const kg::tensor weight = s.tensor("weight", 2), bias = s.tensor("bias", 3);
  std::int64_t size = 1;
  for (int i = x.rank() - count; i < x.rank(); ++i) size *= x.dims()[i];
  dims.back() = size;
  const kg::tensor rows = kg::reshape(x, kg::shape(dims));
  const double epsilon = s.number("eps", 4, 1e-5);
  const kg::tensor y = kg::layer_norm(rows, {.scale = weight.defined() ? kg::ravel(weight) : weight,
                                             .offset = bias.defined() ? kg::ravel(bias) : bias,
                                             .epsilon = epsilon});
  if (!with_moments) return list_of(kg::reshape(y, x.dims()));
  dims = {x.dims().begin(), x.dims().end()};
  std::fill(dims.end() - count, dims.end(), 1);
  const auto [mean, variance] = kg::moments(kg::stop_gradient(rows), -1);  // without a gradient in PyTorch
  return {kg::reshape(y, x.dims()), kg::reshape(mean, kg::shape(dims)),
          kg::reshape(kg::rsqrt(variance + epsilon), kg::shape(dims))};
}

results group_norm(in s) {
  return list_of(channels_second(kg::group_norm(
      channels_last(s.x()), s.whole("num_groups", 1),
      {.scale = s.tensor("weight", 2), .offset = s.tensor("bias", 3), .epsilon = s.number("eps", 4, 1e-5)})));
}

results batch_norm(in s) {
  const kg::tensor x = channels_last(s.x()), mean = s.tensor("running_mean", 1), variance = s.tensor("running_var", 2);
  const kg::tensor scale = s.tensor("weight", 3), offset = s.tensor("bias", 4);
  const bool training = s.truth("training", 5);
  s.number("momentum", 6, 0.1);
  const double epsilon = s.number("eps", 7, 1e-5);
  if (training)
    return list_of(
        channels_second(kg::batch_norm_training(x, {.scale = scale, .offset = offset, .epsilon = epsilon}).result));
  return list_of(
      channels_second(kg::batch_norm(x, mean, variance, {.offset = offset, .scale = scale, .epsilon = epsilon})));
}

results instance_norm(in s) {
  s.tensor("running_mean", 1), s.tensor("running_var", 2), s.number("momentum", 6, 0.1);
  if (!s.truth("use_input_stats", 5, true)) throw skip{"an instance norm with given moments"};
  return list_of(channels_second(kg::instance_norm(
      channels_last(s.x()),
      {.scale = s.tensor("weight", 3), .offset = s.tensor("bias", 4), .epsilon = s.number("eps", 7, 1e-5)})));
}

results response_norm(in s) {
  const auto size = s.whole("size", 1);
  if (size % 2 == 0) throw skip{"an even number of channels around each"};
  if (s.x().rank() < 3 || s.x().size() == 0) throw skip{"images without pixels"};
  const kg::tensor x = s.x(),
                   images = kg::reshape(x, {x.dims()[0], x.dims()[1], x.size() / (x.dims()[0] * x.dims()[1]), 1});
  const kg::local_response_options how{.depth_radius = static_cast<int>(size / 2),
                                       .bias = s.number("k", 4, 1),
                                       .alpha = s.number("alpha", 2, 1e-4) / static_cast<double>(size),
                                       .beta = s.number("beta", 3, 0.75)};
  const kg::tensor y = kg::local_response_normalization(channels_last(images), how);
  return list_of(kg::reshape(channels_second(y), x.dims()));
}

results normalized(in s) {
  const double p = s.number("p", 1, 2), epsilon = s.number("eps", 3, 1e-12);
  const auto axis = s.whole("dim", 2, 1);
  if (p != 2) throw skip{"vectors of length 1 by another norm"};
  return list_of(s.x() / kg::maximum(kg::euclidean_norm(s.x(), axis, true), epsilon));
}

// ---- embeddings

results embedded(in s) {
  const kg::tensor table = s.x(), indices = s.x(1);
  s.number("padding_idx", -1, 0), s.truth("scale_grad_by_freq", -1), s.truth("sparse", -1);
  if (s.has("max_norm")) throw skip{"a table that is changed in place"};
  if (s.has("padding_idx") || s.truth("scale_grad_by_freq", -1)) throw skip{"gradients of embeddings by other rules"};
  return list_of(kg::gather(table, indices));
}

results bags(in s) {
  if (s.has("max_norm") || s.has("padding_idx") || s.truth("include_last_offset", -1) ||
      s.truth("scale_grad_by_freq", -1))
    throw skip{"bags with padding, last offsets or a norm"};
  s.truth("sparse", -1);
  const std::string mode = s.text("mode", -1, "mean");
  const kg::embedding_bag_options how{.mode = mode == "sum"   ? kg::bag_mode::sum
                                              : mode == "max" ? kg::bag_mode::max
                                                              : kg::bag_mode::mean,
                                      .weights = s.tensor("per_sample_weights", -1)};
  if (s.has("offsets", 2)) return list_of(kg::embedding_bag(s.x(), s.x(1), s.tensor("offsets", 2), how));
  return list_of(kg::embedding_bag(s.x(), s.x(1), how));
}

results attention(in s) {
  const kg::tensor q = s.x(), k = s.x(1), value = s.x(2);
  if (s.number("dropout_p", 4, 0) != 0 || s.truth("is_causal", 6)) throw skip{"attention by chance or of the past"};
  s.truth("need_attn_weights", 5);  // PyTorch's reference gives them in any case
  kg::tensor scores = kg::matmul(q, k, false, true) / std::sqrt(static_cast<double>(q.dims()[q.rank() - 1]));
  if (s.has("attn_mask", 3)) {
    const kg::tensor mask = s.tensor("attn_mask", 3);
    scores = mask.type() == kg::dtype::boolean
                 ? kg::where(mask, scores, kg::full_like(scores, -std::numeric_limits<double>::infinity()))
                 : scores + mask;
  }
  const kg::tensor shares = kg::softmax(scores);
  return {kg::matmul(shares, value), shares};
}

constexpr call_line lines[] = {
    {"networks", "softmax", [](in s) { return over_axis(s, softmax, 1); }},
    {"networks", "log_softmax", [](in s) { return over_axis(s, log_softmax, 1); }},
    {"networks", "nn.functional.softmin", [](in s) { return over_axis(s, softmax, -1); }},
    {"networks", "masked.softmax", [](in s) { return list_of(kg::softmax(masked(s, 1), s.whole("dim", 1))); }},
    {"networks", "masked.log_softmax", [](in s) { return list_of(kg::log_softmax(masked(s, 1), s.whole("dim", 1))); }},
    {"networks", "masked.softmin", [](in s) { return list_of(kg::softmax(masked(s, -1), s.whole("dim", 1))); }},
    {"networks", "nn.functional.leaky_relu",
     [](in s) { return list_of(kg::leaky_relu(s.x(), s.number("negative_slope", 1, 0.01))); }},
    {"networks", "nn.functional.elu", elu},
    {"networks", "nn.functional.celu", [](in s) { return list_of(celu(s)); }},
    {"networks", "nn.functional.gelu", gelu},
    {"networks", "nn.functional.softplus", softplus},
    {"networks", "nn.functional.prelu", [](in s) { return list_of(prelu(s)); }},
    {"networks", "nn.functional.glu", [](in s) { return list_of(gated(s)); }},
    {"networks", "nn.functional.hardtanh",
     [](in s) { return list_of(kg::clip(s.x(), s.number("min_val", 1, -1), s.number("max_val", 2, 1))); }},
    {"networks", "nn.functional.hardswish", [](in s) { return list_of(s.x() * kg::relu6(s.x() + 3) / 6); }},
    {"networks", "nn.functional.hardshrink",
     [](in s) { return list_of(kg::where(kg::abs(s.x()) > s.number("lambd", 1, 0.5), s.x(), 0)); }},
    {"networks", "nn.functional.softshrink",
     [](in s) {
       const double by = s.number("lambd", 1, 0.5);
       if (by < 0) throw skip{"a threshold below 0"};
       return list_of(kg::where(s.x() > by, s.x() - by, kg::where(s.x() < -by, s.x() + by, 0)));
     }},
    {"networks", "nn.functional.threshold",
     [](in s) { return list_of(kg::where(s.x() > s.number("threshold", 1), s.x(), s.number("value", 2))); }},
    {"networks", "nn.functional.layer_norm", [](in s) { return layer_norm(s, false); }},
    {"networks", "native_layer_norm", [](in s) { return layer_norm(s, true); }},
    {"networks", "nn.functional.group_norm", group_norm},
    {"networks", "nn.functional.batch_norm", batch_norm},
    {"networks", "nn.functional.instance_norm", instance_norm},
    {"networks", "nn.functional.local_response_norm", response_norm},
    {"networks", "nn.functional.normalize", normalized},
    {"networks", "nn.functional.embedding", embedded},
    {"networks", "nn.functional.embedding_bag", bags},
    {"networks", "nn.functional._scaled_dot_product_attention", attention},
};

}  // namespace

std::span<const call_line> networks_calls() { return lines; }

}  // namespace opinfo
