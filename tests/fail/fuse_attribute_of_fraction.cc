// SPDX-License-Identifier: Apache-2.0
// A fused op with a fraction for an attribute that is an integer.
// error: an_attribute_of_a_fused_op_is_out_of_range
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::call<"Polygamma">(a, kg::attr<"n">(1.0)); })(x);
#else
  return kg::fuse([](auto a) { return kg::call<"Polygamma">(a, kg::attr<"n">(1.5)); })(x);
#endif
}
