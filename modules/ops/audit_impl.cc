// SPDX-License-Identifier: Apache-2.0
// The audit of the library's own tables. No importer waits for it, or has what it takes in the BMI that it reads.
module;
#include "kernels/common/abi.h"
module kerngrad;

import :audit;

static_assert(kerngrad::audit::check_all<kerngrad::op_table, kerngrad::simd_kernels, kerngrad::reference_kernels,
                                         kerngrad::rule_names>());
