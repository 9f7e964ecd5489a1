// SPDX-License-Identifier: Apache-2.0
// Fused functions next to the same expression op by op, and next to code by hand. bench/peers has them next to Eigen.
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/stencils.h"
#include "bench/support.h"
import kerngrad;

namespace {

constexpr std::int64_t sizes[] = {1, 1000, 64000, 1000000, 16000000};

constexpr auto expression = [](const auto& x, const auto& y, const auto& z) { return x * kg::sigmoid(x) * y + z; };
constexpr auto swish = kg::fuse(expression);
constexpr auto sum_of = [](const auto& x, const auto& y, const auto& z) { return kg::sum(expression(x, y, z)); };
constexpr auto swish_sum = kg::fuse(sum_of);
constexpr auto wave = kg::fuse([](auto x) { return kg::sin(x) * x + kg::exp(x); });

struct operands {
  kg::tensor x, y, z;
  explicit operands(std::int64_t n)
      : x(kg::random_normal({n}, 0, 1, 1)), y(kg::random_normal({n}, 0, 1, 2)), z(kg::random_normal({n}, 0, 1, 3)) {}
};

void fused(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  for (auto _ : state) benchmark::DoNotOptimize(swish(in.x, in.y, in.z).address());
}

void op_by_op(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  for (auto _ : state) benchmark::DoNotOptimize(expression(in.x, in.y, in.z).address());
}

void fused_value_and_grads(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  for (auto _ : state) benchmark::DoNotOptimize(swish.value_and_grads(in.x, in.y, in.z).grads[0].address());
}

void fused_on_tape(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  auto both = kg::value_and_grads(swish);
  for (auto _ : state) benchmark::DoNotOptimize(both(in.x, in.y, in.z).grads[0].address());
}

void op_by_op_on_tape(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  auto both = kg::value_and_grads(expression);
  for (auto _ : state) benchmark::DoNotOptimize(both(in.x, in.y, in.z).grads[0].address());
}

void fused_sum_and_two_grads(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  for (auto _ : state) benchmark::DoNotOptimize(swish_sum.value_and_grads<0, 1>(in.x, in.y, in.z).grads[0].address());
}

void fused_sum_on_tape(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  auto both = kg::value_and_grads([&](const kg::tensor& x, const kg::tensor& y) { return swish_sum(x, y, in.z); });
  for (auto _ : state) benchmark::DoNotOptimize(both(in.x, in.y).grads[0].address());
}

void sum_on_tape(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  auto both = kg::value_and_grads([&](const kg::tensor& x, const kg::tensor& y) { return sum_of(x, y, in.z); });
  for (auto _ : state) benchmark::DoNotOptimize(both(in.x, in.y).grads[0].address());
}

// Rows of 500: a row and a column next to a matrix.
void fused_of_row(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  const kg::tensor x = kg::reshape(in.x, {-1, 500}), row = kg::slice(in.y, {0}, {500}),
                   z = kg::slice(x, {0, 0}, {-1, 1});
  for (auto _ : state) benchmark::DoNotOptimize(swish(x, row, z).address());
}

void op_by_op_of_row(benchmark::State& state, std::int64_t n) {
  const operands in(n);
  const kg::tensor x = kg::reshape(in.x, {-1, 500}), row = kg::slice(in.y, {0}, {500}),
                   z = kg::slice(x, {0, 0}, {-1, 1});
  for (auto _ : state) benchmark::DoNotOptimize(expression(x, row, z).address());
}

void scalar_value_and_grads(benchmark::State& state, std::int64_t) {
  float x = 1.5f;
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    const auto both = wave.value_and_grads(x);
    benchmark::DoNotOptimize(both.value + both.grads[0]);
  }
}

void scalar_by_hand(benchmark::State& state, std::int64_t) {
  float x = 1.5f;
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    const float sine = std::sin(x), power = std::exp(x);
    const float value = sine * x + power, gradient = std::cos(x) * x + sine + power;
    benchmark::DoNotOptimize(value + gradient);
  }
}

// Stencils on a square of n cells, next to loops by hand (bench/stencils.cc).
using fields = std::span<const kg::field>;

void jacobi_fused(benchmark::State& state, std::int64_t n) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  const kg::tensor u = kg::random_normal({side, side}, 0, 1, 1);
  const auto f = kg::fuse(1, kg::boundary::periodic, [](fields x) {
    const kg::field& at = x[0];
    return (at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1)) * 0.25;
  });
  for (auto _ : state) benchmark::DoNotOptimize(f(u).address());
}

void jacobi_by_hand(benchmark::State& state, std::int64_t n) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  const kg::tensor u = kg::random_normal({side, side}, 0, 1, 1);
  std::vector<float> to(static_cast<std::size_t>(n));
  for (auto _ : state) {
    kgbench::jacobi_by_hand(u.data<float>().data(), to.data(), side, side);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
}

void shallow_water_fused(benchmark::State& state, std::int64_t n) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  const auto step = kg::fuse(3, kg::boundary::periodic, [c = 1e-3](fields x) {
    const kg::field &h = x[0], &u = x[1], &v = x[2];
    const kg::symbol here_u = u(), here_v = v();
    const kg::symbol flow = h(0, 1) * u(0, 1) - h(0, -1) * u(0, -1) + h(1, 0) * v(1, 0) - h(-1, 0) * v(-1, 0);
    const auto moved = [&](const kg::field& w, kg::symbol slope) {
      return w() - (here_u * (w(0, 1) - w(0, -1)) + here_v * (w(1, 0) - w(-1, 0)) + slope * 9.81) * c;
    };
    return std::array{h() - flow * c, moved(u, h(0, 1) - h(0, -1)), moved(v, h(1, 0) - h(-1, 0))};
  });
  const kg::tensor h = kg::random_normal({side, side}, 10, 1, 1), u = kg::random_normal({side, side}, 0, 1, 2),
                   v = kg::random_normal({side, side}, 0, 1, 3);
  for (auto _ : state) benchmark::DoNotOptimize(step(h, u, v)[0].address());
}

void shallow_water_by_hand(benchmark::State& state, std::int64_t n) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  const kg::tensor h = kg::random_normal({side, side}, 10, 1, 1), u = kg::random_normal({side, side}, 0, 1, 2),
                   v = kg::random_normal({side, side}, 0, 1, 3);
  std::vector<float> to(static_cast<std::size_t>(3 * n));
  for (auto _ : state) {
    kgbench::shallow_water_by_hand({h.data<float>().data(), u.data<float>().data(), v.data<float>().data()},
                                   {to.data(), to.data() + n, to.data() + 2 * n}, side, side, 1e-3f);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
}

void register_case(const char* name, const kerngrad::kernels::target& target, std::int64_t n,
                   void (*body)(benchmark::State&, std::int64_t)) {
  const std::string full = std::string("fuse/") + name + "/target:" + target.name + "/n:" + std::to_string(n);
  benchmark::RegisterBenchmark(full.c_str(), [target, body, n](benchmark::State& state) {
    if (!kgbench::pin(state, target)) return;
    body(state, n);
    state.SetItemsProcessed(state.iterations() * n);
  });
}

void register_all(const kgbench::selection& chosen) {
  for (const kerngrad::kernels::target& target : chosen.targets) {
    for (std::int64_t n : sizes) {
      register_case("swish/fused", target, n, fused);
      register_case("swish/op_by_op", target, n, op_by_op);
      register_case("swish_grads/at_once", target, n, fused_value_and_grads);
      register_case("swish_grads/tape", target, n, fused_on_tape);
      register_case("swish_grads/op_by_op", target, n, op_by_op_on_tape);
      register_case("swish_sum_two_grads/at_once", target, n, fused_sum_and_two_grads);
      register_case("swish_sum_two_grads/tape", target, n, fused_sum_on_tape);
      register_case("swish_sum_two_grads/op_by_op", target, n, sum_on_tape);
      if (n % 500 != 0) continue;
      register_case("swish_of_row/fused", target, n, fused_of_row);
      register_case("swish_of_row/op_by_op", target, n, op_by_op_of_row);
    }
    register_case("jacobi/fused", target, 1024 * 1024, jacobi_fused);
    register_case("jacobi/by_hand", target, 1024 * 1024, jacobi_by_hand);
    register_case("shallow_water/fused", target, 256 * 256, shallow_water_fused);
    register_case("shallow_water/by_hand", target, 256 * 256, shallow_water_by_hand);
    register_case("wave_grad/scalar", target, 1, scalar_value_and_grads);
    register_case("wave_grad/by_hand", target, 1, scalar_by_hand);
  }
}

}  // namespace

int main(int argc, char** argv) { return kgbench::run(argc, argv, register_all); }
