// SPDX-License-Identifier: Apache-2.0
// An attribute, in a fused expression, that the op's row does not have.
// error: an attribute that the op's row does not have
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::call<"LeakyRelu">(a, kg::attr<"alpha">(0.1)); })(x);
#else
  return kg::fuse([](auto a) { return kg::call<"LeakyRelu">(a, kg::attr<"slope">(0.1)); })(x);
#endif
}
