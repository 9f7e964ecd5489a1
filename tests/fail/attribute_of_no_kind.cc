// SPDX-License-Identifier: Apache-2.0
// A value that is none of the kinds an attribute can have.
// clang: because 'std::is_convertible_v<const kerngrad::tensor &, attr_value>' evaluated to false
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">(0.5f));
#else
  return kg::call<"LeakyRelu">(x, kg::attr<"alpha">(kg::tensor(0.5f)));
#endif
}
