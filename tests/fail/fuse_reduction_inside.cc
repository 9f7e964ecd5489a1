// SPDX-License-Identifier: Apache-2.0
// A reduction in the middle of a fused expression.
// error: [fuse] a reduction can only be the last step of a fused expression
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::sum(a * a); })(x);
#else
  return kg::fuse([](auto a) { return a * kg::sum(a); })(x);
#endif
}
