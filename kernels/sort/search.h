// SPDX-License-Identifier: Apache-2.0
// SearchSorted: where values belong in sorted sequences.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `rows` sequences of `count` elements, each for `values` values.
struct search_geometry {
  std::int64_t rows, count, values;
  bool right;  ///< after the elements that equal the value, not before them
};

// sequences [rows, count], values [rows, values] -> the number of elements that belong before each value, int32: those
// less than it, and those equal to it where `right`; NaN is the greatest. For a sequence that is not in ascending
// order: some number from 0 to count. count < 2^31.
#define KG_SEARCH_KERNELS(X) KG_NUMERIC(X, SearchSorted)

KG_DECLARE_KERNELS(search, KG_SEARCH_KERNELS)

}  // namespace kerngrad::kernels
