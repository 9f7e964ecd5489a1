// SPDX-License-Identifier: Apache-2.0
// The module's view of the kernel: plain functions, no Highway.
#pragma once
#include <kerngrad/declare.h>

namespace my {
KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Snake, float32)
KERNGRAD_DECLARE_UNARY_WITH_PARAMS(Snake, float64)
}  // namespace my
