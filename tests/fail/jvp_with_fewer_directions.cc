// SPDX-License-Identifier: Apache-2.0
// A direction for one operand of two.
// clang: no matching function for call to object of type 'jacobian_product<
import kerngrad;

kg::tensor g(const kg::tensor& a, const kg::tensor& b) {
  const auto product = [](const kg::tensor& x, const kg::tensor& y) { return x * y; };
#ifdef TWIN
  return kg::jvp(product)({a, b}, {a, b}).tangent;
#else
  return kg::jvp(product)({a, b}, {a}).tangent;
#endif
}
