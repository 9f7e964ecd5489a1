// SPDX-License-Identifier: Apache-2.0
// A row of a matrix with elements of different C++ types.
// advice: elements of one C++ type that a dtype has
import kerngrad;

#ifdef TWIN
kg::tensor f() { return kg::tensor({{1., 2.5}, {3., 4.}}); }
#else
kg::tensor f() { return kg::tensor({{1, 2.5}, {3, 4}}); }
#endif
