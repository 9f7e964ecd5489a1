// SPDX-License-Identifier: Apache-2.0
// Cholesky factors and triangular systems.
#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

// ------------------------------------------------------------------------------------------ cholesky

TEST(cholesky, is_a_lower_factor_whose_product_with_its_transpose_is_the_matrix) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : {1, 2, 5, 33}) {
      const tensor a = definite({3, n, n}, 7, type), factor = la::cholesky(a);
      EXPECT_EQ(factor.type(), type);
      EXPECT_LT(units_apart(product(factor, kg::swapaxes(factor, -1, -2)), kg::cast(a, kg::dtype::float64)),
                10 * unit(type) / unit(kg::dtype::float64));
      EXPECT_EQ(largest(kg::triu(factor, 1)), 0);
      expect_near(la::cholesky(a, {.upper = true}), kg::swapaxes(factor, -1, -2), 0);
    }
}

TEST(cholesky, of_a_hilbert_matrix_is_what_the_definition_gives) {
  const tensor factor = la::cholesky(hilbert(6));
  const oracle::dense a = oracle::from(hilbert(6));
  oracle::dense wanted{6, 6, std::vector<oracle::wide>(36)};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      oracle::wide rest = a(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= wanted(i, k) * wanted(j, k);
      wanted(i, j) = i == j ? std::sqrt(rest) : rest / wanted(j, j);
    }
  for (std::size_t i = 0; i < 36; ++i)
    EXPECT_NEAR(factor.to_doubles()[i], static_cast<double>(wanted.at[i]), 6 * 0x1p-53 * oracle::condition(hilbert(6)));
}

TEST(cholesky, reads_the_lower_triangle_alone) {
  const tensor a = definite({4, 4});
  expect_near(la::cholesky(kg::tril(a) +
                           kg::triu(kg::full({4, 4}, not_a_number, kg::dtype::float64) * kg::ones({4, 4}), 1) * 0 +
                           kg::triu(uniform({4, 4}, 9), 1)),
              la::cholesky(a), 0);
}

TEST(cholesky, names_the_matrix_and_the_pivot_that_is_not_positive) {
  const tensor good = definite({3, 3}), bad = kg::diag(tensor({1.0, -1.0, 2.0}));
  const tensor stack = kg::stack({good, good, bad, bad});
  expect_refused([&] { return la::cholesky(stack); },
                 {"[kg::linalg::cholesky]", "not positive definite at batch index [2]", "pivot 1 is not positive"});
  expect_refused([&] { return la::cholesky(kg::reshape(stack, {2, 2, 3, 3})); }, {"at batch index [1, 0]"});
  expect_refused([&] { return la::cholesky(bad); }, {"a matrix that is not positive definite: pivot 1"});
}

TEST(cholesky, without_checks_gives_nan_for_these_matrices_and_leaves_the_others_right) {
  const tensor good = definite({3, 3}), bad = kg::diag(tensor({1.0, -1.0, 2.0}));
  const tensor factors = la::cholesky(kg::stack({good, bad, good}), {.check = false});
  expect_near(factors(0), la::cholesky(good), 0);
  expect_values(factors(1), doubles(9, not_a_number));
  expect_near(factors(2), la::cholesky(good), 0);
}

TEST(cholesky, of_nan_is_nan) {
  const tensor a = kg::where(kg::eye(3, 3) > 0, not_a_number, definite({3, 3}));
  expect_values(la::cholesky(a), doubles(9, not_a_number));
}

TEST(cholesky, of_no_matrices_and_of_matrices_without_elements_is_empty) {
  EXPECT_EQ(la::cholesky(kg::zeros({0, 3, 3})).dims(), (kg::shape{0, 3, 3}));
  EXPECT_EQ(la::cholesky(kg::zeros({2, 0, 0})).dims(), (kg::shape{2, 0, 0}));
}

TEST(cholesky, takes_integers_as_float64_and_rejects_other_dtypes_and_shapes) {
  const tensor factor = la::cholesky(tensor({4, 2, 2, 5}, {2, 2}));
  EXPECT_EQ(factor.type(), kg::dtype::float64);
  expect_values(factor, {2, 0, 1, 2});
  expect_refused([] { return la::cholesky(kg::zeros({2, 3})); },
                 {"[kg::linalg::cholesky]", "operand x", "[2, 3]", "square"});
  expect_refused([] { return la::cholesky(kg::zeros({3})); }, {"[kg::linalg::cholesky]", "rank 2 or more"});
  expect_refused([] { return la::cholesky(kg::zeros({2, 2}, kg::dtype::float16)); },
                 {"[kg::linalg::cholesky]", "float16"});
  expect_refused([] { return la::cholesky(tensor()); }, {"[kg::linalg::cholesky]", "undefined"});
}

TEST(cholesky, has_symmetric_gradients_of_both_orders) {
  for (std::int64_t n : {1, 3, 4})
    check_gradients("cholesky", [](std::span<const tensor> in) { return la::cholesky(mirrored(in[0])); },
                    {definite({n, n}, 3)});
  check_gradients("cholesky of a stack", [](std::span<const tensor> in) { return la::cholesky(mirrored(in[0])); },
                  {definite({2, 2, 2}, 3)});
  const tensor weights = uniform({4, 4}, 8);
  const tensor g = kg::grad([&](const tensor& x) { return kg::sum(la::cholesky(x) * weights); })(definite({4, 4}));
  expect_near(g, kg::transpose(g), 0);
}

// ------------------------------------------------------------------------------------------ solve_triangular

TEST(solve_triangular, solves_every_kind_of_triangular_system) {
  for (kg::dtype type : both_floats)
    for (bool lower : {false, true})
      for (bool transpose : {false, true})
        for (bool unit_diagonal : {false, true})
          for (std::int64_t columns : {1, 3}) {
            const tensor a = regular({2, 5, 5}, 3, type), b = uniform({2, 5, columns}, 4, type);
            const tensor x =
                la::solve_triangular(a, b, {.lower = lower, .transpose = transpose, .unit_diagonal = unit_diagonal});
            tensor triangle = lower ? kg::tril(a, unit_diagonal ? -1 : 0) : kg::triu(a, unit_diagonal ? 1 : 0);
            if (unit_diagonal) triangle = triangle + kg::eye(5, 5, 0, type);
            if (transpose) triangle = kg::swapaxes(triangle, -1, -2);
            EXPECT_LT(largest(product(triangle, x) - kg::cast(b, kg::dtype::float64)), 200 * unit(type));
          }
}

TEST(solve_triangular, broadcasts_batch_axes_and_takes_vectors) {
  const tensor a = regular({5, 1, 3, 3}), b = uniform({2, 3, 2});
  const tensor x = la::solve_triangular(a, b, {.lower = true});
  EXPECT_EQ(x.dims(), (kg::shape{5, 2, 3, 2}));
  EXPECT_LT(largest(product(kg::tril(a), x) - b), 1e-13);
  const tensor v = la::solve_triangular(a, tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(v.dims(), (kg::shape{5, 1, 3}));
  EXPECT_LT(largest(kg::matmul(kg::triu(a), v(kg::ellipsis, kg::newaxis))(kg::ellipsis, 0) - tensor({1.0, 2.0, 3.0})),
            1e-13);
}

TEST(solve_triangular, names_a_zero_on_the_diagonal) {
  const tensor a = kg::stack({kg::eye(3), kg::diag(tensor({1.f, 2.f, 0.f}))});
  expect_refused([&] { return la::solve_triangular(a, kg::ones({3})); },
                 {"[kg::linalg::solve_triangular]", "a singular matrix at batch index [1]: pivot 2 is zero"});
  EXPECT_TRUE(std::isinf(la::solve_triangular(a, kg::ones({3}), {.check = false}).to_doubles()[5]));
  expect_values(la::solve_triangular(a, kg::ones({3}), {.unit_diagonal = true})(1), {1, 1, 1});
}

TEST(solve_triangular, rejects_systems_that_do_not_fit) {
  const tensor a = kg::ones({2, 3, 3});
  expect_refused([&] { return la::solve_triangular(kg::ones({2, 3}), kg::ones({2})); }, {"square"});
  expect_refused([&] { return la::solve_triangular(a, kg::ones({2})); }, {"operand b of shape [2]", "3"});
  expect_refused([&] { return la::solve_triangular(a, tensor(1.0)); }, {"a vector or matrices"});
  expect_refused([&] { return la::solve_triangular(a, kg::ones({4, 3, 1})); }, {"batch axes that broadcast"});
}

TEST(solve_triangular, has_gradients_of_both_orders_in_both_operands) {
  for (bool lower : {false, true})
    for (bool transpose : {false, true})
      for (bool unit_diagonal : {false, true})
        check_gradients("solve_triangular",
                        [=](std::span<const tensor> in) {
                          return la::solve_triangular(
                              in[0], in[1], {.lower = lower, .transpose = transpose, .unit_diagonal = unit_diagonal});
                        },
                        {regular({3, 3}), uniform({2, 3, 2}, 2)});
}

}  // namespace
