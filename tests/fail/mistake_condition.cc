// SPDX-License-Identifier: Apache-2.0
// A comparison as a condition.
// advice: a tensor is no number
import kerngrad;

#ifdef TWIN
int f(const kg::tensor& x) { return kg::all(x == x).item() != 0 ? 1 : 0; }
#else
int f(const kg::tensor& x) { return x == x ? 1 : 0; }
#endif
