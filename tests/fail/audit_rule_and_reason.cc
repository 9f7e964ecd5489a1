// SPDX-License-Identifier: Apache-2.0
// A built-in op with a gradient rule whose row says why there is none: one of them is wrong.
// error: [audit] a built-in op with a gradient rule and a second one, or a reason for having none: keep one
import kerngrad;
#include "own_op.h"

inline constexpr auto rows = rows_with([](kg::op_row& row) { row.no_gradient = "it is a step"; });
inline constexpr std::array<std::string_view, 0> no_rules{};
#ifdef TWIN
static_assert(kg::audit::check_all<rows, own_kernels, own_kernels, no_rules>());
#else
static_assert(kg::audit::check_all<rows, own_kernels, own_kernels, own_rules>());
#endif
