// SPDX-License-Identifier: Apache-2.0
// A fraction where one axis is asked for.
// error: an axis is an integer: 0 for the first, -1 for the last
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::softmax(x, -1);
#else
  return kg::softmax(x, 0.5);
#endif
}
