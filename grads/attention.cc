// SPDX-License-Identifier: Apache-2.0
// Gradient rules of attention. With scores s, weights w = exp(s - log_sum) and products p = dy value^T, the gradient of
// the scores is ds = w (p - delta), where delta is the sum of dy * y over a row, less the gradient of log_sum.
// ScaledDotProductAttentionGrad computes the gradients of query, key and value block by block. The other rules, of the
// bias and of the second order, compose ops and take matrices of scores. They compute half precision in float32.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_attention;

import :std;
import :core;
import :op;
import :tensor;
import :rule;
import :like;
import :call;
import :ops;

namespace kerngrad::rules {

/// Swaps the last two axes of the left matrix.
inline tensor transposed_product(const tensor& a, const tensor& b) { return matmul(a, b, true); }

inline tensor on_rows(const tensor& x) { return expand_dims(x, -1); }

/// The shape of a gradient before it is summed up over axes that its operand repeats.
inline shape repeated(const shape& rows, std::int64_t count, std::int64_t columns) {
  std::vector<std::int64_t> sizes(rows.begin(), rows.end());
  sizes.back() = count;
  sizes.push_back(columns);
  return shape(sizes);
}

/// The gradient of query, key or value, operand `i`, in the result of ScaledDotProductAttentionGrad. `rows` is the
/// shape of log_sum.
template <class C>
tensor part_of_pull(const C& c, const tensor& all, const shape& rows, int i) {
  std::int64_t begin = 0;
  for (int before = 0;; ++before) {
    const shape& dims = c.dims(before);
    const shape one = repeated(rows, dims[dims.rank() - 2], dims[dims.rank() - 1]);
    if (before == i) return reshape(slice(all, {begin}, {one.size()}), one);
    begin += one.size();
  }
}

/// x in float32 if it is half precision. The library's kernels save float32, but a registered kernel may take halves.
inline tensor widened(const tensor& x) { return cast(x, promote(x.type(), dtype::float32)); }

/// exp(score - log_sum). Masks are operands `bias` and `bias` + 1.
template <class C>
tensor attention_weights(const C& c, const tensor& log_sum, int bias) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  tensor scores = matmul(widened(c.in(0)) * c.template attr<"scale">().as_number(), widened(c.in(1)), false, true);
  if (c.in(bias).defined()) scores = scores + widened(c.in(bias));
  if (c.in(bias + 1).defined()) scores = where(c.in(bias + 1), scores, none);
  if (c.template attr<"causal">().as_bool()) {
    const auto indices = [&](int axis_from_end) {
      return arange(0, static_cast<double>(scores.dims()[scores.rank() - axis_from_end]), 1, dtype::int64);
    };
    scores = where(indices(1) > on_rows(indices(2)), none, scores);
  }
  return exp(scores - on_rows(widened(log_sum)));
}

// ------------------------------------------------------------------------------------------ first order

inline constexpr auto attention_delta = [](const auto& c) {
  return c.template once<1>([&] { return sum(widened(c.dy(0)) * c.out(0), -1) - c.dy(1); });
};
inline constexpr auto attention_pull = [](const auto& c) {
  return c.template once<0>([&] {
    return call_like<"ScaledDotProductAttentionGrad">(c, c.in(0), c.in(1), c.in(2), c.out(1), attention_delta(c),
                                                      c.dy(0), c.in(3), c.in(4));
  });
};
/// The rule of query, key or value.
template <int I>
inline constexpr auto attention_to =
    [](const auto& c) { return c.reduced(I, part_of_pull(c, attention_pull(c), c.out(1).dims(), I)); };
inline constexpr auto attention_to_bias = [](const auto& c) {
  const tensor products = matmul(widened(c.dy(0)), widened(c.in(2)), false, true);
  return c.reduced(3, attention_weights(c, c.out(1), 3) * (products - on_rows(attention_delta(c))));
};

// ------------------------------------------------------------------------------------------ second order

// With the gradients a, b and d of the results scale ds key, scale ds^T query and w^T dy:
//   g = scale (a key^T + query b^T) is that of ds,   gw that of p,   h = w (dy d^T + g (p - delta)) that of the scores.
inline constexpr auto weights_again = [](const auto& c) {
  return c.template once<0>([&] { return attention_weights(c, c.in(3), 6); });
};
inline constexpr auto centred_products = [](const auto& c) {
  return matmul(widened(c.in(5)), widened(c.in(2)), false, true) - on_rows(c.in(4));
};
inline constexpr auto scale_of = [](const auto& c) { return c.template attr<"scale">().as_number(); };
template <int I>
inline constexpr auto pull_of = [](const auto& c) { return part_of_pull(c, widened(c.dy()), c.dims(3), I); };
inline constexpr auto to_slopes = [](const auto& c) {
  const tensor of_query = matmul(pull_of<0>(c), widened(c.in(1)), false, true);
  return (of_query + matmul(widened(c.in(0)), pull_of<1>(c), false, true)) * scale_of(c);
};
inline constexpr auto to_products = [](const auto& c) { return to_slopes(c) * weights_again(c); };
inline constexpr auto to_scores = [](const auto& c) {
  return c.template once<1>([&] {
    const tensor to_weights = matmul(widened(c.in(5)), pull_of<2>(c), false, true) + to_slopes(c) * centred_products(c);
    return weights_again(c) * to_weights;
  });
};

inline constexpr auto again_to_query = [](const auto& c) {
  const tensor slopes = weights_again(c) * centred_products(c);
  return c.reduced(0, (matmul(slopes, pull_of<1>(c)) + matmul(to_scores(c), widened(c.in(1)))) * scale_of(c));
};
inline constexpr auto again_to_key = [](const auto& c) {
  const tensor slopes = weights_again(c) * centred_products(c);
  const tensor both = transposed_product(slopes, pull_of<0>(c)) + transposed_product(to_scores(c), widened(c.in(0)));
  return c.reduced(1, both * scale_of(c));
};
inline constexpr auto again_to_dy = [](const auto& c) {
  return matmul(weights_again(c), pull_of<2>(c)) + matmul(to_products(c), widened(c.in(2)));
};

inline constexpr kept attention_values = keep::all_in | keep::out0 | keep::out1;

inline constexpr auto attention_rules = family_rules(rule_list{
    rule<"ScaledDotProductAttention">(wrt(attention_values, attention_to<0>), wrt(attention_values, attention_to<1>),
                                      wrt(attention_values, attention_to<2>), wrt(attention_values, attention_to_bias),
                                      constant_operand()),
    rule<"ScaledDotProductAttentionGrad">(
        wrt(keep::all_in, again_to_query), wrt(keep::all_in, again_to_key),
        wrt(keep::all_in,
            [](const auto& c) { return c.reduced(2, transposed_product(to_products(c), widened(c.in(5)))); }),
        wrt(keep::all_in, [](const auto& c) { return -sum(to_scores(c), -1); }),
        wrt(keep::all_in, [](const auto& c) { return -sum(to_products(c), -1); }), wrt(keep::all_in, again_to_dy),
        wrt(keep::all_in, [](const auto& c) { return c.reduced(6, to_scores(c)); }), constant_operand()),
});

}  // namespace kerngrad::rules
