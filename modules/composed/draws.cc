// SPDX-License-Identifier: Apache-2.0
// Random elements of further distributions. The same seed gives the same samples; element by element they do not depend
// on the number of threads.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_draws;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Normal random numbers within two standard deviations of the mean; numbers outside are generated again. float32 or
/// float64. Throws for a standard deviation below 0.
tensor truncated_normal(const shape& dims, double mean, double stddev, std::int64_t seed, dtype type = dtype::float32);
/// Random int32 integers in [low, high), all equally likely. Throws for an empty interval and for bounds that int32
/// does not hold.
tensor random_uniform_int(const shape& dims, std::int64_t low, std::int64_t high, std::int64_t seed);
/// Random numbers of the gamma distribution with shape `alpha` and rate `beta`: mean alpha / beta, variance alpha /
/// beta^2 (Marsaglia and Tsang 2000). float32 or float64. Throws unless alpha and beta are above 0.
tensor random_gamma(const shape& dims, double alpha, double beta, std::int64_t seed, dtype type = dtype::float32);
/// A tensor of the numbers that `draw` returns, with one call for each element in row-major order. Any dtype but text.
/// Throws for an empty function.
tensor rand(const shape& dims, const std::function<double()>& draw, dtype type = dtype::float32);
/// Random zeros and ones: 1 with the given probability. Any dtype but text. Throws for a probability outside of [0, 1].
tensor bernoulli(const shape& dims, double probability, std::int64_t seed, dtype type = dtype::boolean);
/// The integers 0 to count - 1 in random order, int32. All orders are equally likely. Throws for a count below 0 or
/// above 2^31 - 1.
tensor permutation(std::int64_t count, std::int64_t seed);

}  // namespace kerngrad
