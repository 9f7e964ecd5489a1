// SPDX-License-Identifier: Apache-2.0
// So is the product of its sizes.
// clang: constexpr variable 'dims' must be initialized by a constant expression
// error: sizes whose product overflows
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  constexpr kg::shape dims{1 << 20, 1 << 20, 1 << 18};
  return kg::broadcast_to(x, dims);
#else
  constexpr kg::shape dims{1 << 20, 1 << 20, 1 << 19};
  return kg::broadcast_to(x, dims);
#endif
}
