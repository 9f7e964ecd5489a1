// SPDX-License-Identifier: Apache-2.0
// `./dev accuracy [FUNCTIONS]`: the largest error of the kernels of the vector mathematics, and where it is, held to
// the bounds of kernels/common/accuracy.h. `--gradients` measures the first derivatives of the elementwise ops. All
// 2^32 floats of one function take half a minute to four minutes on two cores (the C library's double precision is the
// slow part), the sampled rest seconds. `--rows` writes what was found down.
#include <fmt/format.h>
#include <mpfr.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/accuracy.h"
#include "kernels/elementwise/binary.h"
#include "kernels/common/targets.h"
#include "kernels/elementwise/unary.h"
#include "tools/accuracy/derivatives.h"
#include "tools/accuracy/gradients.h"
#include "tools/accuracy/rows.h"
#include "tools/accuracy/sweep.h"
#include "tools/whole_number.h"

namespace {

using namespace kgaccuracy;
using kerngrad::dtype;
using kerngrad::kernels::accuracy_bound;
using kerngrad::kernels::entry;
using kerngrad::kernels::gradient_bound;
using kerngrad::kernels::gradient_domain;
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

// A measurement: the values of an op, or its gradient for an operand, in one dtype.
struct subject {
  const char* op;
  int operand;  // -1: the values
  dtype type;
  double bound;
  bool two;  // the op has two operands
  bool gradient() const { return operand >= 0; }
  bool narrow() const { return type == dtype::float32; }
  std::string name() const {
    return gradient() && two ? fmt::format("{}'{}", op, "ab"[operand]) : gradient() ? fmt::format("{}'", op) : op;
  }
};

// The bounds of the ops with these names, or all.
template <class Bound, std::size_t N>
std::vector<Bound> bounds_named(const Bound (&all)[N], const std::vector<std::string>& names) {
  if (names.empty()) return {std::begin(all), std::end(all)};
  std::vector<Bound> found;
  for (const std::string& name : names) {
    const std::size_t before = found.size();
    std::ranges::copy_if(all, std::back_inserter(found), [&](const Bound& row) { return name == row.op; });
    if (found.size() == before)
      throw std::invalid_argument(fmt::format("no bound for {} in kernels/common/accuracy.h", name));
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
bool report(const subject& of, const char* target, const finding& worst) {
  const bool holds = worst.error <= of.bound;
  // Nine and seventeen digits tell all values of their types apart.
  const int digits = of.narrow() ? 9 : 17;
  std::string at = fmt::format("{:.{}g}", worst.a, digits);
  if (of.two) at += fmt::format(", {:.{}g}", worst.b, digits);
  const std::string error = worst.error == 0 ? (of.bound == 0 ? "0" : "<= 0.5") : fmt::format("{:.4f}", worst.error);
  fmt::print("{:<11} {:<8} {:<7} {:>8} {:>6.1f} {:<5} {}\n", of.name(), of.narrow() ? "float32" : "float64", target,
             error, of.bound, holds ? "holds" : "ABOVE",
             worst.error == 0
                 ? std::string("every result is the nearest one")
                 : fmt::format("{}({}) = {:.{}g}, exactly {:.21Lg}", of.name(), at, worst.got, digits, worst.wanted));
  std::fflush(stdout);
  return holds;
}

// A line on a terminal that the result overwrites.
void show_progress(const subject& of, double part) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{} {:3.0f} %\r", of.name(), 100 * part);
  std::fflush(stderr);
}

// Prints the errors of the float32 kernel of an op of one operand, or of its gradient, along an interval.
void print_curve(const std::string& op, bool gradient, double low, double high) {
  const auto* kernel = std::ranges::find_if(kerngrad::kernels::unary_simd, [&](const entry& k) {
    return op == k.op && k.type == dtype::float32 && k.flat1 != nullptr;
  });
  const auto* values = oracle_of(unary_oracles, op);
  const auto* slopes = oracle_of(derivatives_of_one, op);
  if (kernel == std::end(kerngrad::kernels::unary_simd) || !values || !slopes)
    throw std::invalid_argument(fmt::format("no curve of {}: it takes an op of one operand with a bound", op));
  const on_elements<float> f = [&](const float* x, float* y, std::size_t n) {
    if (gradient) gradient_of_one(op.c_str(), x, y, n);
    else kernel->flat1(x, y, n);
  };
  const wanted_of_one wanted{
      {}, [&](double x) { return gradient ? slopes->first(number(x)).rounded() : exact_value(*values, x); }};
  for (const auto& [x, ulp] : error_curve(f, wanted, low, high)) fmt::print("{:.6g},{:.3f}\n", x, ulp);
}

finding of_one(const subject& of, const wanted_of_one& wanted, const on_elements<float>& single,
               const on_elements<double>& wide, const options& how) {
  if (of.narrow() && wanted.estimate) return sweep_floats(single, wanted, of.bound == 0, how);
  return of.narrow() ? sample<float>(single, wanted, how) : sample<double>(wide, wanted, how);
}

// The largest error of a kernel.
finding measure(const subject& of, const entry& kernel, const options& how) {
  if (const auto* two = oracle_of(binary_oracles, of.op)) {
    const auto exact = [&](double a, double b) { return exact_value(*two, a, b); };
    const auto f = [&](const auto* a, const auto* b, auto* y, std::size_t n) { kernel.flat2(a, b, y, n); };
    return of.narrow() ? sample_pairs<float>(f, points_of<float>(*two, how.samples), exact, false, how)
                       : sample_pairs<double>(f, points_of<double>(*two, how.samples), exact, false, how);
  }
  const auto* one = oracle_of(unary_oracles, of.op);
  if (one == nullptr) throw std::logic_error(fmt::format("{} has a bound and no oracle", of.op));
  const auto f = [&](const auto* x, auto* y, std::size_t n) { kernel.flat1(x, y, n); };
  return of_one(of, {one->estimate, [&](double x) { return exact_value(*one, x); }}, f, f, how);
}

// The largest error of a gradient in its domain.
finding measure(const subject& of, const gradient_domain& domain, const options& how) {
  for (const derivative_of_two& two : derivatives_of_two) {
    if (std::string_view(of.op) != two.op || of.operand != two.operand) continue;
    const auto exact = [&](double a, double b) { return two.first(number(a), number(b)).rounded(); };
    const auto f = [&](const auto* a, const auto* b, auto* y, std::size_t n) {
      gradient_of_two(of.op, of.operand, a, b, y, n);
    };
    return of.narrow() ? sample_pairs<float>(f, pairs_in_domain<float>(domain, how.samples), exact, true, how)
                       : sample_pairs<double>(f, pairs_in_domain<double>(domain, how.samples), exact, true, how);
  }
  const auto* one = oracle_of(derivatives_of_one, of.op);
  if (one == nullptr) throw std::logic_error(fmt::format("{} has a bound and no derivative", of.op));
  const auto covers = [&](double x) {
    const bool inside = of.narrow() ? is_in_domain(domain, static_cast<float>(x)) : is_in_domain(domain, x);
    return inside && x >= one->least && x <= one->most;
  };
  const auto f = [&](const auto* x, auto* y, std::size_t n) { gradient_of_one(of.op, x, y, n); };
  return of_one(of, {one->estimate, [&](double x) { return one->first(number(x)).rounded(); }, covers}, f, f, how);
}

// True if a measurement may take all values of its dtype.
bool takes_all(const subject& of) {
  if (!of.narrow() || of.two) return false;
  const auto* derivative = oracle_of(derivatives_of_one, of.op);
  return !of.gradient() || (derivative && derivative->estimate);
}

// Measures something, prints its line and adds what was found; false when the bound does not hold.
template <class What>
bool check(const subject& of, const What& what, const char* target, options how, std::vector<measured>& found) {
  how.progress = [&](double part) { show_progress(of, part); };
  const finding worst = measure(of, what, how);
  found.push_back({of.op, of.operand, of.type, worst, target, takes_all(of) && how.stride == 1});
  return report(of, target, worst);
}

bool check_values(const std::vector<accuracy_bound>& bounds, const char* target, const options& how,
                  std::vector<measured>& found) {
  bool holds = true;
  for (const accuracy_bound& bound : bounds) {
    const auto matching = [&](const entry& kernel) {
      const bool narrow = kernel.type == dtype::float32;
      if ((!narrow && kernel.type != dtype::float64) || std::string_view(bound.op) != kernel.op) return;
      const subject of{bound.op, -1, kernel.type, narrow ? bound.ulp_float32 : bound.ulp_float64,
                       kernel.flat2 != nullptr};
      holds &= check(of, kernel, target, how, found);
    };
    std::ranges::for_each(kerngrad::kernels::unary_simd, matching);
    std::ranges::for_each(kerngrad::kernels::binary_simd, matching);
  }
  return holds;
}

bool check_gradients(const std::vector<gradient_bound>& bounds, const char* target, const options& how,
                     std::vector<measured>& found) {
  bool holds = true;
  for (const gradient_bound& bound : bounds) {
    const bool two = oracle_of(derivatives_of_two, bound.op) != nullptr;
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const subject of{bound.op, bound.operand, type, type == dtype::float32 ? bound.ulp_float32 : bound.ulp_float64,
                       two};
      holds &= check(of, bound.domain, target, how, found);
    }
  }
  return holds;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("The largest errors of the math kernels, in units in the last place");
  std::vector<std::string> functions;
  std::string target_name, rows_file, checked_file;
  std::vector<double> interval;
  bool gradients = false;
  options how;
  app.add_option("functions", functions, "names of ops, as Exp; all by default");
  app.add_flag("--gradients", gradients, "measure first derivatives in place of values");
  CLI::Option* named = app.add_option("--target", target_name, "a CPU target, as AVX2, or all; the best by default");
  app.add_option("--stride", how.stride, "take every n-th of the 2^32 floats")
      ->transform(kgtools::whole_number(1, std::numeric_limits<std::uint32_t>::max()));
  app.add_option("--samples", how.samples, "points of float64 and of two operands")
      ->transform(kgtools::whole_number(1, 1'000'000'000));
  app.add_option("--threads", how.threads, "threads")->transform(kgtools::whole_number(1, 1024));
  app.add_option("--rows", rows_file, "write what the rows keep, found on the best target, to this header")
      ->excludes(named);
  app.add_option("--check-rows", checked_file, "measure nothing, and fail when this header is not as --rows writes it");
  app.add_option("--curve", interval, "print the float32 errors of one function along an interval: x,ulp")->expected(2);
  CLI11_PARSE(app, argc, argv);
  if (!checked_file.empty()) return check_rows(checked_file, gradients), 0;
  if (!interval.empty()) {
    for (const std::string& name : functions) print_curve(name, gradients, interval[0], interval[1]);
    return 0;
  }
  std::vector<measured> found;
  bool holds = true;
  fmt::print("{:<11} {:<8} {:<7} {:>8} {:>6}\n", "function", "dtype", "target", "ulp", "bound");
  for (const target& one : targets_named(target_name)) {
    kerngrad::kernels::pin_target(one.bits);
    holds &= gradients
                 ? check_gradients(bounds_named(kerngrad::kernels::gradient_accuracy, functions), one.name, how, found)
                 : check_values(bounds_named(kerngrad::kernels::accuracy, functions), one.name, how, found);
  }
  if (!rows_file.empty()) write_rows(rows_file, gradients, found);
  return holds ? 0 : 1;
} catch (const std::exception& failure) {
  fmt::print(stderr, "accuracy: {}\n", failure.what());
  return 2;
}
