// SPDX-License-Identifier: Apache-2.0
// A row that accepts a dtype which no kernel computes.
// error: [audit] a row accepts a dtype that has no kernel: add the kernel, lift the dtype, or do not accept it
// clang: op_has_every_kernel<fixed_string<4>{"Own"}, rows, own_kernels>
import kerngrad;
#include "own_op.h"

inline constexpr kg::operand wide[] = {{"x", kg::floating}};
#ifdef TWIN
inline constexpr std::array rows = own_rows;
#else
inline constexpr std::array rows = rows_with([](kg::op_row& row) { row.operands = wide; });
#endif
static_assert(kg::audit::check_all<rows, own_kernels, own_kernels, own_rules>());
