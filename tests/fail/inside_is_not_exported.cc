// SPDX-License-Identifier: Apache-2.0
// Functions inside of the APIs are not for importers.
// clang: no member named 'run_unary' in namespace 'kerngrad::detail' | 'run_unary' must be imported from module
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Abs">(x);
#else
  return kg::detail::run_unary(0, x);
#endif
}
