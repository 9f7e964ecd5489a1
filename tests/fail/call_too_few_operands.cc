// SPDX-License-Identifier: Apache-2.0
// A typed call with fewer operands than the op needs.
// error: a wrong number of operands: see the op's row
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Add">(x, x);
#else
  return kg::call<"Add">(x);
#endif
}
