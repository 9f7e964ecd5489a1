// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;

namespace {

struct weight_fans {
  double in = 1, out = 1;
};
weight_fans fans_of(const shape& dims) {
  const int rank = dims.rank();
  if (rank == 0) return {};
  double window = 1;
  for (int i = 0; i + 2 < rank; ++i) window *= static_cast<double>(dims[i]);
  const double out = static_cast<double>(dims[rank - 1]);
  return {window * (rank == 1 ? out : static_cast<double>(dims[rank - 2])), window * out};
}

// An empty weight has no variance, and needs none.
double deviation_of(double numerator, double fan) { return std::sqrt(numerator / std::max(fan, 1.0)); }

tensor uniform_weights(generator& rng, const shape& dims, double deviation, dtype type) {
  const double limit = std::sqrt(3.0) * deviation;
  return rng.uniform(dims, -limit, limit, type);
}

// The standard deviation of a normal sample that is cut off at two of its own is 0.8796... (Johnson, Kotz and
// Balakrishnan 1994, section 13.10.1).
tensor normal_weights(generator& rng, const shape& dims, double deviation, dtype type) {
  return rng.truncated_normal(dims, 0, deviation / 0.87962566103423978, type);
}

double glorot_deviation(const shape& dims) {
  const weight_fans fans = fans_of(dims);
  return deviation_of(2, fans.in + fans.out);
}
double he_deviation(const shape& dims) { return deviation_of(2, fans_of(dims).in); }
double lecun_deviation(const shape& dims) { return deviation_of(1, fans_of(dims).in); }

}  // namespace

tensor glorot_uniform(generator& rng, const shape& dims, dtype type) {
  return uniform_weights(rng, dims, glorot_deviation(dims), type);
}
tensor glorot_normal(generator& rng, const shape& dims, dtype type) {
  return normal_weights(rng, dims, glorot_deviation(dims), type);
}
tensor he_uniform(generator& rng, const shape& dims, dtype type) {
  return uniform_weights(rng, dims, he_deviation(dims), type);
}
tensor he_normal(generator& rng, const shape& dims, dtype type) {
  return normal_weights(rng, dims, he_deviation(dims), type);
}
tensor lecun_uniform(generator& rng, const shape& dims, dtype type) {
  return uniform_weights(rng, dims, lecun_deviation(dims), type);
}
tensor lecun_normal(generator& rng, const shape& dims, dtype type) {
  return normal_weights(rng, dims, lecun_deviation(dims), type);
}

tensor orthogonal(generator& rng, const shape& dims, double gain, dtype type) {
  constexpr composed call{"orthogonal"};
  if (dims.rank() < 2) call.refuse("shape " + to_string(dims), "rank 2 or more");
  if (!wide_floats.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(wide_floats));
  if (dims.size() == 0) return zeros(dims, type);
  const std::int64_t columns = dims[dims.rank() - 1], rows = dims.size() / columns;
  const std::int64_t longer = std::max(rows, columns), shorter = std::min(rows, columns);
  const auto [q, r] = qr(rng.normal({longer, shorter}, 0, 1, dtype::float64));
  const tensor sign =
      where(diagonal(r) < 0, full({shorter}, -gain, dtype::float64), full({shorter}, gain, dtype::float64));
  const tensor wide = q * sign;
  return cast(reshape(rows < columns ? transpose(wide) : wide, dims), type);
}

}  // namespace kerngrad
