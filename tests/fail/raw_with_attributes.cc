// SPDX-License-Identifier: Apache-2.0
// The span API for a kernel that needs attributes.
// error: this kernel does not take one operand without attributes: use the typed call
// clang: kerngrad::kernel<fixed_string<10>{"LeakyRelu"}
import kerngrad;

void f(std::span<const float> x, std::span<const int> i, std::span<float> y, std::span<int> j) {
  (void)i, (void)j;
#ifdef TWIN
  kg::kernel<"Relu">(x, y);
#else
  kg::kernel<"LeakyRelu">(x, y);
#endif
}
