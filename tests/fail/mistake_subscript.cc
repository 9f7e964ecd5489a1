// SPDX-License-Identifier: Apache-2.0
// A subscript, which C++23 has for several indices.
// advice: write x(0), x(0, 1) | x[0]
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) { return x(0); }
#else
kg::tensor f(const kg::tensor& x) { return x[0]; }
#endif
