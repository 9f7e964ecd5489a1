// SPDX-License-Identifier: Apache-2.0
// The span API with two operands for a kernel of one.
// error: this kernel does not take two operands: use the typed call
// clang: kerngrad::kernel<fixed_string<4>{"Exp"}
import kerngrad;

void f(std::span<const float> x, std::span<const int> i, std::span<float> y, std::span<int> j) {
  (void)i, (void)j;
#ifdef TWIN
  kg::kernel<"Add">(x, x, y);
#else
  kg::kernel<"Exp">(x, x, y);
#endif
}
