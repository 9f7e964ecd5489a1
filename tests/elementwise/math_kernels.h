// SPDX-License-Identifier: Apache-2.0
// For tests/elementwise/math.cc: the functions of kernels/math/math-inl.h that have no row in a kernel table.
#pragma once
#include "kernels/common/abi.h"

namespace kgtest {
void erfc_float32(const void* x, void* y, std::size_t n);
void erfc_float64(const void* x, void* y, std::size_t n);
}  // namespace kgtest
