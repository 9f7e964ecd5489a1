// SPDX-License-Identifier: Apache-2.0
// Elements do not change through a tensor: tapes and copies share them.
// clang: cannot assign to return value because function 'operator[]' returns a const value
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::full({1}, x.data<float>()[0]);
#else
  x.data<float>()[0] = 1;
  return x;
#endif
}
