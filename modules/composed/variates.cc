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

/// Samples of the exponential distribution with a `rate`, whose mean is 1 / rate. NumPy's `scale` is 1 / rate. float32
/// or float64. Throws unless the rate is above 0.
tensor random_exponential(const shape& dims, double rate, std::int64_t seed, dtype type = dtype::float32);
/// Samples of the beta distribution with parameters a and b. float32 or float64. They are made of gamma samples in
/// logarithms, so small parameters do not underflow. Throws unless both parameters are above 0.
tensor random_beta(const shape& dims, double a, double b, std::int64_t seed, dtype type = dtype::float32);
/// Samples of Student's t distribution with `degrees` degrees of freedom. float32 or float64. Throws unless they are
/// above 0.
tensor random_student_t(const shape& dims, double degrees, std::int64_t seed, dtype type = dtype::float32);
/// Angles in [-pi, pi] of the von Mises distribution (Best and Fisher 1979). float32 or float64. Throws for a mean
/// outside of [-pi, pi] and for a concentration below 0.
tensor random_von_mises(const shape& dims, double mean, double concentration, std::int64_t seed,
                        dtype type = dtype::float32);
/// Samples of the Dirichlet distribution: [dims..., n] for n concentrations. Each row of n numbers adds up to 1.
/// float32 or float64. Throws unless all concentrations are above 0.
tensor random_dirichlet(const shape& dims, const tensor& concentrations, std::int64_t seed,
                        dtype type = dtype::float32);
/// Samples of the Poisson distribution, by inversion. int64 or int32. Throws for a mean outside of 0 to 1e9, and for
/// one whose samples int32 may not hold.
tensor random_poisson(const shape& dims, double mean, std::int64_t seed, dtype type = dtype::int64);
/// Samples of the binomial distribution, by inversion: the number of successes in `trials` trials. int64 or int32.
/// Throws for a negative number of trials, a probability outside of [0, 1], and a variance above 1e9.
tensor random_binomial(const shape& dims, std::int64_t trials, double probability, std::int64_t seed,
                       dtype type = dtype::int64);

}  // namespace kerngrad
