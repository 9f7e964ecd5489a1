// SPDX-License-Identifier: Apache-2.0
// A built-in op without a reference kernel.
// error: [audit] a built-in op without a reference kernel: add it to kernels/F/reference_*
// clang: op_has_kernel<fixed_string<5>{"Lost"}, rows, own_kernels>
import kerngrad;
#include "own_op.h"

inline constexpr std::array rows{own_row, rows_with([](kg::op_row& row) { row.name = "Lost"; })[0]};
inline constexpr std::array both{own_kernel, lost_kernel};
inline constexpr std::array<std::string_view, 2> rules{"Own", "Lost"};
#ifdef TWIN
static_assert(kg::audit::check_all<rows, both, both, rules>());
#else
static_assert(kg::audit::check_all<rows, both, own_kernels, rules>());
#endif
