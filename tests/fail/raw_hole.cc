// SPDX-License-Identifier: Apache-2.0
// The span API for a dtype that the backend has no kernel of the op for: integers are lifted to float32 by the typed
// API, not here.
// clang: has_kernel<fixed_string<4>{"Exp"}
import kerngrad;

void f(std::span<const float> x, std::span<const int> i, std::span<float> y, std::span<int> j) {
  (void)i, (void)j;
#ifdef TWIN
  kg::kernel<"Exp">(x, y);
#else
  kg::kernel<"Exp">(i, j);
#endif
}
