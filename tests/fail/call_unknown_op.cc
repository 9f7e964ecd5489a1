// SPDX-License-Identifier: Apache-2.0
// A typed call of a name that no row has.
// error: no op has this name: docs/ops.md lists all
// clang: fixed_string<5>{"Relu"}>
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Relu">(x);
#else
  return kg::call<"Relo">(x);
#endif
}
