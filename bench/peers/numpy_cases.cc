// SPDX-License-Identifier: Apache-2.0
// The library's side of the comparison with NumPy and SciPy. Reads names of cases, a line each, and answers with the
// least time of a call in seconds and the mean magnitude of the first result, by which the other side compares.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
import kerngrad;

namespace {

constexpr std::int64_t million = 1'000'000;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// n numbers in [0, 1): indices whose bits are mixed, by which NumPy makes the same.
kg::tensor uniform(std::uint32_t operand_index, std::int64_t n) {
  return kg::tensor::build<double>({n}, [&](std::span<double> all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761u + operand_index * 97531u + 12345u;
      bits = (bits ^ bits >> 16) * 0x7feb352du;
      bits = (bits ^ bits >> 15) * 0x846ca68bu;
      all[i] = (bits ^ bits >> 16) / 4294967296.0;
    }
  });
}
kg::tensor whole(const kg::tensor& x) { return kg::cast(x, kg::dtype::int64); }

#define KG_OPERAND(name, theirs, ...) const kg::tensor name = __VA_ARGS__;
#define KG_CASE(name, theirs, ...)
#include "bench/peers/numpy_cases.inc"
#undef KG_OPERAND
#undef KG_CASE

// The first tensor of what a function returns.
const kg::tensor& first_of(const kg::tensor& y) { return y; }
const kg::tensor& first_of(const kg::tensor_list& y) { return y[0]; }
template <class Parts>
const kg::tensor& first_of(const Parts& y) {
  if constexpr (requires { y.values; }) return y.values;
  else return y.counts;
}

// The mean over finite elements: complex numbers by real and imaginary part.
double mean_magnitude(const kg::tensor& y) {
  if (y.type() == kg::dtype::complex64 || y.type() == kg::dtype::complex128)
    return mean_magnitude(kg::real(y)) + mean_magnitude(kg::imag(y));
  const kg::tensor wide = kg::abs(kg::cast(y, kg::dtype::float64));
  return kg::mean(kg::where(kg::is_finite(wide), wide, kg::zeros_like(wide))).item();
}

// Processor time of the program, which what else runs on the machine adds little to.
double seconds_so_far() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Call>
void measure(const Call& call) {
  const auto mean = [&] {
    const auto y = call();  // pages, plans and caches are warm after it
    return mean_magnitude(first_of(y));
  }();
  double least = std::numeric_limits<double>::infinity(), sum = 0;
  for (int calls = 0; calls < 3 || (sum < 0.05 && calls < 1000); ++calls) {
    const double begin = seconds_so_far();
    [[maybe_unused]] const auto y = call();
    const double seconds = seconds_so_far() - begin;
    sum += seconds;
    least = std::min(least, seconds);
  }
  std::printf("%.9g %.17g\n", least, mean);
  std::fflush(stdout);
}

bool answer(std::string_view wanted) {
#define KG_OPERAND(name, theirs, ...)
#define KG_CASE(name, theirs, ...) \
  if (wanted == name) return measure([] { return __VA_ARGS__; }), true;
#include "bench/peers/numpy_cases.inc"
  return false;
}

}  // namespace

int main() {
  kg::set_num_threads(1);
  for (std::string name; std::getline(std::cin, name);)
    if (!answer(name)) return std::fprintf(stderr, "no case %s\n", name.c_str()), 1;
}
