// SPDX-License-Identifier: Apache-2.0
// First values of weights.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_initializers;

import :std;
import :core;
import :tensor;
import :composed_generator;

export namespace kerngrad {

// A weight of shape [..., in, out] takes part in as many sums as it has `out` units, and each sum has `in` operands,
// both times the product of the axes before them, the window of a filter; a vector counts as [n, n]. The variance of
// the elements is chosen by these numbers, fan_in and fan_out. Uniform samples are in [-limit, limit) with
// limit = sqrt(3 * variance); normal ones are none further than two standard deviations from 0, and wider by what that
// takes away, so that the variance is the one that is named. float32 or float64.

/// Uniform random numbers of variance 2 / (fan_in + fan_out), for layers that are nearly linear around 0 (Glorot and
/// Bengio 2010). A weight [..., in, out] has fan_in = n * in and fan_out = n * out, for the product n of the axes
/// before them. A vector [k] counts as [k, k]. Floats.
tensor glorot_uniform(generator& rng, const shape& dims, dtype type = dtype::float32);
/// Normal random numbers that are cut off at two standard deviations (Glorot and Bengio 2010). After the cut their
/// variance is 2 / (fan_in + fan_out). fan_in and fan_out are those of `glorot_uniform`. float32 or float64.
tensor glorot_normal(generator& rng, const shape& dims, dtype type = dtype::float32);
/// Uniform random numbers of variance 2 / fan_in, for layers before a relu (He and others 2015). fan_in, the number of
/// inputs of an output, is that of `glorot_uniform`. Floats.
tensor he_uniform(generator& rng, const shape& dims, dtype type = dtype::float32);
/// Normal random numbers that are cut off at two standard deviations, for layers before a relu (He and others 2015).
/// After the cut their variance is 2 / fan_in, with the fan_in of `glorot_uniform`. float32 or float64.
tensor he_normal(generator& rng, const shape& dims, dtype type = dtype::float32);
/// Uniform random numbers of variance 1 / fan_in, for layers before a selu (LeCun and others 1998; Klambauer and others
/// 2017). fan_in is that of `glorot_uniform`. Floats.
tensor lecun_uniform(generator& rng, const shape& dims, dtype type = dtype::float32);
/// Normal random numbers that are cut off at two standard deviations, for layers before a selu (LeCun and others 1998).
/// After the cut their variance is 1 / fan_in, with the fan_in of `glorot_uniform`. float32 or float64.
tensor lecun_normal(generator& rng, const shape& dims, dtype type = dtype::float32);

/// `gain` times a random matrix with orthonormal columns, or orthonormal rows if it has fewer rows than columns. All
/// axes before the last count as rows. Every such matrix is equally likely. It is the factor q of `qr` of normal random
/// numbers, with each column multiplied by the sign of r's diagonal element (Saxe and others 2014; Mezzadri 2007).
/// float32 or float64. Throws below rank 2.
tensor orthogonal(generator& rng, const shape& dims, double gain = 1, dtype type = dtype::float32);

}  // namespace kerngrad
