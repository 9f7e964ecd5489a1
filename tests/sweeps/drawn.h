// SPDX-License-Identifier: Apache-2.0
// Shared parts of the random sweeps: draws that are the same everywhere, results by their indices, and comparisons.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/full.h"
#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace kgtest {

using place = std::vector<std::int64_t>;
using doubles = std::vector<double>;

/// Draws of sizes, shapes, axes and values.
class dice {
 public:
  explicit dice(std::uint64_t seed) : stream_(seed) {}
  std::int64_t from_to(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool yes() { return from_to(0, 1) == 1; }
  double unit() { return stream_.unit(); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  template <class List>
  const auto& one_of(const List& list) {
    return list[static_cast<std::size_t>(from_to(0, static_cast<std::int64_t>(std::size(list)) - 1))];
  }
  kg::shape dims(std::int64_t least_rank, std::int64_t most_rank, std::int64_t least = 1, std::int64_t most = 4) {
    place sizes(static_cast<std::size_t>(from_to(least_rank, most_rank)));
    for (std::int64_t& size : sizes) size = from_to(least, most);
    return kg::shape(sizes);
  }
  /// An axis of that rank, counted from either end.
  std::int64_t axis(int rank) { return from_to(-rank, rank - 1); }
  /// Distinct axes of that rank, at least one, counted from either end.
  place axes(int rank) {
    place all = order(rank);
    all.resize(static_cast<std::size_t>(from_to(1, rank)));
    for (std::int64_t& axis : all) axis -= yes() ? rank : 0;
    return all;
  }
  /// 0 to count - 1 in any order.
  place order(std::int64_t count) {
    place all;
    for (std::int64_t i = 0; i < count; ++i) all.insert(all.begin() + from_to(0, i), i);
    return all;
  }
  doubles values(std::int64_t count, double low, double high) {
    doubles all(static_cast<std::size_t>(count));
    for (double& v : all) v = between(low, high);
    return all;
  }
  doubles whole(std::int64_t count, std::int64_t least, std::int64_t most) {
    doubles all(static_cast<std::size_t>(count));
    for (double& v : all) v = static_cast<double>(from_to(least, most));
    return all;
  }
  /// Indices in [least, most], int32 or int64.
  kg::tensor indices(const kg::shape& of, std::int64_t least, std::int64_t most) {
    return kg::testkit::from_doubles(whole(of.size(), least, most), of, yes() ? kg::dtype::int32 : kg::dtype::int64);
  }

 private:
  kg::testkit::stream stream_;
};

/// How often a sweep draws: a sample, or twenty times that.
inline int rounds(int some) { return full() ? 20 * some : some; }

// ------------------------------------------------------------------------------------------ indices

inline std::int64_t from_front(std::int64_t index, std::int64_t size) { return index < 0 ? index + size : index; }

/// Calls f for every index, in row-major order.
template <class F>
void each_index(const kg::shape& dims, F f) {
  place at(static_cast<std::size_t>(dims.rank()));
  for (std::int64_t n = 0; n < dims.size(); ++n) {
    std::int64_t rest = n;
    for (int axis = dims.rank() - 1; axis >= 0; rest /= dims[axis], --axis)
      at[static_cast<std::size_t>(axis)] = rest % dims[axis];
    f(std::as_const(at));
  }
}
/// The position of an index in row-major order.
inline std::size_t flat(const kg::shape& dims, const place& at) {
  std::int64_t position = 0;
  for (int axis = 0; axis < dims.rank(); ++axis) position = position * dims[axis] + at[static_cast<std::size_t>(axis)];
  return static_cast<std::size_t>(position);
}
/// The position where an operand that broadcasts has the element of an index of the result.
inline std::size_t broadcast_flat(const kg::shape& dims, const place& at) {
  const std::size_t more = at.size() - static_cast<std::size_t>(dims.rank());
  place own(at.begin() + static_cast<std::ptrdiff_t>(more), at.end());
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (dims[axis] == 1) own[static_cast<std::size_t>(axis)] = 0;
  return flat(dims, own);
}

/// A result as its definition says.
struct expected {
  kg::shape dims;
  doubles values;
};
/// The result whose element at each index is `of(index)`.
template <class F>
expected by_index(const kg::shape& dims, F of) {
  expected all{dims, {}};
  each_index(dims, [&](const place& at) { all.values.push_back(of(at)); });
  return all;
}

/// The elements along axes, all where the list is empty, as one row for each index of the others.
struct rows {
  kg::shape dims;              ///< without the axes
  std::vector<doubles> each;   ///< in row-major order
  std::vector<place> indices;  ///< of each element of x, the row that it is in, and its position there
};
inline rows rows_of(const doubles& x, const kg::shape& dims, const place& over) {
  std::vector<bool> goes(static_cast<std::size_t>(dims.rank()), over.empty());
  for (const std::int64_t axis : over) goes[static_cast<std::size_t>(from_front(axis, dims.rank()))] = true;
  place kept;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!goes[static_cast<std::size_t>(axis)]) kept.push_back(dims[axis]);
  rows all{kg::shape(kept), {}, {}};
  all.each.resize(static_cast<std::size_t>(all.dims.size()));
  each_index(dims, [&](const place& at) {
    place row;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (!goes[axis]) row.push_back(at[axis]);
    const std::size_t in = flat(all.dims, row);
    all.indices.push_back({static_cast<std::int64_t>(in), std::ssize(all.each[in])});
    all.each[in].push_back(x[flat(dims, at)]);
  });
  return all;
}
/// `dims` with sizes of 1 on axes, all where the list is empty.
inline kg::shape with_ones(const kg::shape& dims, const place& over) {
  place sizes(dims.begin(), dims.end());
  if (over.empty()) std::fill(sizes.begin(), sizes.end(), 1);
  for (const std::int64_t axis : over) sizes[static_cast<std::size_t>(from_front(axis, dims.rank()))] = 1;
  return kg::shape(sizes);
}

// ------------------------------------------------------------------------------------------ comparisons

inline bool same_number(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

/// Shape and elements, as far apart as `within` times the larger of 1 and the wanted number.
inline void expect_is(const kg::tensor& got, const expected& wanted, double within = 0) {
  ASSERT_EQ(got.dims(), wanted.dims);
  const doubles values = kg::testkit::doubles_of(got);
  ASSERT_EQ(values.size(), wanted.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (same_number(values[i], wanted.values[i])) continue;
    ASSERT_LE(std::fabs(values[i] - wanted.values[i]), within * std::max(1.0, std::fabs(wanted.values[i])))
        << "element " << i << " is " << values[i] << "; wanted " << wanted.values[i];
  }
}

/// One kind of calls: draws one, makes it, and compares.
struct kind_of_call {
  std::string name;
  std::function<void(dice&)> check;
};
/// Each kind for a number of draws.
template <class Table>
void sweep(const Table& kinds, int some) {
  for (const kind_of_call& kind : kinds)
    for (int round = 0; round < rounds(some); ++round) {
      SCOPED_TRACE(kind.name + ", round " + std::to_string(round));
      dice d(static_cast<std::uint64_t>(round) * 7919 + kind.name.size());
      kind.check(d);
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace kgtest
