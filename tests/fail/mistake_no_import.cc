// SPDX-License-Identifier: Apache-2.0
// A program that does not import the module.
// advice: use of undeclared identifier 'kg'
#ifdef TWIN
import kerngrad;
#endif

auto f() { return kg::zeros({2}); }
