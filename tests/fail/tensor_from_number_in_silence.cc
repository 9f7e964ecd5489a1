// SPDX-License-Identifier: Apache-2.0
// A number does not become a tensor unasked: which dtype it should have is for the writer to say.
// clang: no viable conversion from 'float' to 'kg::tensor'
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  kg::tensor y(3.0f);
  return x + y;
#else
  kg::tensor y = 3.0f;
  return x + y;
#endif
}
