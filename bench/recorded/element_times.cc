// SPDX-License-Identifier: Apache-2.0
// element_times [MOST [ROUNDS [OP]]]: the time of some ops at sizes from 1 to MOST elements, on one thread.
// tools/bench/element_times.py runs it and draws the figure. First come lines with the sizes of the caches. A line of
// an op has its name, the bytes of operands and result for each element, the number of elements, and nanoseconds of a
// call. They are the thread's own time, and the least of all rounds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "kernels/common/roofline.h"
import kerngrad;

namespace {

using kg::tensor;
using call = std::function<tensor()>;

tensor drawn(const kg::shape& dims, std::int64_t seed) { return kg::random_uniform(dims, 0, 1, seed); }

tensor places_below(std::int64_t n) {
  return kg::cast(kg::random_uniform({n}, 0, static_cast<double>(n), 2, kg::dtype::float64), kg::dtype::int32);
}

std::int64_t side_of(std::int64_t n) { return std::llround(std::sqrt(static_cast<double>(n))); }

struct measured_op {
  std::string_view name;
  int bytes;  ///< of operands and result, for each element
  call (*make)(std::int64_t n);
  bool is_square = false;  ///< matrices, of n elements
};
constexpr measured_op ops[] = {
    {"add", 12, [](std::int64_t n) -> call { return [x = drawn({n}, 1), y = drawn({n}, 2)] { return x + y; }; }},
    {"sum", 4, [](std::int64_t n) -> call { return [x = drawn({n}, 1)] { return kg::sum(x); }; }},
    {"sort", 8, [](std::int64_t n) -> call { return [x = drawn({n}, 1)] { return kg::sort(x); }; }},
    {"matmul", 12,
     [](std::int64_t n) -> call {
       const kg::shape dims{side_of(n), side_of(n)};
       return [x = drawn(dims, 1), y = drawn(dims, 2)] { return kg::matmul(x, y); };
     },
     true},
    {"fft", 16,
     [](std::int64_t n) -> call { return [x = kg::cast(drawn({n}, 1), kg::dtype::complex64)] { return kg::fft(x); }; }},
    {"softmax", 8, [](std::int64_t n) -> call { return [x = drawn({n}, 1)] { return kg::softmax(x); }; }},
    {"gather", 12,
     [](std::int64_t n) -> call { return [x = drawn({n}, 1), at = places_below(n)] { return kg::gather(x, at); }; }},
};

/// 1 to 7, and further ones with 4 to each doubling: none is more than a quarter above the one before.
std::vector<std::int64_t> sizes_of(const measured_op& op, std::int64_t most) {
  std::vector<std::int64_t> all = {1, 2, 3};
  for (std::int64_t unit = 1; 4 * unit <= most; unit *= 2)
    for (std::int64_t n = 4 * unit; n < 8 * unit; n += unit) all.push_back(n);
  std::erase_if(all, [&](std::int64_t n) { return n > most; });
  if (!op.is_square) return all;
  for (std::int64_t& n : all) n = side_of(n) * side_of(n);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double nanoseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

double time_of(const call& run, std::int64_t count) {
  const double start = nanoseconds_now();
  for (std::int64_t i = 0; i < count; ++i) {
    const tensor y = run();
    asm volatile("" : : "r"(&y) : "memory");
  }
  return (nanoseconds_now() - start) / static_cast<double>(count);
}

/// The least time of a call in some runs of a fifth of a millisecond each. A call of seconds runs once.
double least_time(const call& run) {
  constexpr double long_call = 2e9, of_run = 2e5;
  double least = time_of(run, 1);
  if (least > long_call) return least;
  least = std::min(least, time_of(run, 1));
  const auto count = static_cast<std::int64_t>(of_run / std::max(least, 1.)) + 1;
  const int runs = least > of_run ? 1 : 5;
  for (int i = 0; i < runs; ++i) least = std::min(least, time_of(run, count));
  return least;
}

struct measured_size {
  const measured_op& op;
  std::int64_t n;
  double least = std::numeric_limits<double>::infinity();
};

/// A round of calls that take minutes together would add little to the first two.
bool is_done(const measured_size& one, int round) { return round >= 2 && one.least > 1e9; }

std::int64_t whole_number(const char* text) { return static_cast<std::int64_t>(std::strtod(text, nullptr)); }

}  // namespace

int main(int argc, char** argv) {
  using namespace kerngrad::kernels;
  const std::int64_t most = argc > 1 ? whole_number(argv[1]) : std::int64_t{1} << 27;
  const std::int64_t rounds = argc > 2 ? whole_number(argv[2]) : 9;
  const std::string_view wanted = argc > 3 ? argv[3] : "";
  kg::set_num_threads(1);
  for (const level where : {level::l1, level::l2, level::l3})
    std::printf("%s\t%.0f\n", name_of(where), capacity(where));
  std::vector<measured_size> all;
  for (const measured_op& op : ops)
    if (wanted.empty() || op.name == wanted)
      for (const std::int64_t n : sizes_of(op, most)) all.push_back({op, n});
  for (int round = 0; round < rounds; ++round)
    for (measured_size& one : all)
      if (!is_done(one, round)) one.least = std::min(one.least, least_time(one.op.make(one.n)));
  for (const measured_size& one : all)
    std::printf("%s\t%d\t%lld\t%.4g\n", one.op.name.data(), one.op.bytes, static_cast<long long>(one.n), one.least);
  return all.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
