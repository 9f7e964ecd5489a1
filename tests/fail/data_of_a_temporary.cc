// SPDX-License-Identifier: Apache-2.0
// The elements of a tensor that ends with the expression.
// clang: call to deleted member function 'data': a temporary's elements die with it: name the tensor, or take item()
import kerngrad;

float f(const kg::tensor& x) {
#ifdef TWIN
  const kg::tensor y = kg::exp(x);
  return y.data<float>()[0];
#else
  return kg::exp(x).data<float>()[0];
#endif
}
