// SPDX-License-Identifier: Apache-2.0
// The quotient that gradient rules of normalizations share with composed functions. Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:deviation;

import :std;
import :tensor;

namespace kerngrad::detail {

/// Divides y by the deviation of x: y / sqrt(variance + epsilon) with the variance of the rows of x, for numbers of any
/// size.
tensor over_deviation(const tensor& y, const tensor& x, double epsilon);

}  // namespace kerngrad::detail
