// SPDX-License-Identifier: Apache-2.0
// Halves: a function of them is that of float32, rounded once.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>

#include "tests/sweeps/drawn.h"

namespace kgtest {

/// A function of a matrix [4, 6].
struct function_of_matrix {
  std::string name;
  std::function<kg::tensor(const kg::tensor&)> of;
};

/// Compares functions of both halves with float32, rounded once, for values up to each of the sizes.
template <class Table>
void expect_rounded_once(const Table& table, std::initializer_list<double> sizes) {
  for (const function_of_matrix& f : table)
    for (const kg::dtype type : {kg::dtype::float16, kg::dtype::bfloat16})
      for (const double size : sizes)
        for (int round = 0; round < rounds(3); ++round) {
          SCOPED_TRACE(f.name + " of " + std::string(kg::name_of(type)) + " up to " + std::to_string(size));
          dice d(static_cast<std::uint64_t>(round) + 5);
          const kg::tensor x = kg::testkit::from_doubles(d.values(24, -size, size), {4, 6}, type);
          const kg::tensor got = f.of(x), wanted = kg::cast(f.of(kg::cast(x, kg::dtype::float32)), type);
          ASSERT_EQ(got.type(), type);
          ASSERT_EQ(got.dims(), wanted.dims());
          expect_is(got, {wanted.dims(), wanted.to_doubles()});
          if (::testing::Test::HasFailure()) return;
        }
}

}  // namespace kgtest
