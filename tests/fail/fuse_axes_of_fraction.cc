// SPDX-License-Identifier: Apache-2.0
// A fraction as the axis of a fused reduction.
// error: axes are integers: sum(x, 0), sum(x, {0, 1})
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::sum(a * a, -1); })(x);
#else
  return kg::fuse([](auto a) { return kg::sum(a * a, 0.5); })(x);
#endif
}
