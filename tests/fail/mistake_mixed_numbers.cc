// SPDX-License-Identifier: Apache-2.0
// Elements of different C++ types in braces, two of them and more.
// advice: elements of one C++ type that a dtype has
// clang: 2 errors generated
import kerngrad;

#ifdef TWIN
kg::tensor f() { return kg::tensor({-2., 0., 0.5}); }
kg::tensor g() { return kg::tensor({-2., 0.5}); }
#else
kg::tensor f() { return kg::tensor({-2, 0, 0.5}); }
kg::tensor g() { return kg::tensor({-2, 0.5}); }
#endif
