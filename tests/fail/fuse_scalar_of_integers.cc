// SPDX-License-Identifier: Apache-2.0
// An op of integers at single numbers.
// error: [fuse] an expression with a cast, a conversion, a reduction or an op that has no kernel for such
import kerngrad;

float f(float x, float y) {
#ifdef TWIN
  return kg::fuse([](auto a, auto b) { return kg::call<"Mod">(a, b); })(x, y);
#else
  return kg::fuse([](auto a, auto b) { return kg::call<"BitwiseAnd">(a, b); })(x, y);
#endif
}
