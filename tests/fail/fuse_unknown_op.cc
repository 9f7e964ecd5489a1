// SPDX-License-Identifier: Apache-2.0
// A name that no row has, in a fused expression.
// error: no op has this name: docs/ops.md lists all
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](kg::symbolic auto a) { return kg::call<"Relu">(a); })(x);
#else
  return kg::fuse([](kg::symbolic auto a) { return kg::call<"Relo">(a); })(x);
#endif
}
