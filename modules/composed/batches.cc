// SPDX-License-Identifier: Apache-2.0
// Data sets in parts: the batches of an epoch.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_batches;

import :std;
import :core;
import :tensor;
import :composed_generator;

export namespace kerngrad {

/// Options of batches. `size` is the number of examples in a batch. If examples remain, the last batch is smaller;
/// `drop_last` drops it. The generator `shuffle` puts the examples in random order, a new one at each call of batches.
struct batch_options {
  std::int64_t size = 32;
  generator* shuffle = nullptr;
  bool drop_last = false;
};

}  // namespace kerngrad

namespace kerngrad::detail {

/// The distribution of examples over batches. `order` is undefined if they keep their order.
struct batch_plan {
  std::int64_t examples = 0, size = 0, batches = 0;
  tensor order;
};
batch_plan plan_batches(std::span<const tensor> xs, const batch_options& options);
tensor batch_part(const tensor& x, const batch_plan& plan, std::int64_t batch);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The result of batches: a list of arrays of N tensors. Each array is made when it is accessed.
template <std::size_t N>
class batch_list {
 public:
  batch_list(std::array<tensor, N> xs, const batch_options& options)
      : xs_(std::move(xs)), plan_(detail::plan_batches(xs_, options)) {}
  /// The number of batches.
  std::int64_t size() const { return plan_.batches; }
  /// Batch i of each tensor. Throws for an index out of range.
  std::array<tensor, N> operator[](std::int64_t i) const {
    std::array<tensor, N> parts;
    for (std::size_t k = 0; k < N; ++k) parts[k] = detail::batch_part(xs_[k], plan_, i);
    return parts;
  }

  class iterator {
   public:
    iterator(const batch_list* of, std::int64_t at) : of_(of), at_(at) {}
    std::array<tensor, N> operator*() const { return (*of_)[at_]; }
    iterator& operator++() { return ++at_, *this; }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    const batch_list* of_;
    std::int64_t at_;
  };
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size()}; }

 private:
  std::array<tensor, N> xs_;
  detail::batch_plan plan_;
};

/// Cuts tensors into batches along their first axes, which have the same size: `for (const auto& [images, labels] :
/// kg::batches({.size = 64, .shuffle = &rng}, x, y)) ...`. A random order is fixed at the call. Without examples there
/// are no batches. Throws for a size below 1, for scalars, and for different numbers of examples.
template <std::same_as<tensor>... T>
batch_list<sizeof...(T)> batches(const batch_options& options, const T&... xs) {
  static_assert(sizeof...(T) > 0, "batches takes at least one tensor");
  return {{xs...}, options};
}

}  // namespace kerngrad
