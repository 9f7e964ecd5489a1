// SPDX-License-Identifier: Apache-2.0
// A fused expression without an attribute that the op's row requires.
// error: an attribute is missing that the op's row requires
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::call<"Cast">(a, kg::attr<"dtype">(kg::dtype::float64)); })(x);
#else
  return kg::fuse([](auto a) { return kg::call<"Cast">(a); })(x);
#endif
}
