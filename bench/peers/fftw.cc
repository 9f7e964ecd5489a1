// SPDX-License-Identifier: Apache-2.0
// FFTW, planned by measuring.
#include <fftw3.h>

#include "bench/peers/case.h"

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    constexpr int rows = 64, points = 1024;
    cases::add("fft", "64x1024", [] {
      // Planning writes to the arrays, and the operand is drawn once.
      auto* const x = reinterpret_cast<fftwf_complex*>(cases::floats(0, 2 * rows * points));
      auto* const y = reinterpret_cast<fftwf_complex*>(cases::result(2 * rows * points));
      auto* const other = reinterpret_cast<fftwf_complex*>(cases::floats(1, 2 * rows * points));
      const int n = points;
      const fftwf_plan plan = fftwf_plan_many_dft(1, &n, rows, other, nullptr, 1, points, y, nullptr, 1, points,
                                                  FFTW_FORWARD, FFTW_MEASURE);
      return [=] { fftwf_execute_dft(plan, x, y); };
    });
  });
}
