// SPDX-License-Identifier: Apache-2.0
// A built-in op without a gradient rule, and without a reason for that.
// error: [audit] a built-in op without a gradient rule: add one to grads/, or say in the row why there is none
// clang: op_has_gradient<fixed_string<5>{"Lost"}, rows, own_rules>
import kerngrad;
#include "own_op.h"

inline constexpr std::array rows{own_row, rows_with([](kg::op_row& row) { row.name = "Lost"; })[0]};
inline constexpr std::array both{own_kernel, lost_kernel};
inline constexpr std::array<std::string_view, 2> rules{"Own", "Lost"};
#ifdef TWIN
static_assert(kg::audit::check_all<rows, both, both, rules>());
#else
static_assert(kg::audit::check_all<rows, both, both, own_rules>());
#endif
