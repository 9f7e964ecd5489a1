// SPDX-License-Identifier: Apache-2.0
// Fuzz target: index expressions. The bytes choose a tensor of different numbers and up to three indices: what these
// take, and what updates change, is compared element by element.
#include <algorithm>
#include <vector>

#include "tests/fuzz/support.h"

import kerngrad.testkit;

namespace {

using fuzz::choices;
using kg::tensor;

constexpr kg::dtype index_types[] = {kg::dtype::int32, kg::dtype::int64, kg::dtype::uint8, kg::dtype::boolean,
                                     kg::dtype::float32};

kg::shape any_shape(choices& from, std::size_t most_rank) {
  std::vector<std::int64_t> dims(from.below(most_rank + 1));
  for (std::int64_t& size : dims) size = static_cast<std::int64_t>(from.below(6));
  return kg::shape(dims);
}

// 0, 1, 2, ...: an element says where it was.
tensor numbered(const kg::shape& dims, kg::dtype type) {
  std::vector<double> all(static_cast<std::size_t>(dims.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
  return kg::testkit::from_doubles(all, dims, type);
}

tensor any_indices(choices& from, const kg::shape& of) {
  const kg::dtype type = index_types[from.below(std::size(index_types))];
  const bool masks = type == kg::dtype::boolean && from.flip();
  const kg::shape dims = masks ? of : any_shape(from, 3);
  std::vector<double> all(static_cast<std::size_t>(dims.size()));
  for (double& one : all)
    one = static_cast<double>(from.below(16) == 1 ? from.integer() : static_cast<std::int64_t>(from.below(8)) - 3);
  return kg::testkit::from_doubles(all, dims, type);
}

std::int64_t any_bound(choices& from) {
  return from.below(8) == 1 ? from.integer() : static_cast<std::int64_t>(from.below(16)) - 8;
}

// Elements that the indices take are those that `set` changes, and `add` counts how often each is taken.
template <class... Index>
void check(const tensor& x, const Index&... indices) {
  tensor taken;
  const bool takes = fuzz::accepted([&] { taken = x(indices...); });
  std::vector<double> count(static_cast<std::size_t>(x.size()));
  if (takes)
    for (const double at : taken.to_doubles()) {
      fuzz::require(at >= 0 && at < static_cast<double>(x.size()), "an element that the tensor does not have");
      ++count[static_cast<std::size_t>(at)];
    }
  tensor set, added;
  const bool sets = fuzz::accepted([&] { set = x.at(indices...).set(-1); });
  fuzz::require(takes == sets, "indices that take elements change them, too");
  if (!sets) return;
  fuzz::require(fuzz::accepted([&] { added = tensor(x).at(indices...).add(1); }), "add takes what set takes");
  const std::vector<double> after_set = set.to_doubles(), after_add = added.to_doubles();
  for (std::size_t i = 0; i < count.size(); ++i) {
    fuzz::require(after_set[i] == (count[i] > 0 ? -1 : static_cast<double>(i)), "set changes other elements");
    fuzz::require(after_add[i] == static_cast<double>(i) + count[i], "add counts otherwise");
  }
  fuzz::accepted([&] { fuzz::require(x.at(indices...).multiply(taken).dims() == x.dims(), "another shape"); });
}

template <class... Index>
void with_indices(const tensor& x, choices& from, std::size_t left, const Index&... before) {
  if (left == 0) return check(x, before...);
  if constexpr (sizeof...(Index) < 3) {
    switch (from.below(6)) {
      case 0: return with_indices(x, from, left - 1, before..., any_bound(from));
      case 1: return with_indices(x, from, left - 1, before..., kg::newaxis);
      case 2: return with_indices(x, from, left - 1, before..., kg::ellipsis);
      case 3: return with_indices(x, from, left - 1, before..., any_indices(from, x.dims()));
      default: {
        const std::int64_t start = any_bound(from), stop = any_bound(from), step = from.flip() ? 1 : any_bound(from);
        return with_indices(x, from, left - 1, before...,
                            from.flip() ? kg::range(start, kg::end, step) : kg::range(start, stop, step));
      }
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    choices from(input);
    const kg::dtype type = from.flip() ? kg::dtype::int64 : kg::dtype::float32;
    const tensor x = numbered(any_shape(from, 4), type);
    with_indices(x, from, from.below(4));
  });
}
