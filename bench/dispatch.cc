// SPDX-License-Identifier: Apache-2.0
// Cost of reaching a kernel: by hand, through the span API, with tensors, by name; and through the tape.
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "bench/support.h"
#include "kernels/elementwise/binary.h"
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

// ---- one operand and one attribute, on tensors: what a name costs next to the typed call

void typed_with_attribute(benchmark::State& state, std::size_t n) {
  const kg::tensor x = filled(n);
  for (auto _ : state) benchmark::DoNotOptimize(kg::call<"LeakyRelu">(x, kg::attr<"alpha">(0.1)).address());
}

void by_name_with_attribute(benchmark::State& state, std::size_t n) {
  const kg::tensor x = filled(n);
  for (auto _ : state) benchmark::DoNotOptimize(kg::run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}}).address());
}

void handle_with_attribute(benchmark::State& state, std::size_t n) {
  const kg::tensor x = filled(n);
  const kg::kernel_handle leaky = kg::find_kernel("LeakyRelu");
  for (auto _ : state) benchmark::DoNotOptimize(leaky({{"x", x}}, {{"alpha", 0.1}}).address());
}

// ---- on spans: a handle next to other ways to call a function that is known at run time only

using binary_fn = void (*)(const void*, const void*, void*, std::size_t);

void function_pointer(benchmark::State& state, std::size_t n) {
  static arrays x;
  binary_fn add = kerngrad::kernels::Add_float32;
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);
    benchmark::DoNotOptimize(add);
    add(x.a, x.b, x.y, n);
    benchmark::ClobberMemory();
  }
}

void std_function(benchmark::State& state, std::size_t n) {
  static arrays x;
  std::function<void(const void*, const void*, void*, std::size_t)> add = kerngrad::kernels::Add_float32;
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);
    benchmark::DoNotOptimize(add);
    add(x.a, x.b, x.y, n);
    benchmark::ClobberMemory();
  }
}

void hash_map(benchmark::State& state, std::size_t n) {
  static arrays x;
  std::unordered_map<std::string, binary_fn> all;
  for (const kg::op_row& row : kg::op_table) all[std::string(row.name)] = kerngrad::kernels::Add_float32;
  const std::string name = "Add";
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);
    all.find(name)->second(x.a, x.b, x.y, n);
    benchmark::ClobberMemory();
  }
}

void handle_on_spans(benchmark::State& state, std::size_t n) {
  static arrays x;
  const kg::kernel_handle add = kg::find_kernel("Add");
  for (auto _ : state) {
    benchmark::DoNotOptimize(n);
    add(std::span<const float>(x.a, n), std::span<const float>(x.b, n), std::span<float>(x.y, n));
    benchmark::ClobberMemory();
  }
}

void value_and_gradient(benchmark::State& state, std::size_t n) {
  const kg::tensor x = filled(n);
  auto f = kg::value_and_grad([](const kg::tensor& t) { return kg::sin(t) * t + kg::exp(t); });
  for (auto _ : state) benchmark::DoNotOptimize(f(x).grad.address());
}

}  // namespace

int main(int argc, char** argv) {
  return kgbench::run(argc, argv, [](const kgbench::selection& chosen) {
    for (const auto& target : chosen.targets) {
      register_case("by_hand", target, by_hand);
      register_case("raw_door", target, raw_door);
      register_case("typed", target, typed);
      register_case("by_name", target, by_name);
      register_case("typed_with_attribute", target, typed_with_attribute);
      register_case("by_name_with_attribute", target, by_name_with_attribute);
      register_case("handle_with_attribute", target, handle_with_attribute);
      register_case("function_pointer_on_spans", target, function_pointer);
      register_case("std_function_on_spans", target, std_function);
      register_case("hash_map_on_spans", target, hash_map);
      register_case("handle_on_spans", target, handle_on_spans);
      register_case("value_and_grad_sin_x_plus_exp", target, value_and_gradient);
    }
  });
}
