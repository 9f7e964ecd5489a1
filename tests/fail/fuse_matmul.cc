// SPDX-License-Identifier: Apache-2.0
// A function of tensors in a fused expression.
// error: [fuse] only elementwise ops, operators with numbers and a last reduction can be fused
import kerngrad;

kg::tensor f(const kg::tensor& x, const kg::tensor& y) {
#ifdef TWIN
  return kg::matmul(kg::fuse([](auto a, auto b) { return a * b; })(x, y), y);
#else
  return kg::fuse([](auto a, auto b) { return kg::matmul(a * b, b); })(x, y);
#endif
}
