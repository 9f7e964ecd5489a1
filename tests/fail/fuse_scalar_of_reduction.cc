// SPDX-License-Identifier: Apache-2.0
// A reduction at single numbers.
// error: [fuse] an expression with a cast, a conversion, a reduction or an op that has no kernel for such
import kerngrad;

float f(float x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return a * a; })(x);
#else
  return kg::fuse([](auto a) { return kg::sum(a * a); })(x);
#endif
}
