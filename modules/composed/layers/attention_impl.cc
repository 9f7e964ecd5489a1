// SPDX-License-Identifier: Apache-2.0
module;
#include <cmath>
#include <limits>
#include <string>
#include <vector>
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
  const tensor& mask = options.mask;
  if (mask.defined() && mask.type() != dtype::boolean) attention.floating("mask", mask);
}

void check_scale(double scale, dtype type) {
  const double most = type == dtype::float64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (!(std::fabs(scale) <= most))
    attention.refuse("scale " + to_string(attr_value(scale)), "a finite number up to " + to_string(attr_value(most)));
}

// Axes before the matrices, which broadcast.
shape batch_of(const tensor& query, const tensor& key, const tensor& value) {
  std::optional<shape> batch = shape();
  for (const tensor* x : {&query, &key, &value})
    if (batch) batch = broadcast(*batch, shape(x->dims().dims().first(static_cast<std::size_t>(x->rank()) - 2)));
  if (!batch)
    attention.refuse(shaped("query", query) + ", " + shaped("key", key) + " and " + shaped("value", value),
                     "axes before the last two that broadcast");
  return *batch;
}

void check_mask(const tensor& mask, const shape& batch, std::int64_t length, std::int64_t keys) {
  if (!mask.defined()) return;
  std::vector<std::int64_t> sizes(batch.begin(), batch.end());
  sizes.insert(sizes.end(), {length, keys});
  const shape scores(sizes);
  const std::optional<shape> both = broadcast(scores, mask.dims());
  if (!both || !(*both == scores))
    attention.refuse(shaped("mask", mask), "a shape that broadcasts to that of the scores, " + to_string(scores));
}

// The products of rows without numbers are 0, as those of rows of one 0 are.
tensor with_numbers(const tensor& x) {
  if (size_from_end(x, 1) != 0) return detail::widened(x);
  std::vector<std::int64_t> sizes(x.dims().begin(), x.dims().end());
  sizes.back() = 1;
  return detail::widened(zeros(shape(sizes), x.type()));
}

}  // namespace

tensor scaled_dot_product_attention(const tensor& query, const tensor& key, const tensor& value,
                                    const attention_options& options) {
  check_operands(query, key, value, options);
  const dtype type = detail::promoted({&query, &key, &value});
  const auto numbers = static_cast<double>(size_from_end(query, 1));
  const double scale = options.scale.value_or(numbers == 0 ? 1 : 1 / std::sqrt(numbers));
  check_scale(scale, type);
  const tensor& mask = options.mask;
  check_mask(mask, batch_of(query, key, value), size_from_end(query, 2), size_from_end(key, 2));
  const bool is_choice = mask.defined() && mask.type() == dtype::boolean;
  const tensor bias = mask.defined() && !is_choice ? cast(mask, promote(type, dtype::float32)) : tensor();
  const auto results = call<"ScaledDotProductAttention">(with_numbers(query), with_numbers(key), detail::widened(value),
                                                         bias, is_choice ? mask : tensor(),
                                                         attr<"causal">(options.causal), attr<"scale">(scale));
  return detail::narrowed(results[0], type);
}

}  // namespace kerngrad
