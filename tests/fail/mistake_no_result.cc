// SPDX-License-Identifier: Apache-2.0
// A function without a result.
// advice: return a tensor
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) {
  return kg::grad([](const kg::tensor& t) { return kg::sum(t * t); })(x);
}
#else
kg::tensor f(const kg::tensor& x) {
  return kg::grad([](const kg::tensor& t) { kg::sum(t * t); })(x);
}
#endif
