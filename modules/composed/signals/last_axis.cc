// SPDX-License-Identifier: Apache-2.0
// Rows of the last axis, which transforms and filters work on. Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:composed_last_axis;

import :std;
import :core;
import :tensor;

namespace kerngrad::detail {

/// x with an axis moved to the end; `axis_back` undoes it.
tensor axis_last(const tensor& x, int axis);
tensor axis_back(const tensor& x, int axis);
/// x with rows of `size` elements along the last axis: longer rows are cut, shorter ones are followed by zeros.
tensor last_axis_resized(const tensor& x, std::int64_t size);
/// Elements [begin, begin + size) of each row of the last axis.
tensor last_axis_part(const tensor& x, std::int64_t begin, std::int64_t size);
/// x with `before` and `after` zeros around each row of the last axis.
tensor last_axis_padded(const tensor& x, std::int64_t before, std::int64_t after);
/// A vector of the numbers f(0), f(1), ..., computed in double precision.
tensor numbers_of_indices(std::int64_t count, dtype type, const std::function<double(std::int64_t)>& f);

/// The real dtype that spectra of a dtype are computed in: float64 for float64 and complex128, otherwise float32.
dtype spectral_type(dtype type);

}  // namespace kerngrad::detail
