// SPDX-License-Identifier: Apache-2.0
// Sums, means and extremes of rows by segments. The rows of a segment are next to each other in the list of indices:
// their sums stay in registers, some vectors of columns at a time, and are written once.
//
// Rows are added in the order of the indices, so that every target gives bitwise identical results: those of float32 in
// double and rounded once, those of float64 with one rounding each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sparse/segments.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/common/chunks.h"
#include "kernels/common/sizes.h"
#include "kernels/common/vectors-inl.h"
#include "kernels/reduce/scan-inl.h"
#include "kernels/sparse/segments.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// A sum divided by the number of its terms.
template <class T>
HWY_INLINE T mean_of(T sum, std::int64_t rows) {
  if constexpr (std::is_floating_point_v<T>) return sum / static_cast<T>(rows);
  else return static_cast<T>(static_cast<std::make_signed_t<T>>(sum) / rows);  // towards 0
}

enum class of_rows : std::uint8_t { sum, mean, max, weighted_sum };

/// The rows of one segment, at least one.
template <class T, of_rows Kind>
class segment_rows {
 public:
  segment_rows(const T* x, const std::int32_t* indices, std::int64_t rows, std::int64_t inner,
               const T* weights = nullptr)
      : x_(x), indices_(indices), weights_(weights), rows_(rows), inner_(inner) {}

  /// y: what the rows give together, of all columns.
  HWY_INLINE void add(T* HWY_RESTRICT y) const {
    const hn::ScalableTag<carried> whole;
    const hn::CappedTag<carried, 16 / sizeof(carried)> part;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(whole)), few = static_cast<std::int64_t>(hn::Lanes(part));
    std::int64_t c = 0;
    for (; c + 4 * lanes <= inner_; c += 4 * lanes) add_vectors<4>(whole, c, y);
    for (; c + lanes <= inner_; c += lanes) add_vectors<1>(whole, c, y);
    for (; c + few <= inner_; c += few) add_vectors<1>(part, c, y);
    switch (inner_ - c) {
      case 0: return;
      case 1: return add_columns<1>(c, y);
      case 2: return add_columns<2>(c, y);
      case 3: return add_columns<3>(c, y);
      default:
        for (; c < inner_; ++c) add_columns<1>(c, y);  // where no vector has 16 bytes
    }
  }

 private:
  /// The accumulator of sums. Extremes are elements.
  static constexpr bool widens = std::is_same_v<T, float> && Kind != of_rows::max;
  using carried = std::conditional_t<widens, double, T>;

  template <int kVectors, class D>
  HWY_INLINE void add_vectors(D d, std::int64_t c, T* HWY_RESTRICT y) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    with_vectors<kVectors>(d, [&](auto sums) KG_INLINED {
      if constexpr (Kind == of_rows::max)
        for (int v = 0; v < kVectors; ++v) sums[v] = Elements(d, row(0, c) + v * lanes);
      for (std::int64_t r = first; r < rows_; ++r)
        for (int v = 0; v < kVectors; ++v) sums[v] = Joined(d, sums[v], Elements(d, row(r, c) + v * lanes), r);
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (Kind == of_rows::mean && std::is_floating_point_v<T>)
          sums[v] = hn::Div(sums[v], hn::Set(d, static_cast<carried>(rows_)));
        Put(d, sums[v], y + c + v * lanes);
      }
    });
    if constexpr (Kind == of_rows::mean && !std::is_floating_point_v<T>)
      for (std::int64_t i = c; i < c + kVectors * lanes; ++i) y[i] = mean_of(y[i], rows_);
  }
  template <int kColumns>
  HWY_INLINE void add_columns(std::int64_t c, T* HWY_RESTRICT y) const {
    carried sums[kColumns] = {};
    if constexpr (Kind == of_rows::max) std::copy_n(row(0, c), kColumns, sums);
    for (std::int64_t r = first; r < rows_; ++r)
      for (int k = 0; k < kColumns; ++k) sums[k] = joined(sums[k], static_cast<carried>(row(r, c)[k]), r);
    for (int k = 0; k < kColumns; ++k)
      y[c + k] = static_cast<T>(Kind == of_rows::mean ? mean_of(sums[k], rows_) : sums[k]);
  }

  template <class D>
  static HWY_INLINE hn::Vec<D> Elements(D d, const T* x) {
    if constexpr (widens) return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
    else return hn::LoadU(d, x);
  }
  /// Rounds one by one: where Highway emulates DemoteTo, what is too large for a float becomes its largest.
  template <class D, class V>
  static HWY_INLINE void Put(D d, V sums, T* y) {
    if constexpr (widens) {
      HWY_ALIGN double numbers[hn::MaxLanes(D{})];
      hn::Store(sums, d, numbers);
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) y[i] = static_cast<float>(numbers[i]);
    } else {
      hn::StoreU(sums, d, y);
    }
  }

  /// Adds an element of row r to the sum so far, or keeps the greater one. A product is rounded before it is added; in
  /// double the product of two floats is exact.
  HWY_INLINE carried joined(carried sum, carried element, std::int64_t r) const {
    if constexpr (Kind == of_rows::max) return element > sum || element != element ? element : sum;
    else if constexpr (Kind == of_rows::weighted_sum) return sum + static_cast<carried>(weights_[r]) * element;
    else return sum + element;
  }
  template <class D, class V>
  HWY_INLINE V Joined(D d, V sum, V elements, std::int64_t r) const {
    if constexpr (Kind == of_rows::max)  // hn::Max does not promise to keep NaN
      return hn::IfThenElse(hn::Or(hn::Gt(elements, sum), hn::IsNaN(elements)), elements, sum);
    else if constexpr (Kind == of_rows::weighted_sum)
      return hn::Add(sum, hn::Mul(hn::Set(d, static_cast<carried>(weights_[r])), elements));
    else return hn::Add(sum, elements);
  }
  HWY_INLINE const T* row(std::int64_t r, std::int64_t c) const { return x_ + indices_[r] * inner_ + c; }

  static constexpr std::int64_t first = Kind == of_rows::max ? 1 : 0;  // the first row is where extremes begin
  const T* x_;
  const std::int32_t* indices_;
  const T* weights_;
  std::int64_t rows_, inner_;
};

/// Segments in a chunk, a number that follows from the sizes alone.
inline std::int64_t segments_of_chunk(std::int64_t count, std::int64_t inner, std::int64_t segments) {
  constexpr std::int64_t elements = 1 << 14;
  const std::int64_t all = saturated_product(std::max(count, segments), inner);
  return std::clamp<std::int64_t>(segments / std::max<std::int64_t>(1, all / elements), 1, segments);
}

template <of_rows Kind, class T>
void add_segments(const sparse_segment_geometry& g, const T* x, const std::int32_t* indices, const std::int32_t* ids,
                  T* y) {
  const std::int64_t each = segments_of_chunk(g.count, g.inner, g.segments);
  const auto chunks = static_cast<std::ptrdiff_t>((g.segments + each - 1) / each);
  run_in_chunks(chunks, saturated_product(g.count, g.inner), [&](std::ptrdiff_t chunk) HWY_ATTR {
    const std::int64_t begin = chunk * each, end = std::min(g.segments, begin + each);
    std::int64_t k = begin == 0 ? 0 : std::lower_bound(ids, ids + g.count, begin) - ids;
    std::int64_t written = begin;
    while (k < g.count && ids[k] < end) {
      const std::int64_t segment = ids[k];
      std::int64_t next = k + 1;
      while (next < g.count && ids[next] == segment) ++next;
      std::fill(y + written * g.inner, y + segment * g.inner, T{0});
      segment_rows<T, Kind>(x, indices + k, next - k, g.inner).add(y + segment * g.inner);
      written = segment + 1;
      k = next;
    }
    std::fill(y + written * g.inner, y + end * g.inner, T{0});
  });
}

template <of_rows Kind, class T>
void fill_bags(const bag_geometry& g, const T* x, const std::int32_t* indices, const std::int32_t* offsets,
               const T* weights, T* y) {
  const std::int64_t each = segments_of_chunk(g.count, g.inner, g.bags);
  const auto chunks = static_cast<std::ptrdiff_t>((g.bags + each - 1) / each);
  run_in_chunks(chunks, saturated_product(g.count, g.inner), [&](std::ptrdiff_t chunk) HWY_ATTR {
    for (std::int64_t bag = chunk * each; bag < std::min(g.bags, (chunk + 1) * each); ++bag) {
      const std::int64_t begin = offsets[bag], end = bag + 1 < g.bags ? offsets[bag + 1] : g.count;
      T* to = y + bag * g.inner;
      if (begin == end) std::fill_n(to, g.inner, T{0});
      else segment_rows<T, Kind>(x, indices + begin, end - begin, g.inner, weights ? weights + begin : nullptr).add(to);
    }
  });
}

/// SparseSegmentSum, SparseSegmentMean and EmbeddingBag. Reference: kernels/sparse/reference_segments.cc.
template <dtype Type, class T = wrapping_t<storage_t<Type>>>
void SparseSegmentSum(const sparse_segment_geometry& g, const T* x, const std::int32_t* indices,
                      const std::int32_t* ids, T* y) {
  add_segments<of_rows::sum>(g, x, indices, ids, y);
}
template <dtype Type, class T = wrapping_t<storage_t<Type>>>
void SparseSegmentMean(const sparse_segment_geometry& g, const T* x, const std::int32_t* indices,
                       const std::int32_t* ids, T* y) {
  add_segments<of_rows::mean>(g, x, indices, ids, y);
}
template <dtype Type, class T = storage_t<Type>>
void EmbeddingBag(const bag_geometry& g, const T* x, const std::int32_t* indices, const std::int32_t* offsets,
                  const T* weights, T* y) {
  if (weights) return fill_bags<of_rows::weighted_sum>(g, x, indices, offsets, weights, y);
  switch (g.how) {
    case bag_geometry::combined::sum: return fill_bags<of_rows::sum>(g, x, indices, offsets, weights, y);
    case bag_geometry::combined::mean: return fill_bags<of_rows::mean>(g, x, indices, offsets, weights, y);
    case bag_geometry::combined::max: return fill_bags<of_rows::max>(g, x, indices, offsets, weights, y);
  }
}

}  // namespace

KG_DEFINE_KERNELS(KG_SPARSE_SEGMENT_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_SPARSE_SEGMENT_KERNELS)
}  // namespace kerngrad::kernels
#endif
