// SPDX-License-Identifier: Apache-2.0
// `./dev accuracy [FUNCTIONS]`: the largest error of the kernels of the vector mathematics, and where it is, held to
// the bounds of kernels/common/accuracy.h. All 2^32 floats of one function take half a minute to four minutes on two
// cores (the C library's double precision is the slow part), the sampled rest seconds. `--rows` writes what was found
// down.
#include <fmt/format.h>
#include <mpfr.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/accuracy.h"
#include "kernels/elementwise/binary.h"
#include "kernels/common/targets.h"
#include "kernels/elementwise/unary.h"
#include "tools/accuracy/rows.h"
#include "tools/accuracy/sweep.h"
#include "tools/whole_number.h"

namespace {

using namespace kgaccuracy;
using kerngrad::dtype;
using kerngrad::kernels::accuracy_bound;
using kerngrad::kernels::entry;
using kerngrad::kernels::target;

std::vector<target> targets_named(const std::string& name) {
  target all[64];
  const int count = kerngrad::kernels::supported_targets(all, 64);
  if (name.empty()) return {all[0]};
  if (name == "all") return {all, all + count};
  std::string known;
  for (int i = 0; i < count; ++i) {
    if (name == all[i].name) return {all[i]};
    known += fmt::format(" {}", all[i].name);
  }
  throw std::invalid_argument(fmt::format("no target {} here; there are:{} and all", name, known));
}

std::vector<accuracy_bound> bounds_named(const std::vector<std::string>& names) {
  using kerngrad::kernels::accuracy;
  if (names.empty()) return {std::begin(accuracy), std::end(accuracy)};
  std::vector<accuracy_bound> found;
  for (const std::string& name : names) {
    const auto* row = std::ranges::find(accuracy, std::string_view(name), &accuracy_bound::op);
    if (row == std::end(accuracy))
      throw std::invalid_argument(fmt::format("no bound for {} in kernels/common/accuracy.h", name));
    found.push_back(*row);
  }
  return found;
}

// The oracle of a function among those of a kind, or null.
template <class Oracles>
auto* oracle_of(const Oracles& oracles, std::string_view op) {
  for (const auto& oracle : oracles)
    if (op == oracle.op) return &oracle;
  return static_cast<decltype(&*oracles.begin())>(nullptr);
}

// One line of the table; false when the bound does not hold.
bool report(const entry& kernel, const char* target, double bound, bool two, const finding& worst) {
  const bool holds = worst.error <= bound;
  // Nine and seventeen digits tell all values of their types apart.
  const int digits = kernel.type == dtype::float32 ? 9 : 17;
  std::string at = fmt::format("{:.{}g}", worst.a, digits);
  if (two) at += fmt::format(", {:.{}g}", worst.b, digits);
  const std::string error = worst.error == 0 ? (bound == 0 ? "0" : "<= 0.5") : fmt::format("{:.4f}", worst.error);
  fmt::print("{:<9} {:<8} {:<7} {:>8} {:>6.1f} {:<5} {}\n", kernel.op,
             kernel.type == dtype::float32 ? "float32" : "float64", target, error, bound, holds ? "holds" : "ABOVE",
             worst.error == 0
                 ? std::string("every result is the nearest one")
                 : fmt::format("{}({}) = {:.{}g}, exactly {:.21Lg}", kernel.op, at, worst.got, digits, worst.wanted));
  std::fflush(stdout);
  return holds;
}

// A line on a terminal that the result overwrites.
void show_progress(const entry& kernel, double part) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{} {:3.0f} %\r", kernel.op, 100 * part);
  std::fflush(stderr);
}

// Measures a kernel, prints its line and adds what was found; false when the bound does not hold.
bool check(const entry& kernel, const accuracy_bound& bound, const char* target, options how,
           std::vector<measured>& found) {
  how.progress = [&](double part) { show_progress(kernel, part); };
  const bool narrow = kernel.type == dtype::float32;
  const double limit = narrow ? bound.ulp_float32 : bound.ulp_float64;
  const auto* two = oracle_of(binary_oracles, kernel.op);
  const auto* one = oracle_of(unary_oracles, kernel.op);
  if (one == nullptr && two == nullptr) throw std::logic_error(fmt::format("{} has a bound and no oracle", kernel.op));
  const finding worst = two      ? sample_pairs(kernel, *two, how)
                        : narrow ? sweep_floats(kernel, *one, limit == 0, how)
                                 : sample_doubles(kernel, *one, how);
  found.push_back({kernel.op, kernel.type, worst, target, narrow && two == nullptr && how.stride == 1});
  return report(kernel, target, limit, two != nullptr, worst);
}

bool check_all(const std::vector<accuracy_bound>& bounds, const std::vector<target>& targets, const options& how,
               std::vector<measured>& found) {
  bool holds = true;
  fmt::print("{:<9} {:<8} {:<7} {:>8} {:>6}\n", "function", "dtype", "target", "ulp", "bound");
  for (const target& one : targets) {
    kerngrad::kernels::pin_target(one.bits);
    for (const accuracy_bound& bound : bounds) {
      const auto matching = [&](const entry& kernel) {
        const bool floating = kernel.type == dtype::float32 || kernel.type == dtype::float64;
        if (floating && std::string_view(bound.op) == kernel.op) holds &= check(kernel, bound, one.name, how, found);
      };
      std::ranges::for_each(kerngrad::kernels::unary_simd, matching);
      std::ranges::for_each(kerngrad::kernels::binary_simd, matching);
    }
  }
  return holds;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("The largest errors of the math kernels, in units in the last place");
  std::vector<std::string> functions;
  std::string target_name, rows_file, checked_file;
  options how;
  app.add_option("functions", functions, "names of ops, as Exp; all by default");
  CLI::Option* named = app.add_option("--target", target_name, "a CPU target, as AVX2, or all; the best by default");
  app.add_option("--stride", how.stride, "take every n-th of the 2^32 floats")
      ->transform(kgtools::whole_number(1, std::numeric_limits<std::uint32_t>::max()));
  app.add_option("--samples", how.samples, "points of float64 and of two operands")
      ->transform(kgtools::whole_number(1, 1'000'000'000));
  app.add_option("--threads", how.threads, "threads")->transform(kgtools::whole_number(1, 1024));
  app.add_option("--rows", rows_file, "write what the rows keep, found on the best target, to this header")
      ->excludes(named);
  app.add_option("--check-rows", checked_file, "measure nothing, and fail when this header is not as --rows writes it");
  CLI11_PARSE(app, argc, argv);
  if (!checked_file.empty()) return check_rows(checked_file), 0;
  std::vector<measured> found;
  const bool holds = check_all(bounds_named(functions), targets_named(target_name), how, found);
  if (!rows_file.empty()) write_rows(rows_file, found);
  return holds ? 0 : 1;
} catch (const std::exception& failure) {
  fmt::print(stderr, "accuracy: {}\n", failure.what());
  return 2;
}
