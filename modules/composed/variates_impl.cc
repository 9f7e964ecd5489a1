// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/create/random.h"
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
// Elements of a block, which stays in the first-level cache from the first numbers to the result.
constexpr std::size_t block_elements = 512;
using block = double[block_elements];

// Consecutive elements of a call.
struct stretch {
  std::size_t first, count;
};

using random_fn = void (*)(const void* const* in, void* const* out, const void* geometry);
void drawn(random_fn method, const stretch& of, std::int64_t seed, std::uint64_t part, double* y) {
  const kernels::random_geometry g{.count = static_cast<std::int64_t>(of.count),
                                   .seed = static_cast<std::uint64_t>(part_of(seed, part)),
                                   .offset = of.first,
                                   .low = 0,
                                   .high = 1};
  void* out[] = {y};
  method(nullptr, out, &g);
}
// Elements of random_uniform from 0 to 1, and of random_normal.
void uniform(const stretch& of, std::int64_t seed, std::uint64_t part, double* y) {
  drawn(kernels::RandomUniform_float64, of, seed, part, y);
}
void normal(const stretch& of, std::int64_t seed, std::uint64_t part, double* y) {
  drawn(kernels::RandomNormal_float64, of, seed, part, y);
}

// Calls part(begin, count) for stretches of at most `most` elements, in chunks that threads share.
template <class Part>
void in_stretches(std::int64_t count, std::size_t most, std::int64_t bytes, const Part& part) {
  constexpr double operations = 64;
  const bool shared = detail::worth_splitting(count, operations);
  const std::int64_t chunk = shared ? detail::chunk_elements(operations) : std::max<std::int64_t>(count, 1);
  detail::in_chunks(count, chunk, bytes, [&](std::int64_t begin, std::int64_t size) {
    for (std::size_t done = 0, all = static_cast<std::size_t>(size); done < all; done += most)
      part(stretch{static_cast<std::size_t>(begin) + done, std::min(most, all - done)});
  });
}

// Elements that draw(stretch, y) makes, block by block, as another type where T is not the one of the draws.
template <class T, class Drawn, class Draw>
tensor made(const shape& dims, const Draw& draw) {
  return tensor::build<T>(dims, [&](std::span<T> y) {
    in_stretches(std::ssize(y), block_elements, static_cast<std::int64_t>(y.size_bytes()), [&](const stretch& of) {
      Drawn block[block_elements];
      draw(of, block);
      std::transform(block, block + of.count, y.data() + of.first, [](Drawn v) { return static_cast<T>(v); });
    });
  });
}
template <class Draw>
tensor made(const shape& dims, dtype type, const Draw& draw) {
  return type == dtype::float64 ? made<double, double>(dims, draw) : made<float, double>(dims, draw);
}

using gamma_fn = void (*)(const kernels::variates&, double, const kernels::gamma_numbers&, double*);

// Gamma samples or their logarithms. `number` keeps several of one call apart.
void gammas(gamma_fn method, const stretch& of, double form, std::int64_t seed, std::uint64_t number, double* y) {
  const std::uint64_t part = 4 * number;
  block z, u, powers;
  normal(of, seed, part, z);
  uniform(of, seed, part + 1, u);
  if (form < 1) uniform(of, seed, part + 2, powers);
  const std::uint64_t from = static_cast<std::uint64_t>(part_of(seed, part + 3));
  method({from, of.first, of.count}, form, {z, u, powers}, y);
}

tensor counts(const shape& dims, const kernels::count_table& table, std::int64_t seed, dtype type) {
  const auto draw = [&](const stretch& of, std::int64_t* y) {
    block u;
    uniform(of, seed, 0, u);
    table.draw(u, y, of.count);
  };
  return type == dtype::int64 ? made<std::int64_t, std::int64_t>(dims, draw)
                              : made<std::int32_t, std::int64_t>(dims, draw);
}

// No power of a uniform number underflows for parameters from here on. Smaller ones are drawn as logarithms.
constexpr double least_direct = 0.1;

// Rows of shares in proportion to gamma draws, one for each form, row by row.
void shares(const stretch& rows, const std::vector<double>& forms, std::int64_t seed, double* y) {
  const bool direct = *std::min_element(forms.begin(), forms.end()) >= least_direct;
  const std::size_t size = forms.size();
  block drawn, total = {};
  for (std::size_t i = 0; i < size; ++i) {
    gammas(direct ? kernels::gamma_variates : kernels::log_gamma_variates, rows, forms[i], seed, i, drawn);
    for (std::size_t row = 0; row < rows.count; ++row) total[row] += y[row * size + i] = drawn[row];
  }
  if (!direct) return kernels::shares_of_logs(y, rows.count, size);
  for (std::size_t row = 0; row < rows.count; ++row)
    for (std::size_t i = 0; i < size; ++i) y[row * size + i] /= total[row];
}

}  // namespace

tensor random_gamma(const shape& dims, double alpha, double beta, std::int64_t seed, dtype type) {
  constexpr composed call{"random_gamma"};
  check_float(call, type);
  check_positive(call, "alpha", alpha);
  check_positive(call, "beta", beta);
  return made(dims, type, [&](const stretch& of, double* y) {
    gammas(kernels::gamma_variates, of, alpha, seed, 0, y);
    for (std::size_t i = 0; i < of.count; ++i) y[i] /= beta;
  });
}

tensor random_exponential(const shape& dims, double rate, std::int64_t seed, dtype type) {
  constexpr composed call{"random_exponential"};
  check_float(call, type);
  check_positive(call, "rate", rate);
  return made(dims, type, [&](const stretch& of, double* y) {
    block u;
    uniform(of, seed, 0, u);
    kernels::exponential_variates(u, y, of.count, rate);
  });
}

tensor random_beta(const shape& dims, double a, double b, std::int64_t seed, dtype type) {
  constexpr composed call{"random_beta"};
  check_float(call, type);
  check_positive(call, "a", a);
  check_positive(call, "b", b);
  const std::vector<double> forms = {a, b};
  return made(dims, type, [&](const stretch& of, double* y) {
    double both[2 * block_elements];
    shares(of, forms, seed, both);
    for (std::size_t i = 0; i < of.count; ++i) y[i] = both[2 * i];
  });
}

tensor random_student_t(const shape& dims, double degrees, std::int64_t seed, dtype type) {
  constexpr composed call{"random_student_t"};
  check_float(call, type);
  check_positive(call, "degrees", degrees);
  return made(dims, type, [&](const stretch& of, double* y) {
    block z;
    normal(of, seed, 4, z);
    gammas(kernels::gamma_variates, of, degrees / 2, seed, 0, y);
    for (std::size_t i = 0; i < of.count; ++i) y[i] = z[i] * std::sqrt(degrees / 2 / y[i]);
  });
}

tensor random_von_mises(const shape& dims, double mean, double concentration, std::int64_t seed, dtype type) {
  constexpr composed call{"random_von_mises"};
  check_float(call, type);
  if (!(std::fabs(mean) <= pi)) call.refuse("mean " + to_string(attr_value(mean)), "an angle from -pi to pi");
  if (concentration != 0) check_positive(call, "concentration", concentration);
  const std::uint64_t from = static_cast<std::uint64_t>(part_of(seed, 1));
  return made(dims, type, [&](const stretch& of, double* y) {
    block u, v;
    uniform(of, seed, 0, u);
    if (concentration == 0) {
      for (std::size_t i = 0; i < of.count; ++i) y[i] = u[i] * (2 * pi) - pi;
      return;
    }
    uniform(of, seed, 2, v);
    kernels::von_mises_variates({from, of.first, of.count}, concentration, u, v, y);
    for (std::size_t i = 0; i < of.count; ++i) {
      const double turned = y[i] + mean;
      y[i] = turned > pi ? turned - 2 * pi : turned < -pi ? turned + 2 * pi : turned;
    }
  });
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
  const auto filled = [&]<class T>(std::span<T> y) {
    const std::size_t size = forms.size(), rows = y.size() / size;
    const std::size_t together = std::clamp<std::size_t>(4096 / size, 1, block_elements);
    in_stretches(
        static_cast<std::int64_t>(rows), together, static_cast<std::int64_t>(y.size_bytes()), [&](const stretch& of) {
          const std::span<T> to = y.subspan(of.first * size, of.count * size);
          kernels::scratch<double> drawn(std::ssize(to));
          shares(of, forms, seed, drawn.data());
          std::transform(drawn.data(), drawn.data() + to.size(), to.data(), [](double v) { return static_cast<T>(v); });
        });
  };
  std::vector<std::int64_t> sizes(dims.begin(), dims.end());
  sizes.push_back(concentrations.size());
  return type == dtype::float64 ? tensor::build<double>(shape(sizes), filled)
                                : tensor::build<float>(shape(sizes), filled);
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
