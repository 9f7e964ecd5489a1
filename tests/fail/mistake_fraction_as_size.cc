// SPDX-License-Identifier: Apache-2.0
// A fraction among sizes.
// advice: cannot be narrowed to
import kerngrad;

#ifdef TWIN
kg::tensor f() { return kg::zeros({2, 3}); }
#else
kg::tensor f() { return kg::zeros({2, 3.5}); }
#endif
