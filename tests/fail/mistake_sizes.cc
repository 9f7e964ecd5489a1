// SPDX-License-Identifier: Apache-2.0
// Sizes without braces.
// advice: sizes are a list in braces
import kerngrad;

#ifdef TWIN
kg::tensor f() { return kg::zeros({2, 3}); }
#else
kg::tensor f() { return kg::zeros(2); }
#endif
