// SPDX-License-Identifier: Apache-2.0
module;
#include <cmath>
#include <limits>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

constexpr composed attention{"scaled_dot_product_attention"};

std::int64_t size_from_end(const tensor& x, int axis) { return x.dims()[x.rank() - axis]; }

void check_operands(const tensor& query, const tensor& key, const tensor& value, const attention_options& options) {
  for (const auto& [name, x] : {std::pair{"query", &query}, {"key", &key}, {"value", &value}}) {
    attention.rank(name, *x, 2);
    attention.floating(name, *x);
  }
  if (size_from_end(query, 1) != size_from_end(key, 1))
    attention.refuse(shaped("query", query) + " and " + shaped("key", key), "as many numbers in both");
  if (size_from_end(key, 2) != size_from_end(value, 2))
    attention.refuse(shaped("key", key) + " and " + shaped("value", value), "as many keys as values");
  if (options.scale && !std::isfinite(*options.scale))
    attention.refuse("scale " + std::to_string(*options.scale), "a finite number");
  const tensor& mask = options.mask;
  if (mask.defined() && mask.type() != dtype::boolean) attention.floating("mask", mask);
}

// Scores of keys that are not seen are -infinity, which softmax makes 0. Every query sees the first key.
tensor causal_scores(const tensor& scores) {
  const tensor above = detail::columns_less_rows(size_from_end(scores, 2), size_from_end(scores, 1)) > 0;
  return where(above, -std::numeric_limits<double>::infinity(), scores);
}

// A softmax of -infinity alone would be NaN, and so would its gradient. The least number in its place gives finite
// weights, which the outer choice sets to 0.
tensor weights_of_seen(const tensor& scores, const tensor& seen) {
  const double least = scores.type() == dtype::float64 ? std::numeric_limits<double>::lowest()
                                                       : double{std::numeric_limits<float>::lowest()};
  return where(seen, softmax(where(seen, scores, least)), 0);
}

}  // namespace

tensor scaled_dot_product_attention(const tensor& query, const tensor& key, const tensor& value,
                                    const attention_options& options) {
  check_operands(query, key, value, options);
  const dtype type = detail::promoted({&query, &key, &value});
  const auto numbers = static_cast<double>(size_from_end(query, 1));
  const double scale = options.scale.value_or(numbers == 0 ? 1 : 1 / std::sqrt(numbers));
  tensor scores = matmul(detail::widened(query) * scale, detail::widened(key), false, true);
  const tensor& mask = options.mask;
  const bool is_choice = mask.defined() && mask.type() == dtype::boolean;
  if (mask.defined()) attention.broadcasts_to("mask", mask, "scores", scores);
  if (mask.defined() && !is_choice) scores = scores + cast(mask, scores.type());
  if (options.causal) scores = causal_scores(scores);
  const tensor weights = is_choice ? weights_of_seen(scores, mask) : softmax(scores);
  return detail::narrowed(matmul(weights, detail::widened(value)), type);
}

}  // namespace kerngrad
