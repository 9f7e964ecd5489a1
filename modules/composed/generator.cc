// SPDX-License-Identifier: Apache-2.0
// Draws from an object that counts them, in place of a seed for each.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_generator;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Options of generator::choice. `weights` has one float of 0 or more per outcome, proportional to its probability;
/// without weights all outcomes are equally likely. If `replace` is false, no outcome occurs twice.
struct choice_options {
  bool replace = true;
  tensor weights{};
};

/// Generates random tensors. A generator is a key of 64 bits and a count of its calls; a copy repeats the same numbers.
/// The seed of call n, from 0, is the first two words of a block of Philox 4x32-10. The block has the counter (low n,
/// high n, 1, 0) and the key (kernels/create/random.h). No elements use that counter. So numbers depend on the key and
/// the number of earlier calls, not on the sizes of these calls. Integers, uniform numbers, choices and permutations
/// are bitwise identical on every platform. All numbers are bitwise identical for any number of threads. A call that
/// throws is not counted. Use a generator on one thread at a time; `split` makes others. Not for cryptography.
class generator {
 public:
  /// Makes a generator whose key is the seed. Its count is 0.
  explicit generator(std::int64_t seed = 0) : key_(static_cast<std::uint64_t>(seed)) {}

  /// Uniform random numbers in [low, high), as `random_uniform`. float32, float64, or half precision rounded from
  /// float32.
  tensor uniform(const shape& dims, double low = 0, double high = 1, dtype type = dtype::float32);
  /// Normal random numbers, as `random_normal`. float32, float64, or half precision rounded from float32.
  tensor normal(const shape& dims, double mean = 0, double stddev = 1, dtype type = dtype::float32);
  /// Normal random numbers within two standard deviations, as `truncated_normal`. float32 or float64.
  tensor truncated_normal(const shape& dims, double mean = 0, double stddev = 1, dtype type = dtype::float32);
  /// Random numbers of the gamma distribution, as `random_gamma`. float32 or float64.
  tensor gamma(const shape& dims, double alpha, double beta = 1, dtype type = dtype::float32);
  /// Random integers in [low, high), all equally likely to within 2^-64. Any integer dtype. Throws for an empty
  /// interval, and for bounds that the dtype does not hold.
  tensor integers(const shape& dims, std::int64_t low, std::int64_t high, dtype type = dtype::int32);
  /// Random zeros and ones: 1 with the given probability. Any dtype but text. Throws for a probability outside of [0,
  /// 1].
  tensor bernoulli(const shape& dims, double probability = 0.5, dtype type = dtype::boolean);

  /// The integers 0 to count - 1 in random order, int32. All orders are equally likely. Throws for a count below 0 or
  /// above 2^31 - 1.
  tensor permutation(std::int64_t count);
  /// The slices of x along an axis in random order. Any dtype. Throws for a scalar. Differentiable.
  tensor permutation(const tensor& x, int axis = 0);
  /// Random integers from 0 to count - 1, int32 of shape `dims`. Throws for a count below 1, for weights of another
  /// length, and for weights that are negative, not finite or all 0. Without replacement it also throws for more
  /// elements than outcomes with a weight above 0.
  tensor choice(std::int64_t count, const shape& dims, const choice_options& options = {});
  /// Random slices of x along its first axis: [dims..., x's other axes...]. Any dtype. Errors are those of `choice`
  /// with a count. Differentiable.
  tensor choice(const tensor& x, const shape& dims, const choice_options& options = {});

  /// Returns the seed of one call, for functions that take a seed: `dropout(x, 0.1, rng.seed())`.
  std::int64_t seed();
  /// Returns a generator that is independent of this one.
  generator split();
  /// Returns several generators that are independent of this one. Throws for a count below 0.
  std::vector<generator> split(std::int64_t count);
  /// Returns the generator that belongs to a number, such as that of a step or a thread. It depends on the key and the
  /// number, not on earlier calls.
  generator fold_in(std::int64_t number) const;

  /// Returns key and count, int64 [2]. Save them to resume with the same random numbers.
  tensor state() const;
  /// Resumes at a saved `state`. Throws unless it is int64 [2].
  void set_state(const tensor& state);
  bool operator==(const generator&) const = default;

 private:
  std::uint64_t key_ = 0, count_ = 0;
};

}  // namespace kerngrad
