// SPDX-License-Identifier: Apache-2.0
// Counts of small integers. Each element changes the count that the element names, so that vectors have nothing
// to do here: one function serves every target. The cost is that equal neighbours wait for each other's store; few bins
// have four copies, which elements take in turn.
#include "kernels/count/bincount.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"

namespace kerngrad::kernels {
namespace {

// Type that a bin is added up in: floats in double, integers modulo 2^64. A number of elements is an integer for every
// dtype, and rounded once.
template <class T>
using weight_total = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// Copies of the bins; that many fit into the first cache next to the elements.
inline constexpr std::int64_t copies = 4, most_bins_copied = 1024;

// Adds add(i) at the bin of each element.
template <class Total, class E, class Add>
void add_up(const E* x, const bincount_geometry& g, Total* bins, std::int64_t apart, Add add) {
  const auto into = [&](Total* to, std::int64_t i) {
    const std::uint64_t bin = static_cast<std::uint64_t>(x[i]);
    if (bin < static_cast<std::uint64_t>(g.size)) to[bin] += add(i);
  };
  std::int64_t i = 0;
  if (apart > 0) {
    for (; i + copies <= g.count; i += copies) {
      into(bins, i);
      into(bins + apart, i + 1);
      into(bins + 2 * apart, i + 2);
      into(bins + 3 * apart, i + 3);
    }
  }
  for (; i < g.count; ++i) into(bins, i);
}

template <class Total, class T, class E, class Add>
void count_row(const E* x, const bincount_geometry& g, scratch<Total>& room, T* y, Add add) {
  const bool copied = g.size <= most_bins_copied && g.count >= 4 * g.size;
  const std::int64_t all = product_of(copied ? copies : 1, g.size);
  Total* const bins = room.reach(all);
  std::fill_n(bins, all, Total{0});
  add_up(x, g, bins, copied ? g.size : 0, add);
  for (std::int64_t b = 0; b < g.size; ++b) {
    Total sum = bins[b];
    if (copied) sum = (sum + bins[b + g.size]) + (bins[b + 2 * g.size] + bins[b + 3 * g.size]);
    y[b] = static_cast<T>(sum);
  }
}

template <class T, class E>
void count_rows(const E* x, const T* weights, T* y, const bincount_geometry& g) {
  scratch<weight_total<T>> totals;
  scratch<std::uint64_t> counts;
  for (std::int64_t r = 0; r < g.rows; ++r, x += g.count, y += g.size) {
    if (g.binary) {
      std::fill_n(y, g.size, T{0});
      for (std::int64_t i = 0; i < g.count; ++i)
        if (static_cast<std::uint64_t>(x[i]) < static_cast<std::uint64_t>(g.size)) y[x[i]] = T{1};
    } else if (g.weighted) {
      const T* row = weights + r * g.count;
      count_row(x, g, totals, y, [row](std::int64_t i) { return static_cast<weight_total<T>>(row[i]); });
    } else {
      count_row(x, g, counts, y, [](std::int64_t) { return std::uint64_t{1}; });
    }
  }
}

// Rows are work for several threads: an element takes as long as some products, a bin about one.
template <class T, class E>
void count_elements(const E* x, const T* weights, T* y, const bincount_geometry& g) {
  const std::int64_t row = saturated_sum(saturated_product(g.count, 8), g.size, 1);
  const std::int64_t together = std::max<std::int64_t>(1, products_worth_threads / 4 / row);
  const std::int64_t chunks = g.rows / together + (g.rows % together != 0 ? 1 : 0);
  run_in_chunks(static_cast<std::ptrdiff_t>(chunks), saturated_product(g.rows, row), [&](std::ptrdiff_t i) {
    const std::int64_t first = i * together;
    bincount_geometry part = g;
    part.rows = std::min(together, g.rows - first);
    count_rows(x + first * g.count, weights ? weights + first * g.count : nullptr, y + first * g.size, part);
  });
}

/// DenseBincount. A number of elements is exact and rounded once. Weights: floats are added up in double, in the order
/// of the elements or, of few bins, in four such sums; |error| <= (count + 4) * 2^-53 * sum |w|, and a rounding to the
/// dtype. Integers wrap. Reference: kernels/count/reference_bincount.cc.
template <dtype Type, class T = storage_t<Type>>
void DenseBincount(const bincount_geometry& g, const void* x, const T* given, T* y) {
  const T* weights = g.weighted ? given : nullptr;
  with_counted_elements(g.elements, x, [&](const auto* elements) { count_elements(elements, weights, y, g); });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_BINCOUNT_KERNELS)

}  // namespace kerngrad::kernels
