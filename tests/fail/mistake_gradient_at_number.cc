// SPDX-License-Identifier: Apache-2.0
// A gradient at a number.
// advice: pass kg::tensor(3.), not 3
import kerngrad;

#ifdef TWIN
kg::tensor f() {
  return kg::grad([](const kg::tensor& t) { return t * t; })(kg::tensor(3.));
}
#else
kg::tensor f() {
  return kg::grad([](const kg::tensor& t) { return t * t; })(3);
}
#endif
