// SPDX-License-Identifier: Apache-2.0
// The mdspan of a tensor that ends with the expression.
// clang: call to deleted function 'as_mdspan': a temporary's elements die with it: name the tensor
import kerngrad;

auto f(const kg::tensor& x) {
#ifdef TWIN
  return kg::as_mdspan<float, 2>(x).extent(0);
#else
  return kg::as_mdspan<float, 2>(kg::exp(x)).extent(0);
#endif
}
