// SPDX-License-Identifier: Apache-2.0
// A kernel whose name no row has, which could never run: mostly a misspelt name.
// error: [audit] a kernel without a row: add the op's row to modules/ops/*/rows.cc
// clang: op_has_row<fixed_string<5>{"Lost"}, own_rows>
import kerngrad;
#include "own_op.h"

inline constexpr std::array both{own_kernel, lost_kernel};
#ifdef TWIN
static_assert(kg::audit::check_all<own_rows, own_kernels, own_kernels, own_rules>());
#else
static_assert(kg::audit::check_all<own_rows, both, own_kernels, own_rules>());
#endif
