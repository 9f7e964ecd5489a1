// SPDX-License-Identifier: Apache-2.0
// Draws from discrete distributions as they are defined: for each element a walk over the weights of its row. Weights
// are computed in long double, so that an element differs from that of the vector kernels only where the drawn fraction
// is within rounding of a bound between two outcomes: in about one of 10^14 draws.
#include "kernels/create/multinomial.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kerngrad::kernels::reference {
namespace {

// The upper 53 bits of 64-bit element e of a stream, one of the two halves of block e / 2.
std::uint64_t upper_bits(std::uint64_t seed, std::uint64_t e) {
  std::uint32_t x[4] = {static_cast<std::uint32_t>(e / 2), static_cast<std::uint32_t>((e / 2) >> 32), 0, 0};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{x[0]} * 0xD2511F53u, second = std::uint64_t{x[2]} * 0xCD9E8D57u;
    x[0] = static_cast<std::uint32_t>(second >> 32) ^ x[1] ^ key[0];
    x[2] = static_cast<std::uint32_t>(first >> 32) ^ x[3] ^ key[1];
    x[1] = static_cast<std::uint32_t>(second);
    x[3] = static_cast<std::uint32_t>(first);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  const std::uint32_t* half = x + e % 2 * 2;
  return (half[0] | std::uint64_t{half[1]} << 32) >> 11;
}

template <dtype Type, class T = storage_t<Type>>
void Multinomial(const multinomial_geometry& g, const T* x, std::int32_t* y) {
  for (std::int64_t i = 0; i < g.rows * g.samples; ++i) {
    const T* row = x + i / g.samples * g.outcomes;
    const long double largest = *std::max_element(row, row + g.outcomes);
    const auto weight = [&](std::int64_t e) -> long double {
      return g.normalized ? row[e] : std::exp(row[e] - largest);
    };
    long double all = 0, below = 0;
    for (std::int64_t e = 0; e < g.outcomes; ++e) all += weight(e);
    const long double at =
        std::ldexp(static_cast<long double>(upper_bits(g.seed, static_cast<std::uint64_t>(i))), -53) * all;
    for (std::int64_t e = 0; e < g.outcomes; ++e) {
      if (weight(e) > 0) y[i] = static_cast<std::int32_t>(e);
      if ((below += weight(e)) > at) break;
    }
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_MULTINOMIAL_KERNELS)

}  // namespace kerngrad::kernels::reference
