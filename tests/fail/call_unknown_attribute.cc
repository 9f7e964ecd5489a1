// SPDX-License-Identifier: Apache-2.0
// A typed call with an attribute that the row of the op does not have.
// error: an attribute that the op's row does not have: see the row for their names
// clang: the_attributes_are<fixed_string<14>{"alpha: number"}>
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">(0.1));
#else
  return kg::call<"LeakyRelu">(x, kg::attr<"slope">(0.1));
#endif
}
