// SPDX-License-Identifier: Apache-2.0
// Rows normalized by their own moments: their sum, the sum of the squared distances from the mean, which does not
// cancel as the difference of two sums of squares does, and the result. Rows of up to eight vectors stay in registers,
// others in a cache.
//
// Error: the sums' terms are added up in blocks of 4096 in eight vectors of the operand's type, the blocks in double;
// the rest is a few roundings, relative to the largest distance from the mean. Two kinds of rows take the passes of
// far_row: those whose squares leave the type's range, and those whose mean is so far from 0 that its rounding counts.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/layer.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/common/vectors-inl.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/norm/layer.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

constexpr std::size_t block = 4096;

// Terms of a sum: the elements, or their squared distances from the mean.
struct itself {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V sum) const {
    return hn::Add(sum, x);
  }
};
template <class T>
struct squared_distance {
  T mean;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V sum) const {
    const V distance = hn::Sub(x, hn::Set(d, mean));
    return hn::MulAdd(distance, distance, sum);
  }
};

// The sum of eight vectors, pairwise, in every lane.
template <class D, class V>
HWY_INLINE V sum_of_all(D d, const vectors<V, 8>& v) {
  const V even = hn::Add(hn::Add(v[0], v[4]), hn::Add(v[2], v[6]));
  const V odd = hn::Add(hn::Add(v[1], v[5]), hn::Add(v[3], v[7]));
  return hn::SumOfLanes(d, hn::Add(even, odd));
}

// The sum over n <= `block` elements.
template <class T, class Term>
HWY_INLINE T block_sum(const T* x, std::size_t n, Term term) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  T sum = 0;
  with_vectors<8>(d, [&](auto v) KG_INLINED {
    std::size_t i = 0;
    for (; i + 8 * lanes <= n; i += 8 * lanes)
      for (int k = 0; k < 8; ++k) v[k] = term(d, hn::LoadU(d, x + i + static_cast<std::size_t>(k) * lanes), v[k]);
    for (; i + lanes <= n; i += lanes) v[0] = term(d, hn::LoadU(d, x + i), v[0]);
    if (i < n) v[1] = hn::IfThenElse(hn::FirstN(d, n - i), term(d, load_first(d, x + i, n - i), v[1]), v[1]);
    sum = hn::GetLane(sum_of_all(d, v));
  });
  return sum;
}

template <class T, class Term>
HWY_NOINLINE double row_sum(const T* x, std::size_t n, Term term) {
  double sum = 0;
  for (std::size_t begin = 0; begin < n; begin += block)
    sum += static_cast<double>(block_sum(x + begin, std::min(block, n - begin), term));
  return sum;
}

// A square below `least_square` may have lost digits. A mean of less than `far` deviations is exact enough: its error,
// a few units in its last place, is then a part of 2^-13 of the deviation at most.
template <class T> inline constexpr T least_square = sizeof(T) == 4 ? T{0x1p-100} : static_cast<T>(0x1p-960);
constexpr double far = 32;

// Numbers y = ((x * lower - mean) - rest) * unit^-1: `lower` and `unit` are powers of two, so the products are exact.
template <class T>
struct centred {
  T lower = 1, mean = 0, rest = 0, per_unit = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V distance = hn::Sub(hn::Sub(hn::Mul(x, hn::Set(d, lower)), hn::Set(d, mean)), hn::Set(d, rest));
    return hn::Mul(distance, hn::Set(d, per_unit));
  }
};
template <class T>
struct sum_of : centred<T> {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V sum) const {
    return hn::Add(sum, centred<T>::operator()(d, x));
  }
};
template <class T>
struct sum_of_squares : centred<T> {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V sum) const {
    const V y = centred<T>::operator()(d, x);
    return hn::MulAdd(y, y, sum);
  }
};

// The largest magnitude of the numbers; any value if one of them is NaN.
template <class T>
HWY_NOINLINE double largest(const T* x, std::size_t n, const centred<T>& of) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto most = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) most = hn::Max(most, hn::Abs(of(d, hn::LoadU(d, x + i))));
  if (i < n)
    most = hn::Max(most, hn::IfThenElseZero(hn::FirstN(d, n - i), hn::Abs(of(d, load_first(d, x + i, n - i)))));
  return static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, most)));
}

// 2^-k for the k with 2^k <= value < 2^(k + 1), as far as it is a normal number of T; 1 if there is no such k.
template <class T>
T power_below(double value) {
  constexpr int most = std::numeric_limits<T>::max_exponent - 2;
  if (!(value > 0) || value > std::numeric_limits<double>::max()) return 1;
  return static_cast<T>(std::ldexp(1.0, -std::clamp(std::ilogb(value), -most, most)));
}

template <class T>
struct normalize_row : short_map {
  T mean, factor;
  normalize_row(T m, T f) : mean(m), factor(f) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V scale, V offset) const {
    return hn::MulAdd(hn::Mul(hn::Sub(x, hn::Set(d, mean)), hn::Set(d, factor)), scale, offset);
  }
};

// Scale and offset of a row: arrays, or one value.
template <class T>
struct finish {
  operand<T> scale, offset;
};

template <class T>
struct normalize_centred : short_map {
  centred<T> of;
  T factor;
  normalize_centred(const centred<T>& c, T f) : of(c), factor(f) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V scale, V offset) const {
    return hn::MulAdd(hn::Mul(of(d, x), hn::Set(d, factor)), scale, offset);
  }
};

// Rows of any size: `lower` keeps the sum and the distances in range, the distances are centred a second time, and
// their squares are taken in units of the largest of them or, where that is larger, the root of epsilon.
template <class T>
HWY_NOINLINE void far_row(const T* x, T* y, std::size_t n, double epsilon, const finish<T>& last) {
  const double count = static_cast<double>(n);
  sum_of<T> from_mean;
  const double room = 4 * count;
  if (largest(x, n, from_mean) > static_cast<double>(std::numeric_limits<T>::max()) / room)
    from_mean.lower = power_below<T>(2 * room);
  from_mean.mean = static_cast<T>(row_sum(x, n, from_mean) / count);
  from_mean.rest = static_cast<T>(row_sum(x, n, from_mean) / count);
  double added = std::sqrt(epsilon) * static_cast<double>(from_mean.lower);
  sum_of_squares<T> in_units{from_mean};
  in_units.per_unit = power_below<T>(std::max(largest(x, n, from_mean), added));
  added *= static_cast<double>(in_units.per_unit);
  const double variance = row_sum(x, n, in_units) / count;
  const T factor = static_cast<T>(1 / std::sqrt(variance + added * added));
  map_array<T>(normalize_centred<T>(in_units, factor), y, n, array(x), last.scale, last.offset);
}

template <class T>
void long_row(const T* x, T* y, std::size_t n, double epsilon, const finish<T>& last) {
  const double count = static_cast<double>(n);
  const T mean = static_cast<T>(row_sum(x, n, itself{}) / count);
  const double variance = row_sum(x, n, squared_distance<T>{mean}) / count;
  const double square = variance + epsilon, part = static_cast<double>(mean) / far;
  if (!(square >= std::max(part * part, static_cast<double>(least_square<T>)) &&
        square <= std::numeric_limits<double>::max()))
    return far_row(x, y, n, epsilon, last);
  const T factor = static_cast<T>(1 / std::sqrt(square));
  map_array<T>(normalize_row<T>(mean, factor), y, n, array(x), last.scale, last.offset);
}

// Up to eight vectors, the last of them maybe in part. False, and nothing written, where it takes far_row.
template <class T>
bool short_row(const T* x, T* y, std::size_t n, double epsilon, const finish<T>& last) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), whole = n / lanes, left = n % lanes;
  bool near = true;
  with_vectors<8>(d, [&](auto v) KG_INLINED {
    for (std::size_t k = 0; k < 8; ++k) {
      if (k < whole) v[static_cast<int>(k)] = hn::LoadU(d, x + k * lanes);
      else if (k == whole && left != 0) v[static_cast<int>(k)] = load_first(d, x + k * lanes, left);
    }
    const auto count = hn::Set(d, static_cast<T>(n));
    const auto mean = hn::Div(sum_of_all(d, v), count);
    auto squares = hn::Zero(d), more = squares;
    for (std::size_t k = 0; k < 8; ++k) {
      auto& distance = v[static_cast<int>(k)];
      if (k < whole) distance = hn::Sub(distance, mean);
      else if (k == whole && left != 0) distance = hn::IfThenElseZero(hn::FirstN(d, left), hn::Sub(distance, mean));
      (k % 2 == 0 ? squares : more) = hn::MulAdd(distance, distance, k % 2 == 0 ? squares : more);
    }
    const auto variance = hn::Div(hn::SumOfLanes(d, hn::Add(squares, more)), count);
    const auto square = hn::Add(variance, hn::Set(d, static_cast<T>(epsilon)));
    const auto part = hn::Mul(mean, hn::Set(d, static_cast<T>(1 / far)));
    const auto least = hn::Max(hn::Mul(part, part), hn::Set(d, least_square<T>));
    near = hn::AllTrue(d, hn::And(hn::Ge(square, least), hn::Le(square, hn::Set(d, std::numeric_limits<T>::max()))));
    if (!near) return;
    const auto factor = hn::Div(hn::Set(d, T{1}), hn::Sqrt(square));
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t at = k * lanes;
      const auto normal = hn::Mul(v[static_cast<int>(k)], factor);
      if (k < whole) hn::StoreU(hn::MulAdd(normal, last.scale.all(d, at, 0), last.offset.all(d, at, 0)), d, y + at);
      else if (k == whole && left != 0)
        store_first(d, hn::MulAdd(normal, last.scale.first(d, at, left), last.offset.first(d, at, left)), y + at, left);
    }
  });
  return near;
}

template <dtype Type, class T = storage_t<Type>>
void LayerNorm(const layer_norm_geometry& g, const T* x, const T* scale, const T* offset, T* y) {
  const std::size_t n = static_cast<std::size_t>(g.count);
  if (n == 0) return;
  // A product with 1 and a sum with -0 change nothing, not even a zero's sign.
  static constexpr T no_scale = T{1}, no_offset = T{-0.0};
  spread<T> scale_value, offset_value;
  const auto row_of = [](const T* p, const T& omitted, spread<T>& value)
                          HWY_ATTR { return p ? array(p) : value.row(&omitted, false); };
  const finish<T> last{row_of(scale, no_scale, scale_value), row_of(offset, no_offset, offset_value)};
  const bool is_short = n <= 8 * hn::Lanes(hn::ScalableTag<T>());
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const T* const row_x = x + row * g.count;
    T* const row_y = y + row * g.count;
    if (!is_short) long_row(row_x, row_y, n, g.epsilon, last);
    else if (!short_row(row_x, row_y, n, g.epsilon, last)) far_row(row_x, row_y, n, g.epsilon, last);
  }
}

}  // namespace

KG_DEFINE_KERNELS(KG_LAYER_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_LAYER_KERNELS)

}  // namespace kerngrad::kernels
#endif
