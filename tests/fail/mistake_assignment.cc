// SPDX-License-Identifier: Apache-2.0
// An assignment to a part of a tensor.
// advice: this is a new tensor, not a part of another
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) { return x.at(0).set(1); }
#else
void f(const kg::tensor& x) { x(0) = x; }
#endif
