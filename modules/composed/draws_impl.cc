// SPDX-License-Identifier: Apache-2.0
module;
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;

namespace {

void check_wide(const composed& call, dtype type) {
  if (!wide_floats.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(wide_floats));
}

// The seed of a stream next to that of `seed`: each round has a stream of its own. The step is odd, so that no
// two of them meet.
std::int64_t seed_of(std::int64_t seed, std::uint64_t round) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(seed) + round * 0x9e3779b97f4a7c15u);
}

// Draws until every element has one that was accepted: draw(round) gives the draws and which of them are.
struct candidates {
  tensor values, accepted;
};
tensor drawn_until_accepted(const std::function<candidates(std::uint64_t)>& draw) {
  candidates all = draw(0);
  for (std::uint64_t round = 1; all.values.size() != 0 && !kerngrad::all(all.accepted).item<bool>(); ++round) {
    const candidates next = draw(round);
    all.values = where(all.accepted, all.values, next.values);
    all.accepted = logical_or(all.accepted, next.accepted);
  }
  return all.values;
}

}  // namespace

tensor truncated_normal(const shape& dims, double mean, double stddev, std::int64_t seed, dtype type) {
  constexpr composed call{"truncated_normal"};
  check_wide(call, type);
  if (!(stddev >= 0)) call.refuse("stddev " + to_string(attr_value(stddev)), "0 or more");
  const tensor standard = drawn_until_accepted([&](std::uint64_t round) {
    const tensor values = random_normal(dims, 0, 1, seed_of(seed, round), type);
    return candidates{values, abs(values) <= 2};
  });
  return standard * stddev + mean;
}

tensor random_uniform_int(const shape& dims, std::int64_t low, std::int64_t high, std::int64_t seed) {
  constexpr composed call{"random_uniform_int"};
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  if (low >= high || low < least || high - 1 > most)
    call.refuse("low " + std::to_string(low) + " and high " + std::to_string(high), "int32 numbers, low below high");
  // The 2^53 numbers in [0, 1) are more than enough for 2^32 whole ones.
  const tensor part = random_uniform(dims, 0, 1, seed, dtype::float64);
  return cast(floor(part * static_cast<double>(high - low)) + static_cast<double>(low), dtype::int32);
}

tensor rand(const shape& dims, const std::function<double()>& draw, dtype type) {
  constexpr composed call{"rand"};
  if (!draw) call.refuse("an empty function", "one that gives a number");
  const auto fill = [&](std::span<double> elements) {
    for (double& element : elements) element = draw();
  };
  return cast(tensor::build<double>(dims, fill), type);
}

tensor bernoulli(const shape& dims, double probability, std::int64_t seed, dtype type) {
  constexpr composed call{"bernoulli"};
  if (!(probability >= 0 && probability <= 1))
    call.refuse("probability " + to_string(attr_value(probability)), "a number from 0 to 1");
  return cast(random_uniform(dims, 0, 1, seed, dtype::float64) < probability, type);
}

tensor permutation(std::int64_t count, std::int64_t seed) {
  constexpr composed call{"permutation"};
  if (count < 0 || count > std::numeric_limits<std::int32_t>::max())
    call.refuse("count " + std::to_string(count), "0 to 2^31 - 1");
  // Two numbers of 53 random bits are hardly ever equal; their order is kept then.
  return argsort(random_uniform({count}, 0, 1, seed, dtype::float64));
}

}  // namespace kerngrad
