// SPDX-License-Identifier: Apache-2.0
// An operator between a tensor and something that is neither tensor nor number.
// clang: invalid operands to binary expression ('const kg::tensor' and 'const char[2]')
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return x + 1;
#else
  return x + "1";
#endif
}
