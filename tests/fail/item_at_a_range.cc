// SPDX-License-Identifier: Apache-2.0
// A range where one element is asked for.
// error: item takes an integer for each axis
import kerngrad;

float f(const kg::tensor& x) {
#ifdef TWIN
  return x.item<float>(1, 0);
#else
  return x.item<float>(1, kg::range(0, 2));
#endif
}
