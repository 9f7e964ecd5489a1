// SPDX-License-Identifier: Apache-2.0
// Attention without a matrix of scores, after Dao, Fu, Ermon, Rudra and Re, "FlashAttention" (2022). A block of queries
// meets one block of keys after another. Sums of exp(score - m) and of weighted values are kept for the greatest score
// m so far, and scaled down when it grows. The gradient computes the weights again from the logarithm of their sum.
//
// Memory besides operands and results: packed matrices of a head, linear in length and keys, and one block of scores.
// Error: as softmax between two matrix products. The weights of a block are summed up in T, blocks in double.
// A key that a query does not see has the weight 0, which multiplies its value: NaN stays NaN. If causal, keys past
// the last query of a block are not read.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/products-inl.h"
#include "kernels/common/chunks.h"
#include "kernels/math/math-inl.h"
#include "kernels/softmax/exp-below-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

template <class T> inline constexpr T infinity = std::numeric_limits<T>::infinity();

// A block of scores: queries, in whole tiles, by keys. 128 keys and the values of two vectors stay in the first-level
// cache.
constexpr std::ptrdiff_t query_block = 128 / tile_rows * tile_rows;
template <class T>
std::ptrdiff_t key_block() {
  return std::max<std::ptrdiff_t>(128, tile_columns<T>());
}
// Distance of the rows of a block. One more vector keeps rows out of each other's cache sets.
template <class T>
std::ptrdiff_t row_step() {
  return key_block<T>() + lanes<T>();
}

// Queries that are packed for, and run, at once: the keys of few heads serve several threads.
std::ptrdiff_t rows_at_once(const attention_geometry& g) { return g.heads() < 8 ? 4 * query_block : 32 * query_block; }

// Operands of one head.
template <class T>
struct head {
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

  bool sees_a_key(std::int64_t row) const {
    const std::int64_t keys = g.keys_before(row + 1);
    bool any = !seen && keys > 0;
    for (std::int64_t j = 0; seen && j < keys && !any; ++j) any = seen[row * g.seen.row + j * g.seen.column] != 0;
    return any;
  }
};

// Queries [row, row + rows) and keys [key, key + keys).
struct block {
  std::ptrdiff_t row, rows, key, keys;
};

// Calls f(row, rows) for blocks of queries [first, first + count).
template <class F>
void each_query_block(std::ptrdiff_t first, std::ptrdiff_t count, const F& f) {
  for (std::ptrdiff_t at = 0; at < count; at += query_block) f(first + at, std::min(query_block, count - at));
}

// Calls f(block) for all keys that queries [row, row + rows) may see.
template <class T, class F>
void each_key_block(const attention_geometry& g, std::ptrdiff_t row, std::ptrdiff_t rows, const F& f) {
  const std::ptrdiff_t keys = g.keys_before(row + rows);
  for (std::ptrdiff_t key = 0; key < keys; key += key_block<T>())
    f(block{row, rows, key, std::min(key_block<T>(), keys - key)});
}

// Adds the bias to scores, and makes those -infinity that do not count. So are the ones that fill up the last vector.
template <class T>
void mask_scores(const head<T>& of, const block& b, T* scores) {
  const attention_geometry& g = of.g;
  const std::ptrdiff_t padded = whole_vectors<T>(b.keys);
  for (std::ptrdiff_t i = 0; i < b.rows; ++i, scores += row_step<T>()) {
    const std::ptrdiff_t row = b.row + i;
    if (of.bias) {
      const T* const bias = of.bias + row * g.bias.row + b.key * g.bias.column;
      for (std::ptrdiff_t j = 0; j < b.keys; ++j) scores[j] += bias[j * g.bias.column];
    }
    if (of.seen) {
      const std::uint8_t* const seen = of.seen + row * g.seen.row + b.key * g.seen.column;
      for (std::ptrdiff_t j = 0; j < b.keys; ++j) scores[j] = seen[j * g.seen.column] != 0 ? scores[j] : -infinity<T>;
    }
    const std::ptrdiff_t last = std::clamp<std::ptrdiff_t>(g.keys_before(row + 1) - b.key, 0, b.keys);
    std::fill(scores + last, scores + padded, -infinity<T>);
  }
}

// Packed queries of a block, times the scale.
template <class T>
left_matrix<T> scaled_queries(const head<T>& of, std::ptrdiff_t row, std::ptrdiff_t rows, scratch<T>& room) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t numbers = of.g.numbers, count = rows * numbers;
  T* const packed = room.reach(count + lanes<T>());
  pack_left_tiles(of.query + row * numbers, rows, numbers, packed);
  const auto scale = hn::Set(d, static_cast<T>(of.g.scale));
  for (std::ptrdiff_t i = 0; i < count; i += lanes<T>())
    hn::StoreU(hn::Mul(hn::LoadU(d, packed + i), scale), d, packed + i);
  return {packed, 0, left_matrix<T>::layout::packed};
}

template <class T>
HWY_INLINE T greatest(const T* x, std::ptrdiff_t padded) {
  const hn::ScalableTag<T> d;
  auto first = hn::Set(d, -infinity<T>), second = first;
  std::ptrdiff_t j = 0;
  for (; j + 2 * lanes<T>() <= padded; j += 2 * lanes<T>()) {
    first = hn::Max(first, hn::LoadU(d, x + j));
    second = hn::Max(second, hn::LoadU(d, x + j + lanes<T>()));
  }
  if (j < padded) first = hn::Max(first, hn::LoadU(d, x + j));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(first, second)));
}

// x = exp(x - shift), and the sum of that.
template <class T>
HWY_INLINE T exponentials(T* x, std::ptrdiff_t padded, T shift) {
  const hn::ScalableTag<T> d;
  const auto less = hn::Set(d, shift);
  auto first = hn::Zero(d), second = first;
  const auto weights = [&](std::ptrdiff_t j) HWY_ATTR {
    const auto e = exp_below(d, hn::Sub(hn::LoadU(d, x + j), less));
    hn::StoreU(e, d, x + j);
    return e;
  };
  std::ptrdiff_t j = 0;
  for (; j + 2 * lanes<T>() <= padded; j += 2 * lanes<T>()) {
    first = hn::Add(first, weights(j));
    second = hn::Add(second, weights(j + lanes<T>()));
  }
  if (j < padded) first = hn::Add(first, weights(j));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
}

template <class T>
void multiply_row(T* x, std::ptrdiff_t n, T factor) {
  const hn::ScalableTag<T> d;
  std::ptrdiff_t i = 0;
  for (; i + lanes<T>() <= n; i += lanes<T>()) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  for (; i < n; ++i) x[i] *= factor;
}

// One of exp and log for a single number, bitwise as for vectors.
template <class T>
T exponential(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(exp_below(d, hn::Set(d, x)));
}
template <class T>
T logarithm(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(Log(d, hn::Set(d, x)));
}

// State of a block of queries: the greatest score and the sum of each one.
template <class T>
struct running {
  T most[query_block];
  double total[query_block];

  explicit running(std::ptrdiff_t rows) {
    std::fill_n(most, rows, -infinity<T>);
    std::fill_n(total, rows, 0.0);
  }
  // Makes weights of scores. Scales down what there is of y where the greatest score grows.
  void add(const block& b, T* scores, T* y, std::ptrdiff_t out) {
    const std::ptrdiff_t padded = whole_vectors<T>(b.keys);
    for (std::ptrdiff_t i = 0; i < b.rows; ++i) {
      T* const row = scores + i * row_step<T>();
      const T before = most[i], now = std::max(before, greatest(row, padded));
      if (b.key > 0 && now != before) {
        const T factor = exponential(before - now);
        total[i] *= static_cast<double>(factor);
        multiply_row(y + i * out, out, factor);
      }
      most[i] = now;
      total[i] += static_cast<double>(exponentials(row, padded, now == -infinity<T> ? T{0} : now));
    }
  }
  // Divides by the sums.
  void finish(const head<T>& of, std::ptrdiff_t row, std::ptrdiff_t rows, T* y, T* log_sum) const {
    const std::ptrdiff_t out = of.g.out;
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      if (most[i] == -infinity<T> && !of.sees_a_key(row + i)) {
        std::fill_n(y + i * out, out, T{0});
        log_sum[i] = T{0};
        continue;
      }
      const T shift = most[i] == -infinity<T> ? T{0} : most[i];
      multiply_row(y + i * out, out, static_cast<T>(1 / total[i]));
      log_sum[i] = shift + logarithm(static_cast<T>(total[i]));
    }
  }
};

// Queries [first, first + count) of a head; y and log_sum are those of the head.
template <class T>
void attend(const head<T>& of, std::ptrdiff_t first, std::ptrdiff_t count, T* y, T* log_sum) {
  using right = right_matrix<T>;
  using left = left_matrix<T>;
  const attention_geometry& g = of.g;
  const std::ptrdiff_t keys = g.keys_before(first + count);
  right key(of.key, g.numbers, keys, right::layout::transposed), value(of.value, keys, g.out, right::layout::rows);
  scratch<T> room, scores(query_block * row_step<T>());
  each_query_block(first, count, [&](std::ptrdiff_t row, std::ptrdiff_t rows) {
    const left query = scaled_queries(of, row, rows, room);
    running<T> state(rows);
    each_key_block<T>(g, row, rows, [&](const block& b) {
      multiply({rows, b.keys, g.numbers, b.key, 0}, query, key, scores.data(), row_step<T>(), false);
      mask_scores(of, b, scores.data());
      state.add(b, scores.data(), y + row * g.out, g.out);
      multiply({rows, g.out, b.keys, 0, b.key}, left{scores.data(), row_step<T>(), left::layout::rows}, value,
               y + row * g.out, g.out, b.key > 0);
    });
    state.finish(of, row, rows, y + row * g.out, log_sum + row);
  });
}

template <dtype Type, class T = storage_t<Type>>
void ScaledDotProductAttention(const attention_geometry& g, const T* query, const T* key, const T* value, const T* bias,
                               const std::uint8_t* seen, T* y, T* log_sum) {
  const even_parts parts(g.length, rows_at_once(g));
  const std::int64_t heads = g.heads();
  run_in_chunks(heads * parts.count, saturated_product(heads, g.length, g.keys, g.numbers + g.out),
                [&](std::ptrdiff_t chunk) {
                  const std::ptrdiff_t at = chunk / parts.count, part = chunk % parts.count;
                  attend(head<T>(g, at, query, key, value, bias, seen), parts.begin(part), parts.size(part),
                         y + at * g.length * g.out, log_sum + at * g.length);
                });
}

// Weights exp(score - log_sum), in place, and slopes weight * (product - delta), in place of the products.
template <class T>
void weights_and_slopes(const block& b, const T* log_sum, const T* delta, T* scores, T* products) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t padded = whole_vectors<T>(b.keys);
  for (std::ptrdiff_t i = 0; i < b.rows; ++i, scores += row_step<T>(), products += row_step<T>()) {
    const auto less = hn::Set(d, log_sum[i]), mean = hn::Set(d, delta[i]);
    for (std::ptrdiff_t j = 0; j < padded; j += lanes<T>()) {
      const auto weight = Exp(d, hn::Sub(hn::LoadU(d, scores + j), less));
      hn::StoreU(weight, d, scores + j);
      hn::StoreU(hn::Mul(weight, hn::Sub(hn::LoadU(d, products + j), mean)), d, products + j);
    }
  }
}

// Matrices of one head of the gradient; the results are zeros.
template <class T>
struct pulled {
  const T *log_sum, *delta, *dy;
  T *to_query, *to_key, *to_value;
};

template <class T>
void pull(const head<T>& of, const pulled<T>& at) {
  using right = right_matrix<T>;
  using left = left_matrix<T>;
  const attention_geometry& g = of.g;
  const T scale = static_cast<T>(g.scale);
  const std::ptrdiff_t keys = g.keys_before(g.length), numbers = g.numbers, out = g.out, step = row_step<T>();
  right key(of.key, numbers, keys, right::layout::transposed), key_rows(of.key, keys, numbers, right::layout::rows);
  right value(of.value, out, keys, right::layout::transposed), dy_rows(at.dy, g.length, out, right::layout::rows);
  right query_rows(of.query, g.length, numbers, right::layout::rows);
  query_rows.scale(scale);
  key_rows.scale(scale);
  scratch<T> queries, dys, all(2 * query_block * step);
  T *const scores = all.data(), *const products = scores + query_block * step;
  each_query_block(0, g.length, [&](std::ptrdiff_t row, std::ptrdiff_t rows) {
    const left query = scaled_queries(of, row, rows, queries);
    pack_left_tiles(at.dy + row * out, rows, out, dys.reach(product_of(rows, out)));
    const left dy{dys.data(), 0, left::layout::packed};
    each_key_block<T>(g, row, rows, [&](const block& b) {
      multiply({rows, b.keys, numbers, b.key, 0}, query, key, scores, step, false);
      mask_scores(of, b, scores);
      multiply({rows, b.keys, out, b.key, 0}, dy, value, products, step, false);
      weights_and_slopes(b, at.log_sum + row, at.delta + row, scores, products);
      multiply({rows, numbers, b.keys, 0, b.key}, left{products, step, left::layout::rows}, key_rows,
               at.to_query + row * numbers, numbers, true);
      multiply({b.keys, numbers, rows, 0, row}, left{products, step, left::layout::transposed}, query_rows,
               at.to_key + b.key * numbers, numbers, true);
      multiply({b.keys, out, rows, 0, row}, left{scores, step, left::layout::transposed}, dy_rows,
               at.to_value + b.key * out, out, true);
    });
  });
}

template <dtype Type, class T = storage_t<Type>>
void ScaledDotProductAttentionGrad(const attention_geometry& g, const T* query, const T* key, const T* value,
                                   const T* log_sum, const T* delta, const T* dy, const T* bias,
                                   const std::uint8_t* seen, T* dx) {
  const std::int64_t heads = g.heads(), of_query = g.length * g.numbers, of_key = g.keys * g.numbers,
                     of_value = g.keys * g.out;
  std::fill_n(dx, product_of(heads, sum_of(of_query, of_key, of_value)), T{0});
  T *const to_key = dx + heads * of_query, *const to_value = to_key + heads * of_key;
  run_in_chunks(heads, saturated_product(heads, g.length, g.keys, g.numbers + g.out), [&](std::ptrdiff_t at) {
    pull(head<T>(g, at, query, key, value, bias, seen),
         pulled<T>{log_sum + at * g.length, delta + at * g.length, dy + at * g.length * g.out, dx + at * of_query,
                   to_key + at * of_key, to_value + at * of_value});
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_ATTENTION_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_ATTENTION_KERNELS)

}  // namespace kerngrad::kernels
#endif
