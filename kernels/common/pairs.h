// SPDX-License-Identifier: Apache-2.0
// Sets of complex dtypes for the lists of kernels.
#pragma once
#include "kernels/common/abi.h"

#define KG_PAIRS(X, Name) X(Name, complex64) X(Name, complex128)
#define KG_WIDE_PAIRS(X, Name) X(Name, complex128)
