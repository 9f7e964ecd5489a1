// SPDX-License-Identifier: Apache-2.0
// Random numbers of further distributions, from uniform and normal ones. Additions, products, quotients and roots in a
// fixed order give identical bits on every CPU: the library compiles this without contraction of a * b + c.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kerngrad::kernels {

/// The elements of a call: `count` of them from number `first` on. Draws that are rejected go on with blocks of Philox
/// of their own, whose counter has the element's number and whose key is the seed.
struct variates {
  std::uint64_t seed, first;
  std::size_t count;
};

/// y = -log(1 - u) / rate for u in [0, 1).
void exponential_variates(const double* u, double* y, std::size_t count, double rate);
/// First candidates of gamma variates: normal and uniform numbers. A shape below 1 also takes powers of uniform ones.
struct gamma_numbers {
  const double *normal, *u, *powers;
};
/// Logarithms of gamma variates with a shape and rate 1 (Marsaglia and Tsang 2000).
void log_gamma_variates(const variates& of, double shape, const gamma_numbers& from, double* y);
/// The same without the logarithm.
void gamma_variates(const variates& of, double shape, const gamma_numbers& from, double* y);
/// Angles in [-pi, pi] around 0 with a concentration above 0 (Best and Fisher 1979), from two uniform numbers each.
void von_mises_variates(const variates& of, double concentration, const double* u, const double* v, double* y);
/// y = e^(y - largest) / sum along rows of `size` elements: logarithms of weights to shares.
void shares_of_logs(double* y, std::size_t rows, std::size_t size);

/// Whole numbers by inversion of their distribution function, whose steps are in a table.
class count_table {
 public:
  /// Weights of Poisson's distribution with a mean from 0 to 1e9.
  static count_table poisson(double mean);
  /// Weights of the binomial distribution, whose variance is at most 1e9.
  static count_table binomial(std::int64_t trials, double probability);
  /// The number for each u in [0, 1).
  void draw(const double* u, std::int64_t* y, std::size_t count) const;

 private:
  template <class Up, class Down>
  static count_table around(std::int64_t mode, std::int64_t most, Up up, Down down);

  std::int64_t least_ = 0;
  std::vector<double> steps_;        // distribution function at least_ + i
  std::vector<std::uint32_t> from_;  // first index whose step is above j / from_.size()
};

}  // namespace kerngrad::kernels
