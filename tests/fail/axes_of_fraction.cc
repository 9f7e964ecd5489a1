// SPDX-License-Identifier: Apache-2.0
// A fraction where axes are asked for: it would convert to axis 0. Mostly maximum(x, 0.5) is meant.
// error: axes are integers: sum(x, 0), sum(x, {0, 1})
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::max(x, 0);
#else
  return kg::max(x, 0.5f);
#endif
}
