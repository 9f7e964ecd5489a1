// SPDX-License-Identifier: Apache-2.0
// A typed call with more operands than the op has.
// error: a wrong number of operands: see the op's row
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Exp">(x);
#else
  return kg::call<"Exp">(x, x);
#endif
}
