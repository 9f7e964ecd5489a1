// SPDX-License-Identifier: Apache-2.0
// A fused function called with another number of operands than its expression takes.
// error: [fuse] the expression must be callable with as many operands as the fused function is called with
import kerngrad;

kg::tensor f(const kg::tensor& x) {
  constexpr auto scaled = kg::fuse([](auto a, auto b) { return a * b; });
#ifdef TWIN
  return scaled(x, x);
#else
  return scaled(x);
#endif
}
