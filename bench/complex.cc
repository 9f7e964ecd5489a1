// SPDX-License-Identifier: Apache-2.0
// Complex numbers, in turns: a loop over std::complex first, then the call. `ratio` below 0.25 is four times as fast.
#include <complex>
#include <string>
#include <vector>

#include "bench/complex_by_hand.h"
#include "bench/paired.h"
import kerngrad;

namespace {

using kg::tensor;

template <class T>
struct numbers {
  using z = std::complex<T>;
  std::vector<z> values, results;
  tensor x;
  explicit numbers(const kg::shape& dims, std::uint64_t seed) : results(static_cast<std::size_t>(dims.size())) {
    const kg::dtype part = kg::dtype_of<T>;
    x = kg::complex(kg::cast(kg::random_uniform(dims, -3, 3, seed), part),
                    kg::cast(kg::random_uniform(dims, -3, 3, seed + 1), part));
    for (const z& value : x.data<z>()) values.push_back(value);
  }
};

template <class T>
void add_all(const std::string& type) {
  using z = std::complex<T>;
  const auto add = [&](const std::string& name, std::int64_t n, const auto& run) {
    benchmark::RegisterBenchmark(("complex/" + name + "/" + type + "/n:" + std::to_string(n)).c_str(), run);
  };
  const auto map = [&](const std::string& name, void (*by_hand)(const z*, z*, std::int64_t),
                       tensor (*f)(const tensor&)) {
    for (const std::int64_t n : {1000, 100000})
      add(name, n, [=](benchmark::State& state) {
        numbers<T> a({n}, 1);
        kgbench::paired(
            state, [&] { by_hand(a.values.data(), a.results.data(), n), benchmark::ClobberMemory(); },
            [&] { benchmark::DoNotOptimize(f(a.x)); });
      });
  };
  for (const std::int64_t n : {1000, 100000})
    add("mul", n, [=](benchmark::State& state) {
      numbers<T> a({n}, 1), b({n}, 3);
      kgbench::paired(
          state,
          [&] {
            kgbench::multiply_by_hand(a.values.data(), b.values.data(), a.results.data(), n);
            benchmark::ClobberMemory();
          },
          [&] { benchmark::DoNotOptimize(a.x * b.x); });
    });
  map("exp", kgbench::exp_by_hand, [](const tensor& x) { return kg::exp(x); });
  map("log", kgbench::log_by_hand, [](const tensor& x) { return kg::log(x); });
  map("tanh", kgbench::tanh_by_hand, [](const tensor& x) { return kg::tanh(x); });
  for (const std::int64_t n : {8, 64, 256})
    add("matmul", n, [=](benchmark::State& state) {
      numbers<T> a({n, n}, 1), b({n, n}, 3);
      kgbench::paired(
          state,
          [&] {
            kgbench::matmul_by_hand(a.values.data(), b.values.data(), a.results.data(), n);
            benchmark::ClobberMemory();
          },
          [&] { benchmark::DoNotOptimize(kg::matmul(a.x, b.x)); });
    });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all<float>("complex64");
  add_all<double>("complex128");
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
