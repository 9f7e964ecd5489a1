// SPDX-License-Identifier: Apache-2.0
// The program of docs/benchmark-a-kernel.md.
#include <benchmark/benchmark.h>
#include <kerngrad/declare.h>

#include <string>
#include <vector>

import kerngrad;

namespace my {
KERNGRAD_DECLARE_UNARY(Bump, float32)
}  // namespace my

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<float> x(65536, 0.5f), y(x.size());
  for (const kg::simd_target& target : kg::simd_targets())
    benchmark::RegisterBenchmark(("Bump/" + std::string(target.name)).c_str(), [&, target](benchmark::State& state) {
      kg::set_simd_target(target.name);
      for (auto _ : state) my::Bump_float32(x.data(), y.data(), x.size());
      state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(x.size()));
    });
  benchmark::RunSpecifiedBenchmarks();
}
