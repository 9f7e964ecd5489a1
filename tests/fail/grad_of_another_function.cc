// SPDX-License-Identifier: Apache-2.0
// The gradient of a function that does not take a tensor.
// error: [grad] the function must take tensors, as many as it is differentiated at, and return a tensor
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::grad([](const kg::tensor& v) { return v * v; })(x);
#else
  return kg::grad([](int v) { return v * v; })(x);
#endif
}
