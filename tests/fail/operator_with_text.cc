// SPDX-License-Identifier: Apache-2.0
// An operator between a tensor and something that is neither tensor nor number.
// clang: a tensor is no number
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return x + 1;
#else
  return x + "1";
#endif
}
