// SPDX-License-Identifier: Apache-2.0
// Draws from discrete distributions by the sums of their weights. Words come from the vectorized generator; sums and
// comparisons are those of double precision in one order, so that bits depend neither on target nor on threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/create/multinomial.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/create/multinomial.h"
#include "kernels/create/philox-inl.h"

#ifndef KERNGRAD_KERNELS_MULTINOMIAL_COMMON
#define KERNGRAD_KERNELS_MULTINOMIAL_COMMON
namespace kerngrad::kernels {
namespace {

/// Draws that are made at once: so many blocks of two words of 64 bits.
constexpr std::int64_t drawn_blocks = 256, drawn_at_once = 2 * drawn_blocks;

/// sums[e] = the weights up to outcome e; reference: kernels/create/reference_multinomial.cc.
template <class T>
void add_up_weights(const T* row, std::int64_t outcomes, bool normalized, double* sums) {
  const double largest = static_cast<double>(*std::max_element(row, row + outcomes));
  double sum = 0;
  for (std::int64_t e = 0; e < outcomes; ++e) {
    const double x = static_cast<double>(row[e]);
    sum += normalized ? x : std::exp(x - largest);
    sums[e] = sum;
  }
}

/// Searches that run side by side: each waits for its own loads.
constexpr std::int64_t searches = 8;

/// y[i] = the first outcome whose sum is above fractions[i] times the last one, for i < count. Outcomes without weight
/// have the sum of the one before; the last one that has any stands in where a product is rounded up to the sum of all.
inline void find_outcomes(const double* sums, std::int64_t outcomes, const double* fractions, std::int64_t count,
                          std::int32_t* y) {
  const double all = sums[outcomes - 1];
  for (std::int64_t begin = 0; begin < count; begin += searches) {
    const std::int64_t now = std::min(searches, count - begin);
    double wanted[searches] = {};
    std::int64_t at[searches] = {};
    for (std::int64_t i = 0; i < now; ++i) wanted[i] = fractions[begin + i] * all;
    // Halves without a branch, which draws would mispredict.
    for (std::int64_t left = outcomes; left > 1; left -= left / 2)
      for (std::int64_t i = 0; i < searches; ++i)
        at[i] += -static_cast<std::int64_t>(sums[at[i] + left / 2 - 1] <= wanted[i]) & (left / 2);
    for (std::int64_t i = 0; i < now; ++i) {
      if (!(sums[at[i]] > wanted[i])) at[i] = std::lower_bound(sums, sums + outcomes, all) - sums;
      y[begin + i] = static_cast<std::int32_t>(at[i]);
    }
  }
}

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_MULTINOMIAL_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

template <dtype Type, class T = storage_t<Type>>
void Multinomial(const multinomial_geometry& g, const T* logits, std::int32_t* y) {
  const std::int64_t count = product_of(g.rows, g.samples);
  if (count == 0) return;
  scratch<double> sums(product_of(g.rows, g.outcomes));
  const std::int64_t weights = saturated_product(16, g.rows, g.outcomes);  // an exponential each
  run_in_chunks(static_cast<std::ptrdiff_t>(g.rows), weights, [&](std::ptrdiff_t row) {
    add_up_weights(logits + row * g.outcomes, g.outcomes, g.normalized, sums.data() + row * g.outcomes);
  });
  const std::int64_t chunks = count / drawn_at_once + (count % drawn_at_once != 0);
  run_in_chunks(static_cast<std::ptrdiff_t>(chunks), saturated_product(16, count), [&](std::ptrdiff_t chunk) {
    HWY_ALIGN std::uint64_t words[drawn_at_once];
    philox(g.seed, static_cast<std::uint64_t>(chunk) * std::uint64_t{drawn_blocks}, std::size_t{drawn_blocks}, words);
    double fractions[drawn_at_once];
    for (std::int64_t i = 0; i < drawn_at_once; ++i) fractions[i] = static_cast<double>(words[i] >> 11) * 0x1p-53;
    const std::int64_t begin = chunk * drawn_at_once, end = std::min(count, begin + drawn_at_once);
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t row = i / g.samples, here = std::min(end, (row + 1) * g.samples) - i;
      find_outcomes(sums.data() + row * g.outcomes, g.outcomes, fractions + (i - begin), here, y + i);
      i += here;
    }
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_MULTINOMIAL_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_MULTINOMIAL_KERNELS)
}  // namespace kerngrad::kernels
#endif
