// SPDX-License-Identifier: Apache-2.0
// A fraction where an index is asked for.
// error: an index is an integer, kg::range, kg::all, kg::newaxis, kg::ellipsis, or a tensor of integers or booleans
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return x(1, kg::all);
#else
  return x(1.5, kg::all);
#endif
}
