// SPDX-License-Identifier: Apache-2.0
// A value that is none of the kinds an attribute can have.
// clang: no viable conversion from 'const kerngrad::tensor' to 'kerngrad::attr_value'
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">(0.5f));
#else
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">(kg::tensor(0.5f)));
#endif
}
