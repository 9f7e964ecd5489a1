// SPDX-License-Identifier: Apache-2.0
// An op without the attribute that it requires.
// advice: an attribute is missing that the op's row requires
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) { return kg::call<"Cast">(x, kg::attr<"dtype">(kg::dtype::int32)); }
#else
kg::tensor f(const kg::tensor& x) { return kg::call<"Cast">(x); }
#endif
