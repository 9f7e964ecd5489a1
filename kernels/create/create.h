// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that create elements.
#pragma once
#include <cmath>

#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// y[i] = the element at `value`, which has the dtype of the entry.
struct fill_geometry {
  std::int64_t count;
  const void* value;
};

/// Floats: y[i] = start + i * step in double, rounded once. Integers: start and step are whole numbers, exact, wraps.
struct range_geometry {
  std::int64_t count;
  double start, step;
};
/// The way from the first element to the last overflows: computed on halves, which are exact there, and doubled.
inline bool is_wide(const range_geometry& g) { return std::isinf(static_cast<double>(g.count) * g.step); }

/// y[i] = start + i * ((stop - start) / (count - 1)) in double, the last element is `stop` when count > 1.
struct linspace_geometry {
  std::int64_t count;
  double start, stop;
};
/// As for range_geometry.
inline bool is_wide(const linspace_geometry& g) { return std::isinf(g.stop - g.start); }

// No kernel has operands. Fill writes bytes.
#define KG_CREATE_KERNELS(X) KG_SIZES(X, Fill) KG_SIGNED(X, Range) KG_FLOATS(X, LinSpace)
#define KG_CREATE_OPS(X)       \
  KG_MOVED(X, (Fill, Fill))    \
  KG_ALL(X, (ZerosLike, Fill)) \
  KG_ALL(X, (OnesLike, Fill)) KG_SIGNED(X, (Range, Range)) KG_FLOATS(X, (LinSpace, LinSpace))

KG_DECLARE_SHARED_KERNELS(create, KG_CREATE_KERNELS, KG_CREATE_OPS)

}  // namespace kerngrad::kernels
