// SPDX-License-Identifier: Apache-2.0
// A typed call without an attribute that the row of the op requires.
// error: an attribute is missing that the op's row requires
// clang: the_attributes_are<fixed_string<23>{"dtype: dtype, required"}>
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Cast">(x, kg::attr<"dtype">(kg::dtype::float64));
#else
  return kg::call<"Cast">(x);
#endif
}
