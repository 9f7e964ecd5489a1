// SPDX-License-Identifier: Apache-2.0
// A row without shape rule.
// error: [audit] a row without documentation, shape rule or launcher: complete it
// clang: row_is_complete<fixed_string<4>{"Own"}, rows>
import kerngrad;
#include "own_op.h"

#ifdef TWIN
inline constexpr auto rows = own_rows;
#else
inline constexpr auto rows = rows_with([](kg::op_row& row) { row.infer = nullptr; });
#endif
static_assert(kg::audit::check_all<rows, own_kernels, own_kernels, own_rules>());
