// SPDX-License-Identifier: Apache-2.0
// A row with an attribute whose range is empty.
// error: [audit] an attribute without a name or with another one's, with an empty range, or with a default that no call
// clang: row_has_sound_attributes<fixed_string<4>{"Own"}, rows>
import kerngrad;
#include "own_op.h"

#ifdef TWIN
inline constexpr auto rows = own_rows;
#else
inline constexpr kg::attr_spec none_fits[] = {
    {.name = "rate", .kind = kg::attr_kind::number, .doc = "a rate", .least = 1, .most = 0}};
inline constexpr auto rows = rows_with([](kg::op_row& row) { row.attrs = none_fits; });
#endif
static_assert(kg::audit::check_all<rows, own_kernels, own_kernels, own_rules>());
