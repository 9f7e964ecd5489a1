// SPDX-License-Identifier: Apache-2.0
// Values that each rank knows of every other rank, so that results can be computed without messages.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/refusal.h"
import kerngrad.testkit;
import kerngrad.mpi;

namespace kgtest {

namespace mpi = kg::mpi;
using kg::tensor;
using doubles = std::vector<double>;

inline int rank() { return mpi::communicator().rank(); }
inline int ranks() { return mpi::communicator().size(); }

/// The x that rank r has in a test, of small numbers that float16 holds exactly.
inline tensor x_of(int r, const kg::shape& dims, kg::dtype type = kg::dtype::float64) {
  doubles all(static_cast<std::size_t>(dims.size() * kg::parts_of(type)));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<double>((static_cast<int>(i) * 7 + r * 5) % 11 + (r == 0 ? 1 : r % 3));
  return kg::testkit::from_doubles(all, dims, type);
}
inline tensor mine(const kg::shape& dims, kg::dtype type = kg::dtype::float64) { return x_of(rank(), dims, type); }

/// Elements of all ranks, folded in rank order.
template <class F>
doubles folded(const kg::shape& dims, kg::dtype type, F f) {
  doubles all = kg::testkit::doubles_of(x_of(0, dims, type));
  for (int r = 1; r < ranks(); ++r) {
    const doubles next = kg::testkit::doubles_of(x_of(r, dims, type));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = f(all[i], next[i]);
  }
  return all;
}
inline doubles values(const tensor& x) { return kg::testkit::doubles_of(x); }

}  // namespace kgtest
