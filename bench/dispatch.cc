// SPDX-License-Identifier: Apache-2.0
// What it costs to reach a kernel: by hand, through the raw door, with tensors, by name; and through the tape.
#include <span>

#include "bench/support.h"
#include "kernels/binary.h"
import kerngrad;

namespace {

constexpr std::int64_t sizes[] = {1, 8, 64, 1024};

void register_case(const char* name, const kerngrad::kernels::target& target,
                   void (*body)(benchmark::State&, std::size_t)) {
  for (std::int64_t n : sizes)
    benchmark::RegisterBenchmark(
        (std::string("dispatch/") + name + "/target:" + target.name + "/n:" + std::to_string(n)).c_str(),
        [target, body, n](benchmark::State& state) {
          if (!kgbench::pin(state, target)) return;
          body(state, static_cast<std::size_t>(n));
          state.SetItemsProcessed(state.iterations() * n);
        });
}

struct arrays {
  alignas(64) float a[1024], b[1024], y[1024];
  arrays() {
    for (int i = 0; i < 1024; ++i) a[i] = static_cast<float>(i), b[i] = 2;
  }
};

void by_hand(benchmark::State& state, std::size_t n) {
  static arrays x;
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);
    kerngrad::kernels::Add_float32(x.a, x.b, x.y, n);
    benchmark::ClobberMemory();
  }
}

void raw_door(benchmark::State& state, std::size_t n) {
  static arrays x;
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);
    kg::kernel<"Add">(std::span<const float>(x.a, n), std::span<const float>(x.b, n), std::span<float>(x.y, n));
    benchmark::ClobberMemory();
  }
}

kg::tensor filled(std::size_t n) { return kg::full({static_cast<std::int64_t>(n)}, 0.5); }

void typed(benchmark::State& state, std::size_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  for (auto _ : state) benchmark::DoNotOptimize(kg::add(a, b).address());
}

void by_name(benchmark::State& state, std::size_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  for (auto _ : state) benchmark::DoNotOptimize(kg::run_kernel("Add", {{"a", a}, {"b", b}}).address());
}

void value_and_gradient(benchmark::State& state, std::size_t n) {
  const kg::tensor x = filled(n);
  auto f = kg::value_and_grad([](const kg::tensor& t) { return kg::sin(t) * t + kg::exp(t); });
  for (auto _ : state) benchmark::DoNotOptimize(f(x).grad.address());
}

}  // namespace

int main(int argc, char** argv) {
  return kgbench::run(argc, argv, [](const auto& targets) {
    for (const auto& target : targets) {
      register_case("by_hand", target, by_hand);
      register_case("raw_door", target, raw_door);
      register_case("typed", target, typed);
      register_case("by_name", target, by_name);
      register_case("value_and_grad_sin_x_plus_exp", target, value_and_gradient);
    }
  });
}
