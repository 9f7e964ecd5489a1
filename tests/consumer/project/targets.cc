// SPDX-License-Identifier: Apache-2.0
// Prints the SIMD targets that kernels run on here, best first: a consumer's -march must not take any away.
#include <cstdio>
import kerngrad;

int main() {
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    const kg::tensor y = kg::exp(kg::zeros({17}));
    if (kg::active_simd_target() != target.name || kg::sum(y).item() != 17) return 1;
    std::puts(target.name.c_str());
  }
}
