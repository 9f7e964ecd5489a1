// SPDX-License-Identifier: Apache-2.0
// A misspelt option of a named function: the compiler says which one was meant.
// clang: field designator 'stride' does not refer to any field
// clang: did you mean 'strides'?
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::conv2d(x, x, {.strides = 2});
#else
  return kg::conv2d(x, x, {.stride = 2});
#endif
}
