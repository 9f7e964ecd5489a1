// SPDX-License-Identifier: Apache-2.0
// A gradient that is const, of a function that changes itself.
// clang: no matching function for call to object of type
// error: callable_as_const
import kerngrad;

kg::tensor f(const kg::tensor& x) {
  auto counting = [n = 0](const kg::tensor& v) mutable { return v * ++n; };
#ifdef TWIN
  auto g = kg::grad(counting);
#else
  const auto g = kg::grad(counting);
#endif
  return g(x);
}
