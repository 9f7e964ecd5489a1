// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the normalizations.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_norm;

import :std;
import :core;
import :tensor;
import :rule;
import :like;
import :deviation;
import :call;
import :ops;

namespace kerngrad::rules {

// ------------------------------------------------------------------------------------------ batch normalization

/// (x - mean) / sqrt(variance + epsilon) * scale, with the epsilon of `c`; no scale where that tensor is undefined.
template <class C, class V>
auto normalized(const C& c, const V& x, const V& mean, const V& scale) {
  return call_like<"FusedBatchNorm">(c, x, mean, c.in(2), tensor(), scale);
}
/// dy times the slope of every element, scale / sqrt(variance + epsilon): the gradient of x.
inline constexpr auto to_x = [](const auto& c) {
  return c.template once<0>([&] { return normalized(c, c.dy(), c.zeros(1), c.in(4)); });
};
/// x without mean and deviation.
inline constexpr auto standardized = [](const auto& c) {
  return c.template once<1>([&] { return normalized(c, c.in(0), c.in(1), tensor()); });
};

// ------------------------------------------------------------------------------------------ layer normalization

// With h the normalized x, s its deviation and g = dy * scale: dx = (g - mean(g) - h mean(g h)) / s. Computed in
// float32 for half precision, as the result is.
inline constexpr auto normalized_rows = [](const auto& c) {
  return c.template once<0>([&] { return call_like<"LayerNorm">(c, c.in(0)); });
};
inline constexpr auto layer_to_x = [](const auto& c) {
  const dtype type = c.in(0).type(), wide = promote(type, dtype::float32);
  const auto x = cast(c.in(0), wide), dy = cast(c.dy(), wide);
  const auto h = wide == type ? normalized_rows(c) : call_like<"LayerNorm">(c, x);
  const auto g = c.in(1).defined() ? dy * c.in(1) : dy;
  const auto across = g - mean(g, -1, true) - h * mean(g * h, -1, true);
  return cast(detail::over_deviation(across, x, c.template attr<"epsilon">().as_number()), type);
};

// ------------------------------------------------------------------------------------------ local response

/// The sums of v over the windows of channels of `c`: a convolution with ones, which is differentiable.
template <class C, class V>
auto channel_sums(const C& c, const V& v) {
  const shape& dims = c.dims(0);
  if (dims.size() == 0) return v;
  const std::int64_t channels = dims[dims.rank() - 1];
  const std::int64_t asked = c.template attr<"depthRadius">().as_integer();
  const std::int64_t radius = asked < channels ? asked : channels - 1;
  const auto rows = reshape(v, {1, dims.size() / channels, channels, 1});
  return reshape(conv2d(rows, ones({1, 2 * radius + 1, 1, 1}, c.type(0)), {.pad = same}), dims);
}

// With n = bias + alpha * channel_sums(x^2) and y = x n^-beta, the gradient of LRN is
//   dx = dy n^-beta - 2 alpha beta x channel_sums(dy y / n),
// an op of x, y and dy. Its own gradient, for g in place of dx, with G = channel_sums(g x):
//   of dy: g n^-beta - 2 alpha beta (y / n) G        of y: -2 alpha beta (dy / n) G
//   of x:  2 alpha x channel_sums(dy (2 alpha beta (y / n^2) G - beta g n^(-beta - 1)))
//          - 2 alpha beta g channel_sums(dy y / n)
struct response_numbers {
  double bias, alpha, beta, slope;
  template <class C>
  explicit response_numbers(const C& c)
      : bias(c.template attr<"bias">().as_number()),
        alpha(c.template attr<"alpha">().as_number()),
        beta(c.template attr<"beta">().as_number()),
        slope(2 * alpha * beta) {}
};
inline constexpr auto response_norm_of = [](const auto& c) {
  return c.template once<0>([&] {
    const response_numbers of(c);
    return channel_sums(c, square(c.in(0))) * of.alpha + of.bias;
  });
};
inline constexpr auto response_pull = [](const auto& c) {
  return c.template once<1>([&] { return channel_sums(c, c.dy() * c.in(0)); });
};

inline constexpr auto response_to_x = [](const auto& c) {
  const response_numbers of(c);
  const auto n = response_norm_of(c);
  const auto &x = c.in(0), &y = c.in(1), &dy = c.in(2), &g = c.dy();
  const auto by_norm = dy * (y / square(n) * response_pull(c) * of.slope - g * pow(n, -of.beta - 1) * of.beta);
  return x * channel_sums(c, by_norm) * (2 * of.alpha) - g * channel_sums(c, dy * y / n) * of.slope;
};
inline constexpr auto response_to_y = [](const auto& c) {
  return c.in(2) / response_norm_of(c) * response_pull(c) * -response_numbers(c).slope;
};
inline constexpr auto response_to_dy = [](const auto& c) {
  const response_numbers of(c);
  const auto n = response_norm_of(c);
  return c.dy() * pow(n, -of.beta) - c.in(1) / n * response_pull(c) * of.slope;
};

inline constexpr auto norm_rules = family_rules(rule_list{
    rule<"FusedBatchNorm">(
        wrt(keep::in2 | keep::in4, to_x),
        wrt(keep::in2 | keep::in4, [](const auto& c) { return -c.reduced(1, to_x(c)); }),
        wrt(keep::in0 | keep::in1 | keep::in2 | keep::in4,
            [](const auto& c) {
              const double epsilon = c.template attr<"varianceEpsilon">().as_number();
              return c.reduced(2, to_x(c) * standardized(c)) * rsqrt(c.in(2) + epsilon) * -0.5;
            }),
        wrt(keep::nothing, [](const auto& c) { return c.reduced(3, c.dy()); }),
        wrt(keep::in0 | keep::in1 | keep::in2, [](const auto& c) { return c.reduced(4, c.dy() * standardized(c)); })),
    rule<"LayerNorm">(wrt(keep::in0 | keep::in1, layer_to_x),
                      wrt(keep::in0, [](const auto& c) { return c.reduced(1, c.dy() * normalized_rows(c)); }),
                      wrt(keep::nothing, [](const auto& c) { return c.reduced(2, c.dy()); })),
    rule<"LRN">(
        wrt(keep::in0 | keep::out0, [](const auto& c) { return call_like<"LRNGrad">(c, c.in(0), c.out(), c.dy()); })),
    rule<"LRNGrad">(wrt(keep::all_in, response_to_x), wrt(keep::all_in, response_to_y),
                    wrt(keep::all_in, response_to_dy)),
});

}  // namespace kerngrad::rules
