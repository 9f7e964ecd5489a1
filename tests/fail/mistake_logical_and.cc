// SPDX-License-Identifier: Apache-2.0
// Masks joined by the operator of conditions.
// advice: & and | join masks
import kerngrad;

#ifdef TWIN
kg::tensor f(const kg::tensor& x) { return (x > 0) & (x < 3); }
#else
kg::tensor f(const kg::tensor& x) { return (x > 0) && (x < 3); }
#endif
