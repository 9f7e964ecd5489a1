// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :geometry;

namespace kerngrad {

using detail::composed;

namespace {

// A block of Philox 4x32-10: two words of 64 bits (Salmon and others 2011; the constants are theirs).
struct philox_block {
  std::uint64_t low, high;
};
philox_block philox_of(std::uint64_t key, std::uint64_t count, std::uint32_t purpose) {
  std::uint32_t c0 = static_cast<std::uint32_t>(count), c1 = static_cast<std::uint32_t>(count >> 32), c2 = purpose,
                c3 = 0;
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0, p1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
  }
  return {c0 | std::uint64_t{c1} << 32, c2 | std::uint64_t{c3} << 32};
}

// Meaning of the third word of a counter: elements, as the kernels draw them, seeds, generators that are split off, and
// generators of numbers.
enum purpose : std::uint32_t { of_elements, of_draws, of_splits, of_numbers };

__extension__ using product128 = unsigned __int128;

// floor(block * width / 2^128): each of `width` numbers is drawn by 2^128 / width blocks, up to one.
std::uint64_t scaled_block(philox_block block, std::uint64_t width) {
  const product128 carried = product128{block.low} * width >> 64;
  return static_cast<std::uint64_t>((product128{block.high} * width + carried) >> 64);
}

// Element i is drawn by block i.
template <class T>
tensor whole_numbers(const shape& dims, std::uint64_t seed, std::int64_t low, std::uint64_t width) {
  return tensor::build<T>(dims, [&](std::span<T> y) {
    constexpr double operations = 64;
    const std::int64_t count = static_cast<std::int64_t>(y.size());
    const bool shared = detail::worth_splitting(count, operations);
    const std::int64_t chunk = shared ? detail::chunk_elements(operations) : std::max<std::int64_t>(count, 1);
    detail::in_chunks(count, chunk, static_cast<std::int64_t>(y.size_bytes()),
                      [&](std::int64_t begin, std::int64_t size) {
                        for (std::int64_t i = begin; i < begin + size; ++i) {
                          const philox_block block = philox_of(seed, static_cast<std::uint64_t>(i), of_elements);
                          y[static_cast<std::size_t>(i)] =
                              static_cast<T>(static_cast<std::uint64_t>(low) + scaled_block(block, width));
                        }
                      });
  });
}

struct drawable_range {
  std::int64_t least, most;
};
drawable_range range_of_integers(const composed& call, dtype type) {
  if (!integral.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(integral));
  return visit(type, []<dtype Type>(dtype_constant<Type> is) -> drawable_range {
    using T = typename decltype(is)::element;
    if constexpr (!integral.has(Type)) return {};
    else return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  });
}

// The weights as float64, and how many there are above 0.
struct checked_weights {
  std::vector<double> each;
  std::int64_t positive = 0;
};
checked_weights weights_of(const composed& call, const tensor& weights, std::int64_t count) {
  call.floating("weights", weights);
  if (weights.rank() != 1 || weights.size() != count)
    call.refuse(detail::shaped("weights", weights), "[" + std::to_string(count) + "], one for each outcome");
  checked_weights all{weights.to_doubles()};
  double sum = 0;
  for (double w : all.each) {
    if (!(w >= 0)) call.refuse("a weight of " + to_string(attr_value(w)), "weights of 0 or more");
    all.positive += w > 0;
    sum += w;
  }
  if (all.positive == 0 || !std::isfinite(sum))
    call.refuse("weights with the sum " + to_string(attr_value(sum)), "a finite sum above 0");
  return all;
}

// Outcomes by weights, none twice: a tree of sums, from whose root each fraction of what is left leads to an outcome.
tensor drawn_once(const std::vector<double>& weights, std::span<const double> fractions) {
  std::size_t leaves = 1;
  while (leaves < weights.size()) leaves *= 2;
  std::vector<double> sums(leaves + leaves);
  std::copy(weights.begin(), weights.end(), sums.begin() + static_cast<std::ptrdiff_t>(leaves));
  for (std::size_t i = leaves; --i > 0;) sums[i] = sums[2 * i] + sums[2 * i + 1];
  const auto draw = [&](double fraction) {
    double left = fraction * sums[1];
    std::size_t at = 1;
    while (at < leaves) {
      at *= 2;
      // The rest that rounding leaves after the last weight counts for the last weight.
      if (sums[at] > left || !(sums[at + 1] > 0)) continue;
      left -= sums[at++];
    }
    sums[at] = 0;
    for (std::size_t i = at / 2; i > 0; i /= 2) sums[i] = sums[2 * i] + sums[2 * i + 1];
    return static_cast<std::int32_t>(at - leaves);
  };
  return tensor::build<std::int32_t>({static_cast<std::int64_t>(fractions.size())}, [&](std::span<std::int32_t> y) {
    std::transform(fractions.begin(), fractions.end(), y.begin(), draw);
  });
}

// Draws from a copy, which replaces the generator at the end: a draw that throws does not count.
template <class F>
auto drawn(generator& from, const F& draw) {
  generator next = from;
  auto y = draw(next);
  from = next;
  return y;
}

}  // namespace

tensor generator::uniform(const shape& dims, double low, double high, dtype type) {
  return drawn(*this, [&](generator& g) { return random_uniform(dims, low, high, g.seed(), type); });
}

tensor generator::normal(const shape& dims, double mean, double stddev, dtype type) {
  return drawn(*this, [&](generator& g) { return random_normal(dims, mean, stddev, g.seed(), type); });
}

tensor generator::truncated_normal(const shape& dims, double mean, double stddev, dtype type) {
  return drawn(*this, [&](generator& g) { return kerngrad::truncated_normal(dims, mean, stddev, g.seed(), type); });
}

tensor generator::gamma(const shape& dims, double alpha, double beta, dtype type) {
  return drawn(*this, [&](generator& g) { return random_gamma(dims, alpha, beta, g.seed(), type); });
}

tensor generator::integers(const shape& dims, std::int64_t low, std::int64_t high, dtype type) {
  constexpr composed call{"generator::integers"};
  const auto [least, most] = range_of_integers(call, type);
  if (low >= high || low < least || high - 1 > most)
    call.refuse("low " + std::to_string(low) + " and high " + std::to_string(high),
                std::string(name_of(type)) + " numbers, low below high");
  const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return drawn(*this, [&](generator& g) {
    const std::uint64_t from = static_cast<std::uint64_t>(g.seed());
    return visit(type, [&]<dtype Type>(dtype_constant<Type> is) -> tensor {
      if constexpr (!integral.has(Type)) return {};
      else return whole_numbers<typename decltype(is)::element>(dims, from, low, width);
    });
  });
}

tensor generator::bernoulli(const shape& dims, double probability, dtype type) {
  return drawn(*this, [&](generator& g) { return kerngrad::bernoulli(dims, probability, g.seed(), type); });
}

tensor generator::permutation(std::int64_t count) {
  return drawn(*this, [&](generator& g) { return kerngrad::permutation(count, g.seed()); });
}

tensor generator::permutation(const tensor& x, int axis) {
  constexpr composed call{"generator::permutation"};
  call.rank("x", x, 1);
  const int along = call.axis(axis, x.rank());
  return drawn(*this, [&](generator& g) { return gather(x, g.permutation(x.dims()[along]), along); });
}

tensor generator::choice(std::int64_t count, const shape& dims, const choice_options& options) {
  constexpr composed call{"generator::choice"};
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (count < 1 || count > most) call.refuse(std::to_string(count) + " to choose from", "1 to 2^31 - 1");
  const bool weighted = options.weights.defined();
  const checked_weights weights = weighted ? weights_of(call, options.weights, count) : checked_weights{};
  const std::int64_t there_are = weighted ? weights.positive : count;
  if (!options.replace && dims.size() > there_are)
    call.refuse(std::to_string(dims.size()) + " without replacement", std::to_string(there_are) + " at most");
  if (options.replace && !weighted) return integers(dims, 0, count);
  if (options.replace && count == 1) return zeros(dims, dtype::int32);
  return drawn(*this, [&](generator& g) {
    if (!weighted) return reshape(slice(g.permutation(count), {0}, {dims.size()}), dims);
    if (options.replace) {
      // A seed of 53 bits, which a double holds.
      const double from = static_cast<double>(static_cast<std::uint64_t>(g.seed()) >> 11);
      return reshape(multinomial(tensor(weights.each), dims.size(), from, true), dims);
    }
    const tensor fractions = random_uniform({dims.size()}, 0, 1, g.seed(), dtype::float64);
    return reshape(drawn_once(weights.each, fractions.data<double>()), dims);
  });
}

tensor generator::choice(const tensor& x, const shape& dims, const choice_options& options) {
  constexpr composed call{"generator::choice"};
  call.rank("x", x, 1);
  return drawn(*this, [&](generator& g) { return gather(x, g.choice(x.dims()[0], dims, options)); });
}

std::int64_t generator::seed() { return static_cast<std::int64_t>(philox_of(key_, count_++, of_draws).low); }

generator generator::split() { return generator(static_cast<std::int64_t>(philox_of(key_, count_++, of_splits).low)); }

std::vector<generator> generator::split(std::int64_t count) {
  if (count < 0) fail("kg::generator::split", "a count of " + std::to_string(count), "0 or more");
  return drawn(*this, [&](generator& g) {
    std::vector<generator> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(g.split());
    return all;
  });
}

generator generator::fold_in(std::int64_t number) const {
  return generator(static_cast<std::int64_t>(philox_of(key_, static_cast<std::uint64_t>(number), of_numbers).low));
}

tensor generator::state() const { return tensor({static_cast<std::int64_t>(key_), static_cast<std::int64_t>(count_)}); }

void generator::set_state(const tensor& state) {
  constexpr composed call{"generator::set_state"};
  call.given("state", state);
  if (!(state.signature() == kerngrad::signature{{2}, dtype::int64}))
    call.refuse("a state " + std::string(name_of(state.type())) + " " + to_string(state.dims()), "int64 [2]",
                "pass what state() gave");
  const std::span<const std::int64_t> words = state.data<std::int64_t>();
  key_ = static_cast<std::uint64_t>(words[0]);
  count_ = static_cast<std::uint64_t>(words[1]);
}

}  // namespace kerngrad
