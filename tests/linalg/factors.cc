// SPDX-License-Identifier: Apache-2.0
// LU and QR factors, and solutions by factors.
#include <algorithm>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

const kg::shape shapes[] = {{1, 1}, {4, 4}, {6, 3}, {3, 6}, {2, 5, 5}, {3, 4, 2}, {3, 2, 4}, {40, 33}};

// ------------------------------------------------------------------------------------------ lu

TEST(lu, is_a_permutation_a_unit_lower_and_an_upper_triangle_whose_product_is_the_matrix) {
  for (kg::dtype type : both_floats)
    for (const kg::shape& dims : shapes) {
      const tensor a = uniform(dims, 3, type);
      const auto [p, l, u] = la::lu(a);
      EXPECT_LT(units_apart(kg::cast(product(p, product(l, u)), type), a), 4) << to_string(dims);
      EXPECT_EQ(largest(kg::triu(l, 1)), 0);
      EXPECT_EQ(largest(kg::diagonal(l, 0, -2, -1) - 1), 0);
      EXPECT_EQ(largest(kg::tril(u, -1)), 0);
      EXPECT_LE(largest(l), 1) << "pivots are the largest of their columns";
      expect_values(kg::sum(p, -1), doubles(static_cast<std::size_t>(kg::sum(p, -1).size()), 1));
      expect_values(kg::sum(p, -2), doubles(static_cast<std::size_t>(kg::sum(p, -2).size()), 1));
    }
}

TEST(lu_factor, has_the_exchanges_in_order_and_both_factors_in_one_matrix) {
  const auto [lu, pivots] = la::lu_factor(tensor{{1.0, 2.0}, {4.0, 4.0}});
  expect_values(pivots, {1, 1});
  EXPECT_EQ(pivots.type(), kg::dtype::int32);
  expect_values(lu, {4, 4, 0.25, 1});
}

TEST(lu_factor, takes_singular_and_empty_matrices_and_nan) {
  expect_values(la::lu_factor(kg::zeros({2, 2})).lu, {0, 0, 0, 0});
  EXPECT_EQ(la::lu_factor(kg::zeros({3, 0})).pivots.dims(), kg::shape{0});
  EXPECT_EQ(la::lu(kg::zeros({0, 2, 3})).p.dims(), (kg::shape{0, 2, 2}));
  const tensor p = la::lu(kg::zeros({2, 0})).p;
  expect_values(p, {1, 0, 0, 1});
  EXPECT_TRUE(std::isnan(largest(la::lu_factor(kg::full({3, 3}, not_a_number)).lu)));
  expect_refused([] { return la::lu(kg::zeros({3})); }, {"[kg::linalg::lu]", "rank 2 or more"});
}

TEST(lu, has_gradients_of_both_orders_for_square_tall_and_wide_matrices) {
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}, {2, 2, 2}}) {
    check_gradients("lu l", [](std::span<const tensor> in) { return la::lu(in[0]).l; }, {uniform(dims, 4)});
    check_gradients("lu u", [](std::span<const tensor> in) { return la::lu(in[0]).u; }, {uniform(dims, 4)});
  }
}

TEST(lu_solve, solves_with_the_matrix_and_with_its_transpose) {
  const tensor a = uniform({4, 1, 5, 5}, 2);
  for (std::int64_t columns : {1, 3}) {
    const tensor b = uniform({2, 5, columns}, 3);
    const la::lu_factors factors = la::lu_factor(a);
    EXPECT_LT(largest(kg::matmul(a, la::lu_solve(factors, b)) - b), 1e-12);
    EXPECT_LT(largest(kg::matmul(a, la::lu_solve(factors, b, {.transpose = true}), true) - b), 1e-12);
  }
  const tensor v({1.0, 2.0, 3.0, 4.0, 5.0});
  expect_near(la::lu_solve(la::lu_factor(a), v), la::solve(a, v), 1e-12);
}

TEST(lu_solve, rejects_pivots_that_are_no_rows) {
  const tensor lu = kg::eye(2);
  expect_refused([&] { return la::lu_solve({lu, tensor({0, 2})}, kg::ones({2})); },
                 {"[kg::linalg::lu_solve]", "pivot 2", "0 to 1"});
  expect_refused([&] { return la::lu_solve({lu, tensor({-1, 1})}, kg::ones({2})); }, {"pivot -1"});
  expect_refused([&] { return la::lu_solve({lu, tensor({0})}, kg::ones({2})); }, {"the result of lu_factor"});
  expect_refused([&] { return la::lu_solve({lu, tensor()}, kg::ones({2})); }, {"the result of lu_factor"});
}

TEST(lu_solve, has_gradients_through_its_factors) {
  for (bool transpose : {false, true})
    check_gradients(
        "lu_solve",
        [=](std::span<const tensor> in) { return la::lu_solve(la::lu_factor(in[0]), in[1], {.transpose = transpose}); },
        {regular({3, 3}, 4), uniform({3, 2}, 2)});
}

TEST(cho_solve, solves_by_either_factor) {
  const tensor a = definite({3, 4, 4}), b = uniform({4, 2}, 2);
  expect_near(la::cho_solve(la::cholesky(a), b), la::solve(a, b), 1e-11);
  expect_near(la::cho_solve(la::cholesky(a, {.upper = true}), b, {.upper = true}), la::solve(a, b), 1e-11);
  expect_refused([] { return la::cho_solve(kg::zeros({2, 2}), kg::ones({2})); },
                 {"[kg::linalg::cho_solve] got a singular matrix: pivot 0 is zero"});
  check_gradients("cho_solve",
                  [](std::span<const tensor> in) { return la::cho_solve(la::cholesky(mirrored(in[0])), in[1]); },
                  {definite({3, 3}), uniform({3}, 2)});
}

// ------------------------------------------------------------------------------------------ qr

TEST(qr, has_orthonormal_columns_and_an_upper_triangle_whose_product_is_the_matrix) {
  for (kg::dtype type : both_floats)
    for (la::qr_mode mode : {la::qr_mode::reduced, la::qr_mode::complete})
      for (const kg::shape& dims : shapes) {
        const tensor a = uniform(dims, 3, type);
        const auto [q, r] = la::qr(a, mode);
        const std::int64_t m = dims[dims.rank() - 2], n = dims[dims.rank() - 1];
        const std::int64_t inner = mode == la::qr_mode::complete ? m : std::min(m, n);
        EXPECT_EQ(q.dims()[dims.rank() - 1], inner);
        EXPECT_EQ(r.dims()[dims.rank() - 2], inner);
        EXPECT_LT(units_apart(kg::cast(product(q, r), type), a), 10) << to_string(dims);
        const tensor one = product(kg::swapaxes(q, -1, -2), q) - kg::eye(inner, inner, 0, kg::dtype::float64);
        EXPECT_LT(largest(one), 10 * static_cast<double>(m) * unit(type));
        EXPECT_EQ(largest(kg::tril(r, -1)), 0);
      }
}

TEST(qr, of_mode_r_gives_r_alone) {
  const tensor a = uniform({5, 3});
  const auto [q, r] = la::qr(a, la::qr_mode::r);
  EXPECT_FALSE(q.defined());
  expect_near(r, la::qr(a).r, 0);
}

TEST(qr, agrees_with_the_reflections_of_the_core_up_to_signs) {
  const tensor a = uniform({5, 3});
  expect_near(kg::abs(la::qr(a).r), kg::abs(kg::qr(a).r), 1e-13);
}

TEST(qr, of_nothing_and_of_nan) {
  EXPECT_EQ(la::qr(kg::zeros({3, 0})).q.dims(), (kg::shape{3, 0}));
  EXPECT_EQ(la::qr(kg::zeros({0, 3})).r.dims(), (kg::shape{0, 3}));
  expect_values(la::qr(kg::zeros({2, 0}), la::qr_mode::complete).q, {1, 0, 0, 1});
  EXPECT_TRUE(std::isnan(largest(la::qr(kg::full({3, 2}, not_a_number)).r)));
}

TEST(qr, has_gradients_of_both_orders_for_square_tall_and_wide_matrices) {
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}, {2, 3, 2}}) {
    check_gradients("qr q", [](std::span<const tensor> in) { return la::qr(in[0]).q; }, {uniform(dims, 4)});
    check_gradients("qr r", [](std::span<const tensor> in) { return la::qr(in[0]).r; }, {uniform(dims, 4)});
  }
  check_gradients("qr complete",
                  [](std::span<const tensor> in) {
                    const auto [q, r] = la::qr(in[0], la::qr_mode::complete);
                    return kg::matmul(r, q, true);
                  },
                  {uniform({2, 4}, 4)});
}

TEST(qr, says_that_further_columns_of_a_tall_matrix_have_no_gradient) {
  const auto f = [](const tensor& x) { return kg::sum(la::qr(x, la::qr_mode::complete).q); };
  expect_refused([&] { return kg::grad(f)(uniform({4, 2})); },
                 {"[kg::linalg::qr]", "complete q", "[4, 2]", "qr_mode::reduced"});
}

}  // namespace
