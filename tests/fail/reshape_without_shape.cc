// SPDX-License-Identifier: Apache-2.0
// A reshape that does not say to what.
// clang: no matching function for call to 'reshape'
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::reshape(x, {-1});
#else
  return kg::reshape(x);
#endif
}
