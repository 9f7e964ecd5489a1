// SPDX-License-Identifier: Apache-2.0
// Times of complex Fourier transforms over those of FFTW, planned with FFTW_ESTIMATE: of the kernel alone and of the
// whole call, which gives a fresh tensor. All three run in turns in one process, and the fastest round of each counts:
// load only adds time. The argument is the number of rounds.
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>

#include "kernels/fft/fft.h"
import kerngrad;

namespace {

using work = std::function<void()>;

struct transform {
  std::int64_t rows, points;
  bool square = false;  // along both axes
};
constexpr transform transforms[] = {
    {1, 64},     {1, 128},   {1, 256},    {1, 512},     {1, 1024},  {1, 2048},          {1, 4096},
    {1, 16384},  {1, 65536}, {1, 262144}, {1, 1048576}, {64, 64},   {1024, 64},         {64, 256},
    {1024, 256}, {64, 1024}, {1, 1021},   {64, 1021},   {1, 65537}, {1024, 1024, true},
};

// FFTW's transform of x into y.
work planned(const transform& t, const kg::tensor& x, const kg::tensor& y) {
  const int sizes[] = {static_cast<int>(t.rows), static_cast<int>(t.points)}, points = sizes[1];
  const int rank = t.square ? 2 : 1, count = t.square ? 1 : sizes[0];
  const int* const n = t.square ? sizes : sizes + 1;
  void *const from = const_cast<void*>(x.address()), *const to = const_cast<void*>(y.address());
  constexpr unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;
  if (x.type() == kg::dtype::complex64) {
    const fftwf_plan plan =
        fftwf_plan_many_dft(rank, n, count, static_cast<fftwf_complex*>(from), nullptr, 1, points,
                            static_cast<fftwf_complex*>(to), nullptr, 1, points, FFTW_FORWARD, flags);
    return [=] { fftwf_execute(plan); };
  }
  const fftw_plan plan = fftw_plan_many_dft(rank, n, count, static_cast<fftw_complex*>(from), nullptr, 1, points,
                                            static_cast<fftw_complex*>(to), nullptr, 1, points, FFTW_FORWARD, flags);
  return [=] { fftw_execute(plan); };
}

double nanoseconds(const work& run, int repeats) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) run();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / repeats;
}

void compare(const transform& t, kg::dtype type, int rounds) {
  const kg::shape dims{t.rows, t.points};
  const auto part = [&](std::int64_t seed) { return kg::random_uniform(dims, -2, 2, seed, type); };
  const kg::tensor x = kg::complex(part(1), part(2)), theirs = kg::zeros_like(x), ours = kg::zeros_like(x);
  const kerngrad::kernels::fft_geometry geometry{t.rows, t.points, t.points, 1};
  const void* const in[] = {x.address()};
  void* const out[] = {const_cast<void*>(ours.address())};
  const auto kernel = type == kg::dtype::float32 ? kerngrad::kernels::FFT_complex64 : kerngrad::kernels::FFT_complex128;
  const std::array<work, 3> sides = {planned(t, x, theirs), [&] { kernel(in, out, &geometry); },
                                     [&] { t.square ? kg::fft2(x) : kg::fft(x); }};
  std::array<double, 3> least;
  least.fill(std::numeric_limits<double>::infinity());
  sides[0]();
  constexpr double round = 200000;  // nanoseconds
  const int repeats = static_cast<int>(std::clamp(round / nanoseconds(sides[0], 4), 1., 5000.));
  for (int i = 0; i < rounds; ++i)
    for (std::size_t side = 0; side < sides.size(); ++side)
      if (side != 1 || !t.square) least[side] = std::min(least[side], nanoseconds(sides[side], repeats));
  const double each = least[0] / static_cast<double>(t.square ? 1 : t.rows);
  std::printf("%-10s %5lld x %-8lld %12.1f ", type == kg::dtype::float32 ? "complex64" : "complex128",
              static_cast<long long>(t.rows), static_cast<long long>(t.points), each);
  if (t.square) std::printf("%8s", "-");
  else std::printf("%8.2f", least[1] / least[0]);
  std::printf(" %8.2f%s\n", least[2] / least[0], t.square ? "  along both axes" : "");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
  std::printf("%-10s %5s   %-8s %12s %8s %8s\n", "dtype", "rows", "points", "FFTW ns/row", "kernel", "call");
  for (const transform& t : transforms)
    for (const kg::dtype type : {kg::dtype::float32, kg::dtype::float64}) compare(t, type, rounds);
}
