// SPDX-License-Identifier: Apache-2.0
// kerngrad.linalg next to LAPACK called directly on a copy of the same matrix, in turns: after is kerngrad's. The
// number of threads is that of the BLAS: OPENBLAS_NUM_THREADS=1 for one.
#include <lapacke.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/paired.h"
import kerngrad;
import kerngrad.linalg;

namespace {

using kg::tensor;
namespace la = kg::linalg;
using doubles = std::vector<double>;

struct problem {
  std::int64_t n;
  lapack_int size;
  tensor general, definite, right;
};

problem made(std::int64_t n) {
  const tensor x = kg::random_uniform({n, n}, -1, 1, 1, kg::dtype::float64), one = kg::eye(n, n, 0, kg::dtype::float64);
  return {n, static_cast<lapack_int>(n), x + one, kg::matmul(x, x, false, true) + one,
          kg::random_uniform({n, n}, -1, 1, 2, kg::dtype::float64)};
}

doubles copied(const tensor& x) {
  const auto all = x.data<double>();
  return {all.begin(), all.end()};
}

void cholesky(benchmark::State& state, const problem& p) {
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(p.definite);
        LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', p.size, a.data(), p.size);
        benchmark::DoNotOptimize(a.data());
      },
      [&] { benchmark::DoNotOptimize(la::cholesky(p.definite)); });
}

void solve(benchmark::State& state, const problem& p) {
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(p.general), b = copied(p.right);
        std::vector<lapack_int> pivots(a.size());
        LAPACKE_dgesv_work(LAPACK_COL_MAJOR, p.size, p.size, a.data(), p.size, pivots.data(), b.data(), p.size);
        benchmark::DoNotOptimize(b.data());
      },
      [&] { benchmark::DoNotOptimize(la::solve(p.general, p.right)); });
}

void lu(benchmark::State& state, const problem& p) {
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(p.general);
        std::vector<lapack_int> pivots(static_cast<std::size_t>(p.n));
        LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, p.size, p.size, a.data(), p.size, pivots.data());
        benchmark::DoNotOptimize(a.data());
      },
      [&] { benchmark::DoNotOptimize(la::lu_factor(p.general)); });
}

void qr(benchmark::State& state, const problem& p) {
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(p.general), r(a.size()), tau(static_cast<std::size_t>(p.n)), work(64 * tau.size());
        const auto count = static_cast<lapack_int>(work.size());
        LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, p.size, p.size, a.data(), p.size, tau.data(), work.data(), count);
        for (std::size_t j = 0; j < tau.size(); ++j)
          std::copy_n(a.data() + j * tau.size(), j + 1, r.data() + j * tau.size());
        LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, p.size, p.size, p.size, a.data(), p.size, tau.data(), work.data(), count);
        benchmark::DoNotOptimize(a.data());
        benchmark::DoNotOptimize(r.data());
      },
      [&] { benchmark::DoNotOptimize(la::qr(p.general)); });
}

void eigh(benchmark::State& state, const problem& p) {
  const auto run = [&](doubles& a, doubles& w, doubles& work, std::vector<lapack_int>& whole, lapack_int count,
                       lapack_int integers) {
    LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', p.size, a.data(), p.size, w.data(), work.data(), count,
                        whole.data(), integers);
  };
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(p.definite), w(static_cast<std::size_t>(p.n)), work(1);
        std::vector<lapack_int> whole(1);
        run(a, w, work, whole, -1, -1);
        work.resize(static_cast<std::size_t>(work[0]));
        whole.resize(static_cast<std::size_t>(whole[0]));
        run(a, w, work, whole, static_cast<lapack_int>(work.size()), static_cast<lapack_int>(whole.size()));
        benchmark::DoNotOptimize(a.data());
      },
      [&] { benchmark::DoNotOptimize(la::eigh(p.definite)); });
}

void svd(benchmark::State& state, const problem& p) {
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(p.general), s(static_cast<std::size_t>(p.n)), u(a.size()), vt(a.size()), work(1);
        std::vector<lapack_int> whole(8 * s.size());
        const auto run = [&](lapack_int count) {
          LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', p.size, p.size, a.data(), p.size, s.data(), u.data(), p.size,
                              vt.data(), p.size, work.data(), count, whole.data());
        };
        run(-1);
        work.resize(static_cast<std::size_t>(work[0]));
        run(static_cast<lapack_int>(work.size()));
        benchmark::DoNotOptimize(u.data());
      },
      [&] { benchmark::DoNotOptimize(la::svd(p.general)); });
}

// Value and gradient of a Gaussian process's loss for three hyperparameters, next to LAPACK's factor and inverse of the
// covariance, which a gradient by hand needs. The time itself has a goal: `after_us`.
void gaussian_process(benchmark::State& state, const problem& p) {
  const tensor x = kg::linspace(0, 10, static_cast<double>(p.n), kg::dtype::float64), y = kg::sin(x);
  const tensor one = kg::eye(p.n, p.n, 0, kg::dtype::float64), log_parameters({0.0, 0.0, -1.0});
  const auto covariance = [&](const tensor& of) {
    const tensor parameters = kg::exp(of);
    const tensor apart = (kg::expand_dims(x, 1) - kg::expand_dims(x, 0)) / parameters(0);
    return kg::square(parameters(1)) * kg::exp(kg::square(apart) * -0.5) + one * kg::square(parameters(2));
  };
  const auto loss = kg::value_and_grad([&](const tensor& of) {
    const tensor factor = la::cholesky(covariance(of));
    return la::vecdot(y, la::cho_solve(factor, y)) * 0.5 + kg::sum(kg::log(la::diagonal(factor)));
  });
  const tensor fixed = covariance(log_parameters);
  kgbench::paired(
      state,
      [&] {
        doubles a = copied(fixed);
        LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', p.size, a.data(), p.size);
        LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', p.size, a.data(), p.size);
        benchmark::DoNotOptimize(a.data());
      },
      [&] { benchmark::DoNotOptimize(loss(log_parameters)); });
}

void add(const char* name, std::int64_t n, void (*run)(benchmark::State&, const problem&)) {
  benchmark::RegisterBenchmark((std::string(name) + "/n:" + std::to_string(n)).c_str(), [n,
                                                                                         run](benchmark::State& state) {
    run(state, made(n));
  })->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const std::int64_t n : {8, 512}) {
    add("cholesky", n, cholesky), add("solve", n, solve);
    add("lu", n, lu), add("qr", n, qr);
  }
  for (const std::int64_t n : {8, 256}) add("eigh", n, eigh), add("svd", n, svd);
  for (const std::int64_t n : {8, 200}) add("gaussian_process", n, gaussian_process);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
