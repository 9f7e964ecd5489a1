// SPDX-License-Identifier: Apache-2.0
// A user-defined op whose attribute has a default that no call could give.
// error: an attribute of the op's row has no name or another one's, an empty range, or a default that no call could
// give
import kerngrad;
#include "outside_op.h"

#ifdef TWIN
inline constexpr kg::attr_spec attrs[] = {
    {.name = "rate", .kind = kg::attr_kind::number, .doc = "a rate", .fallback = 1, .least = 1}};
#else
inline constexpr kg::attr_spec attrs[] = {{.name = "rate", .kind = kg::attr_kind::number, .doc = "a rate", .least = 1}};
#endif
struct Own {
  static constexpr kg::op_row row = row_with([](kg::op_row& row) { row.attrs = attrs; });
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x, double) { return x / 2; }));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
