// SPDX-License-Identifier: Apache-2.0
// Costs of memory, measured in turns. fresh: a new tensor in steady state against the kernel into a ready array (the
// same stores). stream: results past the caches against stores through them. faults: a block of 64 MB new from the
// system against one that is kept for reuse.
#include <limits>
#include <vector>

#include "bench/paired.h"
#include "kernels/common/stream.h"
import kerngrad;

namespace {

using kg::tensor;
constexpr std::int64_t sizes[] = {1000, 1 << 16, 1000000, 4000000, 16000000};

template <kg::fixed_string Op>
void fresh(benchmark::State& state, std::int64_t n) {
  const tensor x = kg::random_uniform({n}, 0.1, 0.9, 1), y = kg::random_uniform({n}, 0.1, 0.9, 2);
  const tensor room = tensor::build<float>({n}, [](std::span<float>) {});
  const std::span<float> out(const_cast<float*>(room.data<float>().data()), static_cast<std::size_t>(n));
  kgbench::paired(
      state, [&] { kg::kernel<Op>(x.data<float>(), y.data<float>(), out); },
      [&] { benchmark::DoNotOptimize(kg::call<Op>(x, y)); });
}

void stream(benchmark::State& state, std::int64_t n, const std::function<tensor(const tensor&, const tensor&)>& op) {
  const tensor x = kg::random_uniform({n}, 0.1, 0.9, 1), y = kg::random_uniform({n}, 0.1, 0.9, 2);
  const std::size_t usual = kerngrad::kernels::stream_least;
  const auto with = [&](std::size_t threshold) {
    kerngrad::kernels::stream_least = threshold;
    benchmark::DoNotOptimize(op(x, y));
  };
  kgbench::paired(state, [&] { with(std::numeric_limits<std::size_t>::max()); }, [&] { with(1); });
  kerngrad::kernels::stream_least = usual;
}

void add(const std::string& name, std::int64_t n, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark((name + "/n:" + std::to_string(n)).c_str(), run);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const std::int64_t n : sizes) {
    add("fresh/add", n, [n](benchmark::State& state) { fresh<"Add">(state, n); });
    add("fresh/mul", n, [n](benchmark::State& state) { fresh<"Multiply">(state, n); });
    const auto streams = [n](const char* name, std::function<tensor(const tensor&, const tensor&)> op) {
      add(name, n, [n, op](benchmark::State& state) { stream(state, n, op); });
    };
    streams("stream/add", [](const tensor& a, const tensor& b) { return a + b; });
    streams("stream/mul", [](const tensor& a, const tensor& b) { return a * b; });
    streams("stream/relu", [](const tensor& a, const tensor&) { return kg::relu(a); });
    streams("stream/exp", [](const tensor& a, const tensor&) { return kg::exp(a); });
    streams("stream/fill", [](const tensor& a, const tensor&) { return kg::full(a.dims(), 1); });
    streams("stream/where", [](const tensor& a, const tensor& b) { return kg::where(kg::tensor(true), a, b); });
  }
  add("faults/ones", 16000000, [](benchmark::State& state) {
    const auto make = [] { benchmark::DoNotOptimize(kg::ones({16000000})); };
    kgbench::paired(state, make, [&] { kg::release_cached_memory(), make(); });
  });
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
