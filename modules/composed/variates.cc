// SPDX-License-Identifier: Apache-2.0
// Random elements of the continuous and discrete distributions that NumPy's generators have. The same seed gives
// bitwise identical elements on every CPU target and any number of threads.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_variates;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Samples of the exponential distribution with a rate above 0, whose mean is 1 / rate. NumPy's `scale` is 1 / rate.
/// float32 or float64.
tensor random_exponential(const shape& dims, double rate, std::int64_t seed, dtype type = dtype::float32);
/// Samples of the beta distribution with parameters above 0. float32 or float64. They are made of gamma samples in
/// logarithms, so small parameters do not underflow.
tensor random_beta(const shape& dims, double a, double b, std::int64_t seed, dtype type = dtype::float32);
/// Samples of Student's t distribution with degrees of freedom above 0. float32 or float64.
tensor random_student_t(const shape& dims, double degrees, std::int64_t seed, dtype type = dtype::float32);
/// Angles in [-pi, pi] of the von Mises distribution with a concentration of 0 or more (Best and Fisher 1979). float32
/// or float64. Throws for a mean outside of that interval.
tensor random_von_mises(const shape& dims, double mean, double concentration, std::int64_t seed,
                        dtype type = dtype::float32);
/// Samples of the Dirichlet distribution: [dims..., n] for n concentrations above 0. Each row of n numbers adds up to
/// 1. float32 or float64.
tensor random_dirichlet(const shape& dims, const tensor& concentrations, std::int64_t seed,
                        dtype type = dtype::float32);
/// Samples of the Poisson distribution with a mean from 0 to 1e9, by inversion. int64 or int32.
tensor random_poisson(const shape& dims, double mean, std::int64_t seed, dtype type = dtype::int64);
/// Samples of the binomial distribution, by inversion: the number of successes in `trials` trials. int64 or int32.
/// Throws for a negative number of trials, a probability outside of [0, 1], and a variance above 1e9.
tensor random_binomial(const shape& dims, std::int64_t trials, double probability, std::int64_t seed,
                       dtype type = dtype::int64);

}  // namespace kerngrad
