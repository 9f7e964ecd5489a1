// SPDX-License-Identifier: Apache-2.0
// The span API promotes nothing: operands have the type of the result.
// clang: no known conversion from 'span<const int>'
import kerngrad;

void f(std::span<const float> x, std::span<const int> i, std::span<float> y, std::span<int> j) {
  (void)i, (void)j;
#ifdef TWIN
  kg::kernel<"Add">(x, x, y);
#else
  kg::kernel<"Add">(x, i, y);
#endif
}
