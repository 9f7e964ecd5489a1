// SPDX-License-Identifier: Apache-2.0
// Attention from the definition, a row of scores at a time, in the next wider type; rounded once.
#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/common/reference_scalar.h"
#include "kernels/common/sizes.h"

namespace kerngrad::kernels::reference {
namespace {

// The operands of one head.
template <class T>
struct head {
  using wide = wide_t<T>;
  const attention_geometry& g;
  const T *query, *key, *value, *bias;
  const std::uint8_t* seen;

  head(const attention_geometry& of, std::int64_t at, const T* q, const T* k, const T* v, const T* b,
       const std::uint8_t* s)
      : g(of),
        query(q + of.offset(of.query, at)),
        key(k + of.offset(of.key, at)),
        value(v + of.offset(of.value, at)),
        bias(b ? b + of.offset(of.bias, at) : nullptr),
        seen(s ? s + of.offset(of.seen, at) : nullptr) {}

  bool sees(std::int64_t i, std::int64_t j) const {
    return (!g.causal || j <= i) && (!seen || seen[i * g.seen.row + j * g.seen.column] != 0);
  }
  wide score(std::int64_t i, std::int64_t j) const {
    wide sum = 0;
    for (std::int64_t e = 0; e < g.numbers; ++e) sum += wide{query[i * g.numbers + e]} * key[j * g.numbers + e];
    sum *= static_cast<wide>(g.scale);
    return bias ? sum + bias[i * g.bias.row + j * g.bias.column] : sum;
  }
};

template <class T>
void attend(const head<T>& of, std::int64_t i, T* y, T* log_sum) {
  using wide = wide_t<T>;
  constexpr wide infinity = std::numeric_limits<wide>::infinity();
  const std::int64_t keys = of.g.keys_before(of.g.length);
  std::vector<wide> weights(static_cast<std::size_t>(keys), -infinity);
  wide most = -infinity, total = 0;
  bool any = false;
  for (std::int64_t j = 0; j < keys; ++j) {
    if (!of.sees(i, j)) continue;
    any = true;
    wide& score = weights[static_cast<std::size_t>(j)];
    score = of.score(i, j);
    most = std::max(most, score);
  }
  const wide shift = most == -infinity ? 0 : most;
  for (wide& weight : weights) total += weight = std::exp(weight - shift);
  for (std::int64_t c = 0; c < of.g.out; ++c) {
    wide sum = 0;
    for (std::int64_t j = 0; j < keys; ++j) sum += weights[static_cast<std::size_t>(j)] * of.value[j * of.g.out + c];
    y[c] = static_cast<T>(any ? sum / total : 0);
  }
  *log_sum = static_cast<T>(any ? shift + std::log(total) : wide{0});
}

template <dtype Type, class T = storage_t<Type>>
void ScaledDotProductAttention(const attention_geometry& g, const T* query, const T* key, const T* value, const T* bias,
                               const std::uint8_t* seen, T* y, T* log_sum) {
  for (std::int64_t at = 0; at < g.heads(); ++at) {
    const head<T> of(g, at, query, key, value, bias, seen);
    for (std::int64_t i = at * g.length; i < (at + 1) * g.length; ++i)
      attend(of, i - at * g.length, y + i * g.out, log_sum + i);
  }
}

// Adds what query i contributes to the gradients of its head.
template <class T>
void add_gradients(const head<T>& of, std::int64_t i, const T* dy, wide_t<T> log_sum, wide_t<T> delta, wide_t<T>* dq,
                   wide_t<T>* dk, wide_t<T>* dv) {
  using wide = wide_t<T>;
  const attention_geometry& g = of.g;
  for (std::int64_t j = 0; j < g.keys_before(g.length); ++j) {
    const wide weight = of.sees(i, j) ? std::exp(of.score(i, j) - log_sum) : 0;
    wide product = 0;
    for (std::int64_t c = 0; c < g.out; ++c) {
      product += wide{dy[c]} * of.value[j * g.out + c];
      dv[j * g.out + c] += weight * dy[c];
    }
    const wide slope = weight * (product - delta) * static_cast<wide>(g.scale);
    for (std::int64_t e = 0; e < g.numbers; ++e) {
      dq[i * g.numbers + e] += slope * of.key[j * g.numbers + e];
      dk[j * g.numbers + e] += slope * of.query[i * g.numbers + e];
    }
  }
}

template <dtype Type, class T = storage_t<Type>>
void ScaledDotProductAttentionGrad(const attention_geometry& g, const T* query, const T* key, const T* value,
                                   const T* log_sum, const T* delta, const T* dy, const T* bias,
                                   const std::uint8_t* seen, T* dx) {
  using wide = wide_t<T>;
  const std::int64_t heads = g.heads();
  T* const dk = dx + heads * g.length * g.numbers;
  T* const dv = dk + heads * g.keys * g.numbers;
  const auto round_to = [](const std::vector<wide>& from, T* to) {
    std::ranges::transform(from, to, [](wide x) { return static_cast<T>(x); });
  };
  for (std::int64_t at = 0; at < heads; ++at) {
    const head<T> of(g, at, query, key, value, bias, seen);
    std::vector<wide> to_query(extent(g.length, g.numbers)), to_key(extent(g.keys, g.numbers)),
        to_value(extent(g.keys, g.out));
    for (std::int64_t i = 0; i < g.length; ++i) {
      const std::int64_t row = at * g.length + i;
      add_gradients<T>(of, i, dy + row * g.out, log_sum[row], delta[row], to_query.data(), to_key.data(),
                       to_value.data());
    }
    round_to(to_query, dx + at * g.length * g.numbers);
    round_to(to_key, dk + at * g.keys * g.numbers);
    round_to(to_value, dv + at * g.keys * g.out);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_ATTENTION_KERNELS)

}  // namespace kerngrad::kernels::reference
