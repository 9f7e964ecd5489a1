// SPDX-License-Identifier: Apache-2.0
// A typed call with fewer operands than the op needs.
// clang: has_these_operands<kerngrad::known<fixed_string<4>{"Add"}>
// error: a wrong number of operands: see the op's row
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Add">(x, x);
#else
  return kg::call<"Add">(x);
#endif
}
