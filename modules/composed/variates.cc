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

/// Exponential samples with a rate above 0: mean 1 / rate. NumPy's `scale` is 1 / rate. float32 or float64.
tensor random_exponential(const shape& dims, double rate, std::int64_t seed, dtype type = dtype::float32);
/// Beta samples with two parameters above 0, from gamma samples in logarithms: small parameters do not underflow.
/// float32 or float64.
tensor random_beta(const shape& dims, double a, double b, std::int64_t seed, dtype type = dtype::float32);
/// Samples of Student's t distribution with degrees of freedom above 0. float32 or float64.
tensor random_student_t(const shape& dims, double degrees, std::int64_t seed, dtype type = dtype::float32);
/// Angles of von Mises's distribution with a concentration of 0 or more, in [-pi, pi] (Best and Fisher 1979). float32
/// or float64. Throws for a mean outside of that interval.
tensor random_von_mises(const shape& dims, double mean, double concentration, std::int64_t seed,
                        dtype type = dtype::float32);
/// Rows of shares that add up to 1: [dims..., n] for n concentrations above 0. float32 or float64.
tensor random_dirichlet(const shape& dims, const tensor& concentrations, std::int64_t seed,
                        dtype type = dtype::float32);
/// Poisson samples with a mean from 0 to 1e9, by inversion. int64 or int32.
tensor random_poisson(const shape& dims, double mean, std::int64_t seed, dtype type = dtype::int64);
/// Numbers of successes among 0 or more trials, by inversion; their variance is at most 1e9. int64 or int32. Throws for
/// a probability outside of 0 to 1.
tensor random_binomial(const shape& dims, std::int64_t trials, double probability, std::int64_t seed,
                       dtype type = dtype::int64);

}  // namespace kerngrad
