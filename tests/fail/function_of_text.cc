// SPDX-License-Identifier: Apache-2.0
// A named function of two operands, called with something that is neither tensor nor number.
// clang: no matching function for call to 'maximum'
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::maximum(x, 0);
#else
  return kg::maximum(x, "0");
#endif
}
