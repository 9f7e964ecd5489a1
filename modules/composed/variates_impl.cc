// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/random/variates.h"
module kerngrad;

import :composed_checks;
import :geometry;

namespace kerngrad {

using detail::composed;

namespace {

constexpr double pi = 3.14159265358979323846;

void check_positive(const composed& call, std::string_view name, double x) {
  if (!(x > 0 && x <= std::numeric_limits<double>::max()))
    call.refuse(std::string(name) + " " + to_string(attr_value(x)), "a finite number above 0");
}
void check_float(const composed& call, dtype type) {
  if (!wide_floats.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(wide_floats));
}
void check_whole(const composed& call, dtype type, double most) {
  if (type != dtype::int64 && type != dtype::int32)
    call.refuse("dtype " + std::string(name_of(type)), "int64 or int32");
  if (type == dtype::int32 && most > std::numeric_limits<std::int32_t>::max())
    call.refuse("draws of int32 up to about " + to_string(attr_value(most)), "draws that int32 holds", "draw int64");
}

// Seeds of the streams of one call: uniform, normal and further numbers have their own.
std::int64_t part_of(std::int64_t seed, std::uint64_t part) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(seed) + part * 0xd1342543de82ef95u);
}
tensor uniform(const shape& dims, std::int64_t seed, std::uint64_t part) {
  return random_uniform(dims, 0, 1, part_of(seed, part), dtype::float64);
}
tensor normal(const shape& dims, std::int64_t seed, std::uint64_t part) {
  return random_normal(dims, 0, 1, part_of(seed, part), dtype::float64);
}

// Elements that draw(first, count, y) makes, in chunks that threads share.
template <class T, class Draw>
tensor made(const shape& dims, const Draw& draw) {
  return tensor::build<T>(dims, [&](std::span<T> y) {
    constexpr double operations = 64;
    const std::int64_t count = static_cast<std::int64_t>(y.size());
    const bool shared = detail::worth_splitting(count, operations);
    const std::int64_t chunk = shared ? detail::chunk_elements(operations) : std::max<std::int64_t>(count, 1);
    detail::in_chunks(count, chunk, static_cast<std::int64_t>(y.size_bytes()),
                      [&](std::int64_t begin, std::int64_t size) {
                        draw(static_cast<std::size_t>(begin), static_cast<std::size_t>(size), y.data() + begin);
                      });
  });
}

using gamma_fn = void (*)(const kernels::variates&, double, const kernels::gamma_numbers&, double*);

// Gamma draws or their logarithms. `number` keeps several of one call apart.
tensor gammas(gamma_fn method, const shape& dims, double form, std::int64_t seed, std::uint64_t number) {
  const std::uint64_t part = 4 * number;
  const tensor z = normal(dims, seed, part), u = uniform(dims, seed, part + 1);
  const tensor powers = form < 1 ? uniform(dims, seed, part + 2) : u;
  const std::uint64_t from = static_cast<std::uint64_t>(part_of(seed, part + 3));
  return made<double>(dims, [&](std::size_t first, std::size_t count, double* y) {
    const auto at = [&](const tensor& x) { return x.data<double>().data() + first; };
    method({from, first, count}, form, {at(z), at(u), at(powers)}, y);
  });
}

tensor counts(const shape& dims, const kernels::count_table& table, std::int64_t seed, dtype type) {
  const tensor u = uniform(dims, seed, 0);
  return cast(made<std::int64_t>(dims, [&](std::size_t first, std::size_t count,
                                           std::int64_t* y) { table.draw(u.data<double>().data() + first, y, count); }),
              type);
}

// No power of a uniform number underflows for parameters from here on. Smaller ones are drawn as logarithms.
constexpr double least_direct = 0.1;

// Shares of `logs`, [..., n], along its last axis.
tensor shares(const tensor& logs) {
  const shape& dims = logs.dims();
  const std::size_t size = static_cast<std::size_t>(dims[dims.rank() - 1]);
  return tensor::build<double>(dims, [&](std::span<double> y) {
    const std::span<const double> x = logs.data<double>();
    std::copy(x.begin(), x.end(), y.begin());
    if (!y.empty()) kernels::shares_of_logs(y.data(), y.size() / size, size);
  });
}

}  // namespace

tensor random_gamma(const shape& dims, double alpha, double beta, std::int64_t seed, dtype type) {
  constexpr composed call{"random_gamma"};
  check_float(call, type);
  check_positive(call, "alpha", alpha);
  check_positive(call, "beta", beta);
  return cast(gammas(kernels::gamma_variates, dims, alpha, seed, 0) / beta, type);
}

tensor random_exponential(const shape& dims, double rate, std::int64_t seed, dtype type) {
  constexpr composed call{"random_exponential"};
  check_float(call, type);
  check_positive(call, "rate", rate);
  const tensor u = uniform(dims, seed, 0);
  return cast(made<double>(dims,
                           [&](std::size_t first, std::size_t count, double* y) {
                             kernels::exponential_variates(u.data<double>().data() + first, y, count, rate);
                           }),
              type);
}

tensor random_beta(const shape& dims, double a, double b, std::int64_t seed, dtype type) {
  constexpr composed call{"random_beta"};
  check_float(call, type);
  check_positive(call, "a", a);
  check_positive(call, "b", b);
  if (std::min(a, b) >= least_direct) {
    const tensor first = gammas(kernels::gamma_variates, dims, a, seed, 0);
    return cast(first / (first + gammas(kernels::gamma_variates, dims, b, seed, 1)), type);
  }
  const tensor first = gammas(kernels::log_gamma_variates, dims, a, seed, 0);
  const tensor second = gammas(kernels::log_gamma_variates, dims, b, seed, 1);
  const tensor both = shares(stack({first, second}, dims.rank()));
  std::vector<std::int64_t> begin(static_cast<std::size_t>(dims.rank()) + 1, 0), size(begin.size(), -1);
  size.back() = 1;
  return cast(reshape(slice(both, begin, size), dims), type);
}

tensor random_student_t(const shape& dims, double degrees, std::int64_t seed, dtype type) {
  constexpr composed call{"random_student_t"};
  check_float(call, type);
  check_positive(call, "degrees", degrees);
  const tensor g = gammas(kernels::gamma_variates, dims, degrees / 2, seed, 0);
  return cast(normal(dims, seed, 4) * sqrt(degrees / 2 / g), type);
}

tensor random_von_mises(const shape& dims, double mean, double concentration, std::int64_t seed, dtype type) {
  constexpr composed call{"random_von_mises"};
  check_float(call, type);
  if (!(std::fabs(mean) <= pi)) call.refuse("mean " + to_string(attr_value(mean)), "an angle from -pi to pi");
  if (concentration != 0) check_positive(call, "concentration", concentration);
  const tensor u = uniform(dims, seed, 0), v = uniform(dims, seed, 2);
  if (concentration == 0) return cast(u * (2 * pi) - pi, type);
  const std::uint64_t from = static_cast<std::uint64_t>(part_of(seed, 1));
  const tensor angles = made<double>(dims, [&](std::size_t first, std::size_t count, double* y) {
    kernels::von_mises_variates({from, first, count}, concentration, u.data<double>().data() + first,
                                v.data<double>().data() + first, y);
    for (std::size_t i = 0; i < count; ++i) {
      const double turned = y[i] + mean;
      y[i] = turned > pi ? turned - 2 * pi : turned < -pi ? turned + 2 * pi : turned;
    }
  });
  return cast(angles, type);
}

tensor random_dirichlet(const shape& dims, const tensor& concentrations, std::int64_t seed, dtype type) {
  constexpr composed call{"random_dirichlet"};
  check_float(call, type);
  call.given("concentrations", concentrations);
  call.real("concentrations", concentrations);
  call.rank("concentrations", concentrations, 1, 1);
  if (concentrations.size() == 0) call.refuse("no concentrations", "1 or more");
  const std::vector<double> forms = concentrations.to_doubles();
  for (const double each : forms) check_positive(call, "a concentration of", each);
  const bool direct = *std::min_element(forms.begin(), forms.end()) >= least_direct;
  tensor_list columns;
  for (std::size_t i = 0; i < forms.size(); ++i)
    columns.push_back(gammas(direct ? kernels::gamma_variates : kernels::log_gamma_variates, dims, forms[i], seed, i));
  const tensor rows = stack(columns, dims.rank());
  return cast(direct ? rows / sum(rows, -1, true) : shares(rows), type);
}

tensor random_poisson(const shape& dims, double mean, std::int64_t seed, dtype type) {
  constexpr composed call{"random_poisson"};
  if (!(mean >= 0 && mean <= 1e9)) call.refuse("mean " + to_string(attr_value(mean)), "a mean from 0 to 1e9");
  check_whole(call, type, mean + 20 * std::sqrt(mean));
  return counts(dims, kernels::count_table::poisson(mean), seed, type);
}

tensor random_binomial(const shape& dims, std::int64_t trials, double probability, std::int64_t seed, dtype type) {
  constexpr composed call{"random_binomial"};
  if (!(probability >= 0 && probability <= 1))
    call.refuse("probability " + to_string(attr_value(probability)), "a probability from 0 to 1");
  const double n = static_cast<double>(trials), variance = n * probability * (1 - probability);
  if (trials < 0 || n > 0x1p53 || variance > 1e9)
    call.refuse(std::to_string(trials) + " trials with the variance " + to_string(attr_value(variance)),
                "0 to 2^53 trials with a variance up to 1e9", "draw random_normal with that mean and variance");
  check_whole(call, type, n);
  return counts(dims, kernels::count_table::binomial(trials, probability), seed, type);
}

}  // namespace kerngrad
