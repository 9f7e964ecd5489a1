// SPDX-License-Identifier: Apache-2.0
// An axis by its name.
// advice: axes are integers
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) { return kg::sum(x, 0); }
#else
kg::tensor f(const kg::tensor& x) { return kg::sum(x, "rows"); }
#endif
