// SPDX-License-Identifier: Apache-2.0
// A bool where axes are asked for: mostly the flag that keeps the axes is meant.
// error: axes are integers: sum(x, 0), sum(x, {0, 1})
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::sum(x, kg::all_axes, true);
#else
  return kg::sum(x, true);
#endif
}
