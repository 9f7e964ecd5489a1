// SPDX-License-Identifier: Apache-2.0
// kerngrad.linalg on n small matrices, compared with a loop over Eigen's matrices of fixed size, in turns: after is
// kerngrad's.
#include <eigen3/Eigen/Dense>

#include <string>
#include <vector>

#include "bench/paired.h"
import kerngrad;
import kerngrad.linalg;

namespace {

using kg::tensor;
namespace la = kg::linalg;

template <class T, int N>
struct stack {
  using matrix = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
  using vector = Eigen::Matrix<T, N, 1>;
  static constexpr kg::dtype type = sizeof(T) == 4 ? kg::dtype::float32 : kg::dtype::float64;
  std::int64_t count;
  tensor general, definite, right;
  std::vector<T> out;

  explicit stack(std::int64_t n)
      : count(n),
        general(kg::random_uniform({n, N, N}, -1, 1, 1, type)),
        definite(kg::matmul(general, general, false, true) + kg::eye(N, N, 0, type)),
        right(kg::random_uniform({n, N, 1}, -1, 1, 2, type)),
        out(static_cast<std::size_t>(n) * N * N) {}

  // Calls f with each matrix of x and its number.
  template <class F>
  void each(const tensor& x, F f) {
    const T* const from = x.data<T>().data();
    for (std::int64_t i = 0; i < count; ++i) f(Eigen::Map<const matrix>(from + i * N * N), i);
    benchmark::DoNotOptimize(out.data());
  }
  Eigen::Map<matrix> matrix_out(std::int64_t i) { return Eigen::Map<matrix>(out.data() + i * N * N); }
  Eigen::Map<vector> vector_out(std::int64_t i) { return Eigen::Map<vector>(out.data() + i * N); }
};

template <class T, int N>
void add(std::int64_t n) {
  using matrix = typename stack<T, N>::matrix;
  const auto with = [n](const char* name, auto eigen, auto ours) {
    const std::string size = std::to_string(N) + "x" + std::to_string(N) + (sizeof(T) == 4 ? "/float32" : "/float64");
    benchmark::RegisterBenchmark((std::string(name) + "/" + size + "/n:" + std::to_string(n)).c_str(),
                                 [=](benchmark::State& state) {
                                   stack<T, N> s(n);
                                   kgbench::paired(
                                       state, [&] { eigen(s); }, [&] { benchmark::DoNotOptimize(ours(s)); });
                                 })
        ->Unit(benchmark::kMicrosecond);
  };
  with(
      "solve",
      [](auto& s) {
        const T* const b = s.right.template data<T>().data();
        s.each(s.general, [&](const auto& m, std::int64_t i) {
          s.vector_out(i) = m.partialPivLu().solve(Eigen::Map<const Eigen::Matrix<T, N, 1>>(b + i * N));
        });
      },
      [](auto& s) { return la::solve(s.general, s.right); });
  with(
      "inv", [](auto& s) { s.each(s.general, [&](const auto& m, std::int64_t i) { s.matrix_out(i) = m.inverse(); }); },
      [](auto& s) { return la::inv(s.general); });
  with(
      "det",
      [](auto& s) {
        s.each(s.general, [&](const auto& m, std::int64_t i) { s.out[static_cast<std::size_t>(i)] = m.determinant(); });
      },
      [](auto& s) { return la::det(s.general); });
  with(
      "cholesky",
      [](auto& s) {
        s.each(s.definite, [&](const auto& m, std::int64_t i) { s.matrix_out(i) = Eigen::LLT<matrix>(m).matrixL(); });
      },
      [](auto& s) { return la::cholesky(s.definite); });
  with(
      "eigvalsh",
      [](auto& s) {
        s.each(s.definite, [&](const auto& m, std::int64_t i) {
          Eigen::SelfAdjointEigenSolver<matrix> solver;
          if constexpr (N == 3) solver.computeDirect(m, Eigen::EigenvaluesOnly);
          else solver.compute(m, Eigen::EigenvaluesOnly);
          s.vector_out(i) = solver.eigenvalues();
        });
      },
      [](auto& s) { return la::eigvalsh(s.definite); });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const std::int64_t n : {8, 10'000}) {
    add<double, 4>(n), add<double, 8>(n), add<float, 4>(n), add<float, 8>(n);
    add<double, 3>(n), add<float, 3>(n);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
