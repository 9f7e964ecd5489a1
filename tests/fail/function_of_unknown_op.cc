// SPDX-License-Identifier: Apache-2.0
// A function object made from a name that no row has.
// clang: constraints not satisfied for variable template 'function_of'
// clang: fixed_string<5>{"Relo"} does not satisfy 'known_op'
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::function_of<"Relu">(x);
#else
  return kg::function_of<"Relo">(x);
#endif
}
