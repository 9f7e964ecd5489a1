// SPDX-License-Identifier: Apache-2.0
// The same check where operands come as a list.
// error: an attribute is missing that the op's row requires
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call_list<"SplitV">({&x, 1}, kg::attr<"numOrSizeSplits">(2)).front();
#else
  return kg::call_list<"SplitV">({&x, 1}).front();
#endif
}
