// SPDX-License-Identifier: Apache-2.0
// Multiply-adds by one lane of a vector: on 64-bit ARM an instruction takes a lane of 128 bits as its factor, so that
// one load serves as many of them as the 128 bits have lanes, where each would take a broadcast of its own. Highway has
// no name for them. Included once per target.
#if defined(KERNGRAD_KERNELS_MATMUL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_MATMUL_LANES_INL_H_
#undef KERNGRAD_KERNELS_MATMUL_LANES_INL_H_
#else
#define KERNGRAD_KERNELS_MATMUL_LANES_INL_H_
#endif

#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "kernels/common/target-inl.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many factors one load of 128 bits has for multiply_by_lane; 1 where there is no such instruction.
template <class T>
inline constexpr int lane_factors = KG_MULTIPLIES_BY_LANES && hwy::IsFloat<T>() ? 16 / sizeof(T) : 1;

/// right * left[kLane] + sum, rounded once; `left` is what hn::LoadDup128 gives: the same 128 bits throughout.
template <int kLane, class V>
HWY_INLINE V multiply_by_lane([[maybe_unused]] V left, [[maybe_unused]] V right, V sum) {
  static_assert(lane_factors<hn::TFromV<V>> > 1);
#if KG_SVE
  if constexpr (sizeof(hn::TFromV<V>) == 4) return svmla_lane_f32(sum, right, left, kLane);
  else return svmla_lane_f64(sum, right, left, kLane);
#elif KG_MULTIPLIES_BY_LANES
  if constexpr (sizeof(hn::TFromV<V>) == 4) return V(vfmaq_laneq_f32(sum.raw, right.raw, left.raw, kLane));
  else return V(vfmaq_laneq_f64(sum.raw, right.raw, left.raw, kLane));
#else
  return sum;
#endif
}

/// sum[j] += right[j] * left[kLane].
template <int kLane, int kVectors, class V>
HWY_INLINE void add_products(V left, const vectors<V, kVectors>& right, const vectors<V, kVectors>& sum) {
  for (int j = 0; j < kVectors; ++j) sum[j] = multiply_by_lane<kLane>(left, right[j], sum[j]);
}

/// The next rows of a tile, one for each of the factors at `a`.
template <int kVectors, class D, class V, int kCount, int... kLane>
HWY_INLINE void add_rows(D d, const hn::TFromD<D>* HWY_RESTRICT a, const vectors<V, kVectors>& right,
                         const vectors<V, kCount>& all, int row, std::integer_sequence<int, kLane...>) {
  const auto left = hn::LoadDup128(d, a);
  (add_products<kLane>(left, right, all.template row<kVectors>(row + kLane)), ...);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
