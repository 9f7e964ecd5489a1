// SPDX-License-Identifier: Apache-2.0
// Systems with banded matrices.
#include <algorithm>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

// The matrix of bands, element by element.
tensor dense_of(const tensor& bands, std::int64_t lower, std::int64_t upper) {
  const std::int64_t n = bands.dims()[1];
  const doubles all = bands.to_doubles();
  return matrix(n, n, [&](double i, double j) {
    const auto row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
    if (row - column > lower || column - row > upper) return 0.0;
    return all[static_cast<std::size_t>((upper + row - column) * n + column)];
  });
}

TEST(solve_banded, solves_the_system_of_the_whole_matrix) {
  for (const auto& [lower, upper] : {std::pair(1, 1), {0, 0}, {2, 1}, {0, 3}, {3, 0}, {9, 9}})
    for (kg::dtype type : both_floats) {
      const tensor main = kg::full({1, 6}, 3.0, type);
      tensor bands = uniform({lower + upper + 1, 6}, 4, type);
      bands = kg::concat({bands(kg::range(0, upper)), bands(kg::range(upper, upper + 1)) + main,
                          bands(kg::range(upper + 1, lower + upper + 1))},
                         0);
      const tensor b = uniform({6, 2}, 5, type), a = dense_of(bands, lower, upper);
      const oracle::dense wanted = oracle::solution(oracle::from(a), oracle::from(b));
      const doubles got = la::solve_banded({lower, upper}, bands, b).to_doubles();
      const double bound = 12 * unit(type) * oracle::condition(a) * oracle::norm(wanted);
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted.at[i], bound) << lower << upper;
    }
}

TEST(solve_banded, broadcasts_batches_and_takes_vectors) {
  const tensor bands = uniform({3, 1, 3, 5}, 1) + tensor({0.0, 3.0, 0.0}, {3, 1}), b = uniform({2, 5, 1}, 2);
  const tensor x = la::solve_banded({1, 1}, bands, b);
  EXPECT_EQ(x.dims(), (kg::shape{3, 2, 5, 1}));
  expect_near(x(2, 1), la::solve_banded({1, 1}, bands(2, 0), b(1)), 0);
  EXPECT_EQ(la::solve_banded({1, 1}, bands(0, 0), kg::ones({5})).dims(), kg::shape{5});
  EXPECT_EQ(la::solve_banded({1, 1}, kg::zeros({3, 0}), kg::zeros({0, 2})).dims(), (kg::shape{0, 2}));
}

TEST(solve_banded, names_a_singular_matrix_and_rejects_bands_that_do_not_fit) {
  const tensor singular = kg::stack({kg::ones({1, 3}), kg::zeros({1, 3})});
  expect_refused([&] { return la::solve_banded({0, 0}, singular, kg::ones({3})); },
                 {"[kg::linalg::solve_banded] got a singular matrix at batch index [1]: pivot 0 is zero"});
  const tensor x = la::solve_banded({0, 0}, singular, kg::ones({3}), {.check = false});
  expect_values(x(0), {1, 1, 1});
  expect_values(x(1), doubles(3, not_a_number));
  expect_refused([] { return la::solve_banded({1, 1}, kg::ones({2, 3}), kg::ones({3})); },
                 {"[kg::linalg::solve_banded]", "3 rows"});
  expect_refused([] { return la::solve_banded({-1, 1}, kg::ones({1, 3}), kg::ones({3})); },
                 {"[kg::linalg::solve_banded]", "-1"});
  expect_refused([] { return la::solve_banded({1, 1}, kg::ones({3, 3}), kg::ones({4})); },
                 {"[kg::linalg::solve_banded]", "rows in b"});
}

TEST(solve_banded, has_gradients_of_both_orders) {
  const auto f = [](std::span<const tensor> in) { return la::solve_banded({1, 2}, in[0], in[1]); };
  const tensor bands = uniform({4, 4}, 1) + tensor({0.0, 0.0, 4.0, 0.0}, {4, 1});
  check_gradients("solve_banded", f, {bands, uniform({4, 2}, 2)});
  check_gradients("solve_banded of a stack", f, {bands, uniform({2, 4, 1}, 3)});
}

}  // namespace
