// SPDX-License-Identifier: Apache-2.0
// The raw door: spans in, spans out. Its precondition is asserted where the build of the library keeps assertions,
// which in a superproject is the one build that both share.
#include <cstdio>
#include <span>
import kerngrad;

int main() {
  const float a[] = {1, 2, 3}, b[] = {10, 20, 30};
  float sum[3], short_one[2];
  kg::kernel<"Add">(std::span<const float>(a), std::span<const float>(b), std::span<float>(sum));
  if (sum[0] != 11 || sum[1] != 22 || sum[2] != 33) return 1;
#ifdef NDEBUG
  std::puts("not asserted");
#else
  try {
    kg::kernel<"Add">(std::span<const float>(a), std::span<const float>(b), std::span<float>(short_one));
    return 1;
  } catch (const kg::error&) {
    std::puts("asserted");
  }
#endif
  return sizeof short_one == 8 ? 0 : 1;
}
