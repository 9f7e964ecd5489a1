// SPDX-License-Identifier: Apache-2.0
// A typed call, in a fused expression, of an op that does not work by element.
// error: [fuse] this op does not work element by element, so it cannot be fused
// clang: fixed_string<8>{"Softmax"}
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::fuse([](auto a) { return kg::call<"Sigmoid">(a * 2); })(x);
#else
  return kg::fuse([](auto a) { return kg::call<"Softmax">(a * 2); })(x);
#endif
}
