// SPDX-License-Identifier: Apache-2.0
// A misspelt op.
// advice: no op has this name
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) { return kg::call<"Exp">(x); }
#else
kg::tensor f(const kg::tensor& x) { return kg::call<"Expp">(x); }
#endif
