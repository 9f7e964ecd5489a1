// SPDX-License-Identifier: Apache-2.0
// An element as a type that no dtype stores.
// advice: [item] no dtype has elements of this C++ type
import kerngrad;

#ifdef TWIN
float f(const kg::tensor& x) { return x.item<float>(); }
#else
char f(const kg::tensor& x) { return x.item<char>(); }
#endif
