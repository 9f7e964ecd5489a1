// SPDX-License-Identifier: Apache-2.0
// What is behind the doors is not for importers.
// clang: no member named 'run_unary' in namespace 'kerngrad::detail' | 'run_unary' must be imported from module
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<"Abs">(x);
#else
  return kg::detail::run_unary(0, x);
#endif
}
