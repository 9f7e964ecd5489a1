// SPDX-License-Identifier: Apache-2.0
// A typed call with a text for an attribute that is a number.
// error: an attribute of another kind than the op's row says
// clang: the_attributes_are<fixed_string<14>{"alpha: number"}>
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">(1));
#else
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">("1"));
#endif
}
