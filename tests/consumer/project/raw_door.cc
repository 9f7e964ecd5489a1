// SPDX-License-Identifier: Apache-2.0
// The span API: spans in, spans out. Its precondition is asserted in kerngrad's debug build only, whatever the consumer
// is built like: what is said here is whether it was.
#include <cstdio>
#include <span>
import kerngrad;

int main() {
  const float a[] = {1, 2, 3}, b[] = {10, 20, 30};
  float sum[3];
  kg::kernel<"Add">(std::span<const float>(a), std::span<const float>(b), std::span<float>(sum));
  if (sum[0] != 11 || sum[1] != 22 || sum[2] != 33) return 1;
  try {
    kg::kernel<"Add">(std::span<const float>(a), std::span<const float>(b), std::span<float>(sum).first(2));
    std::puts("not asserted");
  } catch (const kg::error&) {
    std::puts("asserted");
  }
}
