// SPDX-License-Identifier: Apache-2.0
// A row with two results of which one has no name.
// error: [audit] more than 8 results, one without a name of its own, or a list before other operands
// clang: row_has_sound_results<fixed_string<4>{"Own"}, rows>
import kerngrad;
#include "own_op.h"

#ifdef TWIN
inline constexpr kg::result_spec two[] = {{"first", "x"}, {"second", "x again"}};
#else
inline constexpr kg::result_spec two[] = {{"first", "x"}, {"", "x again"}};
#endif
inline constexpr auto rows = rows_with([](kg::op_row& row) { row.results = two; });
static_assert(kg::audit::check_all<rows, own_kernels, own_kernels, own_rules>());
