// SPDX-License-Identifier: Apache-2.0
// Rows of the last axis, which transforms and filters work on. Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:composed_last_axis;

import :std;
import :core;
import :tensor;

namespace kerngrad::detail {

/// x with an axis as its last one; axis_back puts it where it was.
tensor axis_last(const tensor& x, int axis);
tensor axis_back(const tensor& x, int axis);
/// Rows of `size` elements: the first ones, or all with zeros after them.
tensor last_axis_resized(const tensor& x, std::int64_t size);
/// Elements [begin, begin + size) of each row.
tensor last_axis_part(const tensor& x, std::int64_t begin, std::int64_t size);
/// Rows with so many zeros on both sides.
tensor last_axis_padded(const tensor& x, std::int64_t before, std::int64_t after);
/// Numbers along the last axis, from a function of the index in double precision.
tensor numbers_of_indices(std::int64_t count, dtype type, const std::function<double(std::int64_t)>& f);

/// The real dtype that spectra of a dtype are computed in: float64 for float64 and complex128, otherwise float32.
dtype spectral_type(dtype type);
/// a times b. complex128 is computed by its parts.
tensor complex_product(const tensor& a, const tensor& b);

}  // namespace kerngrad::detail
