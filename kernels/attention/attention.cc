// SPDX-License-Identifier: Apache-2.0
// Attention without a matrix of scores, after Dao, Fu, Ermon, Rudra and Re, "FlashAttention" (2022). A block of queries
// meets one block of keys after another. Sums of exp(score - m) and of weighted values are kept for the greatest score
// m so far, and scaled down when it grows. The gradient computes the weights again from the logarithm of their sum.
//
// Memory besides operands and results: packed matrices of a head, linear in length and keys, and one block of scores.
// Error: as softmax between two matrix products. The weights of a block are summed up in T, blocks in double. Weights
// that are about as small as a denormal next to the greatest one, 1, are 0, except on AVX-512. The gradient takes
// weights from a rounded logarithm of sums: each has a relative error of eps * |log_sum|, where softmax has one of eps
// * |score - greatest score|. A key that a query does not see has the weight 0, which multiplies its value: NaN stays
// NaN. If causal, keys past the last query of a block are not read.
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

// A block of scores: queries, in whole tiles, by keys. The forward pass keeps it in the first-level cache, next to 128
// keys and the values of two vectors. The gradient sums over the queries of a block, so that more are faster.
constexpr std::ptrdiff_t forward_block = 36 / tile_rows * tile_rows;
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
struct head_operands {
  const attention_geometry& g;
  const T *query, *key, *value, *bias;
  const std::uint8_t* seen;

  head_operands(const attention_geometry& of, std::int64_t at, const T* q, const T* k, const T* v, const T* b,
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

// Calls f(row, rows) for blocks of at most `most` queries of [first, first + count).
template <class F>
void each_query_block(std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t most, const F& f) {
  for (std::ptrdiff_t at = 0; at < count; at += most) f(first + at, std::min(most, count - at));
}

// Calls f(block) for those of keys [first, first + count) that queries [row, row + rows) may see.
template <class T, class F>
void each_key_block(const attention_geometry& g, std::ptrdiff_t row, std::ptrdiff_t rows, std::ptrdiff_t first,
                    std::ptrdiff_t count, const F& f) {
  const std::ptrdiff_t end = std::min(first + count, g.keys_before(row + rows));
  for (std::ptrdiff_t key = first; key < end; key += key_block<T>())
    f(block{row, rows, key, std::min(key_block<T>(), end - key)});
}

// Adds the bias to scores, and makes those -infinity that do not count. So are the ones that fill up the last vector.
template <class T>
void mask_scores(const head_operands<T>& of, const block& b, T* scores) {
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
left_matrix<T> scaled_queries(const head_operands<T>& of, std::ptrdiff_t row, std::ptrdiff_t rows, scratch<T>& room) {
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

// e^x for x <= 0 or NaN. It is 0 below e^-87 or e^-708, so that a power of two is one exponent. AVX-512 scales by any
// exponent in one instruction, and keeps denormals.
template <class D, class V>
HWY_INLINE V weight_of(D d, V x) {
#if KG_AVX512
  return exp_below(d, x);
#else
  using T = hn::TFromD<D>;
  using constants = exp_constants<T>;
  constexpr double least = sizeof(T) == 4 ? -87 : -708;
  V k, unused;
  const V r = ReduceExp(d, x, k, unused);
  const V p = Polynomial(d, r, constants::whole), one = Constant(d, 1.0);
#if HWY_NATIVE_FMA
  const V e = hn::MulAdd(hn::MulAdd(p, r, one), r, one);
#else
  const V e = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), one);
#endif
  return hn::IfThenZeroElse(hn::Lt(x, Constant(d, least)), hn::Mul(e, PowerOfTwo(d, k)));
#endif
}

// x = exp(x - shift), and the sum of that.
template <class T>
HWY_INLINE T exponentials(T* x, std::ptrdiff_t padded, T shift) {
  const hn::ScalableTag<T> d;
  const auto less = hn::Set(d, shift);
  auto first = hn::Zero(d), second = first;
  const auto weights = [&](std::ptrdiff_t j) HWY_ATTR {
    const auto e = weight_of(d, hn::Sub(hn::LoadU(d, x + j), less));
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
  return hn::GetLane(weight_of(d, hn::Set(d, x)));
}
template <class T>
T logarithm(T x) {
  const hn::ScalableTag<T> d;
  return hn::GetLane(Log(d, hn::Set(d, x)));
}

// State of a block of queries: the greatest score and the sum of each one.
template <class T>
struct running {
  T most[forward_block];
  double total[forward_block];

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
  void finish(const head_operands<T>& of, std::ptrdiff_t row, std::ptrdiff_t rows, T* y, T* log_sum) const {
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
void attend(const head_operands<T>& of, std::ptrdiff_t first, std::ptrdiff_t count, T* y, T* log_sum) {
  using right = right_matrix<T>;
  using left = left_matrix<T>;
  const attention_geometry& g = of.g;
  const std::ptrdiff_t keys = g.keys_before(first + count);
  right key(of.key, g.numbers, keys, right::layout::transposed), value(of.value, keys, g.out, right::layout::rows);
  scratch<T> room, scores(forward_block * row_step<T>());
  each_query_block(first, count, forward_block, [&](std::ptrdiff_t row, std::ptrdiff_t rows) {
    const left query = scaled_queries(of, row, rows, room);
    running<T> state(rows);
    each_key_block<T>(g, row, rows, 0, g.keys, [&](const block& b) {
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
                  attend(head_operands<T>(g, at, query, key, value, bias, seen), parts.begin(part), parts.size(part),
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

// Queries and keys that a part of the gradient takes, and the results that it adds to. Both ranges are whole blocks, so
// that a result is bitwise identical in any part that has all of its terms.
struct pulled_part {
  std::ptrdiff_t row, rows, key, keys;
  bool to_query, to_keys;
};

template <class T>
void pull(const head_operands<T>& of, const pulled<T>& at, const pulled_part& part) {
  using right = right_matrix<T>;
  using left = left_matrix<T>;
  const attention_geometry& g = of.g;
  const T scale = static_cast<T>(g.scale);
  const std::ptrdiff_t numbers = g.numbers, out = g.out, step = row_step<T>(), end = part.row + part.rows;
  const std::ptrdiff_t keys = std::min(part.keys, g.keys_before(end) - part.key);
  if (keys <= 0) return;
  const T *const key_at = of.key + part.key * numbers, *const value_at = of.value + part.key * out;
  right key(key_at, numbers, keys, right::layout::transposed), value(value_at, out, keys, right::layout::transposed);
  right key_rows(key_at, part.to_query ? keys : 0, numbers, right::layout::rows);
  right dy_rows(at.dy + part.row * out, part.to_keys ? part.rows : 0, out, right::layout::rows);
  right query_rows(of.query + part.row * numbers, part.to_keys ? part.rows : 0, numbers, right::layout::rows);
  query_rows.scale(scale);
  key_rows.scale(scale);
  scratch<T> queries, dys, all(2 * query_block * step);
  T *const scores = all.data(), *const products = scores + query_block * step;
  each_query_block(part.row, part.rows, query_block, [&](std::ptrdiff_t row, std::ptrdiff_t rows) {
    const left query = scaled_queries(of, row, rows, queries);
    pack_left_tiles(at.dy + row * out, rows, out, dys.reach(product_of(rows, out)));
    const left dy{dys.data(), 0, left::layout::packed};
    each_key_block<T>(g, row, rows, part.key, part.keys, [&](const block& b) {
      const std::ptrdiff_t near = b.key - part.key, below = row - part.row;
      multiply({rows, b.keys, numbers, near, 0}, query, key, scores, step, false);
      mask_scores(of, b, scores);
      multiply({rows, b.keys, out, near, 0}, dy, value, products, step, false);
      weights_and_slopes(b, at.log_sum + row, at.delta + row, scores, products);
      if (part.to_query)
        multiply({rows, numbers, b.keys, 0, near}, left{products, step, left::layout::rows}, key_rows,
                 at.to_query + row * numbers, numbers, true);
      if (!part.to_keys) return;
      multiply({b.keys, numbers, rows, 0, below}, left{products, step, left::layout::transposed}, query_rows,
               at.to_key + b.key * numbers, numbers, true);
      multiply({b.keys, out, rows, 0, below}, left{scores, step, left::layout::transposed}, dy_rows,
               at.to_value + b.key * out, out, true);
    });
  });
}

// Calls f(part) for all parts, on several threads. If there are few heads, they are cut into blocks of queries, for the
// gradient of the query, and of keys, for the others. Both compute the weights: 7 products in place of 5. Sums have the
// same order in both ways, so that the bits do not depend on the number of threads.
template <class T, class F>
void each_part(const attention_geometry& g, std::int64_t products, const F& f) {
  const std::int64_t heads = g.heads(), threads = static_cast<std::int64_t>(threads_allowed());
  if (heads >= threads || 7 * heads >= 5 * threads || products < products_worth_threads) {
    run_in_chunks(heads, products,
                  [&](std::ptrdiff_t head) { f(head, pulled_part{0, g.length, 0, g.keys, true, true}); });
    return;
  }
  const std::ptrdiff_t rows = 2 * query_block, keys = 2 * key_block<T>();
  const std::ptrdiff_t of_rows = (g.length + rows - 1) / rows, of_keys = (g.keys + keys - 1) / keys;
  run_in_chunks(heads * (of_rows + of_keys), products, [&](std::ptrdiff_t chunk) {
    const std::ptrdiff_t head = chunk / (of_rows + of_keys), at = chunk % (of_rows + of_keys), row = at * rows,
                         key = (at - of_rows) * keys;
    f(head, at < of_rows ? pulled_part{row, std::min(rows, g.length - row), 0, g.keys, true, false}
                         : pulled_part{0, g.length, key, std::min(keys, g.keys - key), false, true});
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
  each_part<T>(g, saturated_product(heads, g.length, g.keys, g.numbers + g.out),
               [&](std::ptrdiff_t at, const pulled_part& part) {
                 pull(head_operands<T>(g, at, query, key, value, bias, seen),
                      pulled<T>{log_sum + at * g.length, delta + at * g.length, dy + at * g.length * g.out,
                                dx + at * of_query, to_key + at * of_key, to_value + at * of_value},
                      part);
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
