// SPDX-License-Identifier: Apache-2.0
// The same check where operands come as a list.
// error: an attribute that the op's row does not have: see the row for their names
// clang: {"axis: integer"}>::as_given
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call_list<"Concat">({&x, 1}, kg::attr<"axis">(0)).front();
#else
  return kg::call_list<"Concat">({&x, 1}, kg::attr<"axes">(0)).front();
#endif
}
