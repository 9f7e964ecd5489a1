// SPDX-License-Identifier: Apache-2.0
// A fused reduction over a list of axes.
// error: a_fused_reduction_is_over_all_axes_or_one
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::sum(a * a, {1}); })(x);
#else
  return kg::fuse([](auto a) { return kg::sum(a * a, {0, 1}); })(x);
#endif
}
