// SPDX-License-Identifier: Apache-2.0
// The optimizers' steps of kernels/optimizer/update.h: they change parameters and state in place and are no ops.
#include "kernels/optimizer/update.h"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/machine.h"
#include "bench/support.h"
#include "bench/update.h"

namespace kgbench {
namespace {

namespace kernels = kerngrad::kernels;

// Parameters, gradient and state; values stay finite however often a step is made.
template <class T>
struct arrays {
  std::vector<T> p, g, m, v, w;
  explicit arrays(std::size_t n) : p(n, T(0.5)), g(n, T(0.25)), m(n, T(0)), v(n, T(0.5)), w(n, T(0)) {}
};

template <class T>
struct step {
  const char* name;
  double operations;        // per parameter
  double read, written;     // arrays
  double quotients, roots;  // per parameter
  void (*run)(arrays<T>&);
};

constexpr double rate = 1e-9;
constexpr kernels::adam_step adam{rate, 0.9, 0.999, 1e-8, 1.1, 1.1};

constexpr kernels::rms_prop_step rms_prop{rate, 0.9, 0.5, 1e-7};

constexpr step<float> float32_steps[] = {
    {"sgd", 2, 2, 1, 0, 0, [](auto& a) { kernels::sgd_float32(a.p.data(), a.g.data(), a.p.size(), rate); }},
    {"momentum", 4, 3, 2, 0, 0,
     [](auto& a) { kernels::momentum_float32(a.p.data(), a.m.data(), a.g.data(), a.p.size(), rate, 0.9, false); }},
    {"adam", 14, 4, 3, 1, 1,
     [](auto& a) { kernels::adam_float32(a.p.data(), a.m.data(), a.v.data(), a.g.data(), a.p.size(), adam); }},
    {"adam_w", 16, 4, 3, 1, 1,
     [](auto& a) { kernels::adam_w_float32(a.p.data(), a.m.data(), a.v.data(), a.g.data(), a.p.size(), adam, 1e-2); }},
    {"adagrad", 7, 3, 2, 1, 1,
     [](auto& a) {
       kernels::adagrad_float32(a.p.data(), a.v.data(), a.g.data(), a.p.size(), kernels::adagrad_step{rate, 1e-7});
     }},
    {"adadelta", 15, 4, 3, 1, 2,
     [](auto& a) {
       kernels::adadelta_float32(a.p.data(), a.v.data(), a.m.data(), a.g.data(), a.p.size(),
                                 kernels::adadelta_step{rate, 0.95, 1e-7});
     }},
    {"adamax", 10, 4, 3, 1, 0,
     [](auto& a) {
       kernels::adamax_float32(a.p.data(), a.m.data(), a.v.data(), a.g.data(), a.p.size(),
                               kernels::adamax_step{rate, 0.9, 0.999, 1e-7});
     }},
    {"rms_prop", 12, 4, 3, 1, 1,
     [](auto& a) { kernels::rms_prop_float32(a.p.data(), a.v.data(), a.m.data(), a.g.data(), a.p.size(), rms_prop); }},
    {"centered_rms_prop", 18, 5, 4, 1, 1, [](auto& a) {
       kernels::centered_rms_prop_float32(a.p.data(), a.v.data(), a.m.data(), a.w.data(), a.g.data(), a.p.size(),
                                          rms_prop);
     }}};
constexpr step<double> float64_steps[] = {
    {"sgd", 2, 2, 1, 0, 0, [](auto& a) { kernels::sgd_float64(a.p.data(), a.g.data(), a.p.size(), rate); }},
    {"momentum", 4, 3, 2, 0, 0,
     [](auto& a) { kernels::momentum_float64(a.p.data(), a.m.data(), a.g.data(), a.p.size(), rate, 0.9, false); }},
    {"adam", 14, 4, 3, 1, 1,
     [](auto& a) { kernels::adam_float64(a.p.data(), a.m.data(), a.v.data(), a.g.data(), a.p.size(), adam); }},
    {"adam_w", 16, 4, 3, 1, 1,
     [](auto& a) { kernels::adam_w_float64(a.p.data(), a.m.data(), a.v.data(), a.g.data(), a.p.size(), adam, 1e-2); }},
    {"adagrad", 7, 3, 2, 1, 1,
     [](auto& a) {
       kernels::adagrad_float64(a.p.data(), a.v.data(), a.g.data(), a.p.size(), kernels::adagrad_step{rate, 1e-7});
     }},
    {"adadelta", 15, 4, 3, 1, 2,
     [](auto& a) {
       kernels::adadelta_float64(a.p.data(), a.v.data(), a.m.data(), a.g.data(), a.p.size(),
                                 kernels::adadelta_step{rate, 0.95, 1e-7});
     }},
    {"adamax", 10, 4, 3, 1, 0,
     [](auto& a) {
       kernels::adamax_float64(a.p.data(), a.m.data(), a.v.data(), a.g.data(), a.p.size(),
                               kernels::adamax_step{rate, 0.9, 0.999, 1e-7});
     }},
    {"rms_prop", 12, 4, 3, 1, 1,
     [](auto& a) { kernels::rms_prop_float64(a.p.data(), a.v.data(), a.m.data(), a.g.data(), a.p.size(), rms_prop); }},
    {"centered_rms_prop", 18, 5, 4, 1, 1, [](auto& a) {
       kernels::centered_rms_prop_float64(a.p.data(), a.v.data(), a.m.data(), a.w.data(), a.g.data(), a.p.size(),
                                          rms_prop);
     }}};

template <class T>
void measure(benchmark::State& state, const step<T>& what, std::int64_t n, const kernels::target& target) {
  arrays<T> a(static_cast<std::size_t>(n));
  for (auto _ : state) {
    what.run(a);
    benchmark::ClobberMemory();
  }
  const double count = static_cast<double>(n), bytes = count * sizeof(T);
  report(state,
         {count, what.operations * count, what.read * bytes, what.written * bytes, what.read * bytes, sizeof(T), true,
          what.quotients * count, what.roots * count, sizeof(T) == 8},
         "update", target);
}

template <class T>
void register_step(const step<T>& what, const selection& chosen) {
  for (std::int64_t n : chosen.sizes)
    for (const auto& target : chosen.targets)
      benchmark::RegisterBenchmark((std::string(what.name) + (std::is_same_v<T, float> ? "<f32>" : "<f64>") +
                                    "/target:" + target.name + "/n:" + std::to_string(n))
                                       .c_str(),
                                   [&what, n, target](benchmark::State& state) {
                                     if (pin(state, target)) measure(state, what, n, target);
                                   });
}

}  // namespace

void register_updates(const selection& chosen) {
  for (const step<float>& what : float32_steps) register_step(what, chosen);
  for (const step<double>& what : float64_steps) register_step(what, chosen);
}

}  // namespace kgbench
