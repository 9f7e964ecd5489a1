// SPDX-License-Identifier: Apache-2.0
// The span API for a name that no row has.
// clang: fixed_string<5>{"Relo"} does not satisfy 'known_op'
import kerngrad;

void f(std::span<const float> x, std::span<const int> i, std::span<float> y, std::span<int> j) {
  (void)i, (void)j;
#ifdef TWIN
  kg::kernel<"Relu">(x, y);
#else
  kg::kernel<"Relo">(x, y);
#endif
}
