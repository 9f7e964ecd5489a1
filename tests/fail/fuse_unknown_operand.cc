// SPDX-License-Identifier: Apache-2.0
// The gradient of an operand that is not there.
// error: [fuse] value_and_grads<...> lists operands by their numbers, from 0 on, each once
import kerngrad;

kg::tensor f(const kg::tensor& x) {
  constexpr auto product = kg::fuse([](auto a, auto b) { return a * b; });
#ifdef TWIN
  return product.value_and_grads<1>(x, x).value;
#else
  return product.value_and_grads<2>(x, x).value;
#endif
}
