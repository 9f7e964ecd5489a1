// SPDX-License-Identifier: Apache-2.0
// Square roots and logarithms of matrices, polar factors and products of reflectors.
#include <algorithm>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

TEST(sqrtm, squared_is_the_matrix) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : {1, 2, 5, 20})
      for (const tensor& a : {definite({n, n}, 1, type), regular({n, n}, 1, type) + kg::eye(n, n, 0, type) * double(n),
                              defective(n, type), definite({3, n, n}, 2, type) * 1e6}) {
        const tensor root = la::sqrtm(a);
        EXPECT_LT(units_apart(kg::cast(product(root, root), type), a), 100) << n;
      }
  expect_near(la::sqrtm(kg::diag(tensor({4.0, 9.0, 1e-6}))), kg::diag(tensor({2.0, 3.0, 1e-3})), 1e-12);
}

TEST(sqrtm, rejects_a_matrix_with_a_negative_eigenvalue_and_passes_nan) {
  const tensor a = kg::stack({kg::eye(2), kg::diag(tensor({1.f, -1.f}))});
  expect_refused([&] { return la::sqrtm(a); },
                 {"[kg::linalg::sqrtm] got a matrix without a principal square root at batch index [1]"});
  expect_values(la::sqrtm(a, {.check = false})(1), doubles(4, not_a_number));
  expect_values(la::sqrtm(a, {.check = false})(0), {1, 0, 0, 1});
  EXPECT_TRUE(std::isnan(largest(la::sqrtm(kg::full({2, 2}, not_a_number)))));
  EXPECT_EQ(la::sqrtm(kg::zeros({0, 0})).dims(), (kg::shape{0, 0}));
}

TEST(logm, is_the_inverse_of_expm) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : {1, 3, 8}) {
      const tensor a = uniform({2, n, n}, 3, type) * (2 / static_cast<double>(n));
      EXPECT_LT(units_apart(la::logm(la::expm(a)), a), 2000) << n;
    }
  expect_near(la::logm(kg::diag(tensor({1.0, 2.0, 1e-5}))), kg::diag(kg::log(tensor({1.0, 2.0, 1e-5}))), 1e-12);
  expect_refused([] { return la::logm(-kg::eye(2)); }, {"[kg::linalg::logm]", "at or below zero"});
}

TEST(polar, factors_are_orthonormal_and_symmetric) {
  for (const kg::shape& dims : {kg::shape{4, 4}, kg::shape{2, 5, 3}, kg::shape{3, 5}}) {
    const tensor a = uniform(dims, 2);
    const auto [u, p] = la::polar(a);
    expect_near(kg::matmul(u, p), a, 1e-13);
    expect_near(p, kg::swapaxes(p, -1, -2), 1e-13);
    EXPECT_GT(kg::min(la::eigvalsh(p)).item(), -1e-13);
    const bool tall = dims[dims.rank() - 2] >= dims[dims.rank() - 1];
    const tensor gram = kg::matmul(u, u, tall, !tall);
    const std::int64_t k = gram.dims()[gram.rank() - 1];
    expect_near(gram, kg::broadcast_to(kg::eye(k, k, 0, kg::dtype::float64), gram.dims()), 1e-13);
  }
}

TEST(householder_product, is_the_product_of_the_reflections) {
  const tensor v = uniform({5, 3}, 1), tau = uniform({2}, 2);
  tensor whole = kg::eye(5, 5, 0, kg::dtype::float64);
  for (std::int64_t i = 0; i < 2; ++i) {
    doubles column = v(kg::all, i).to_doubles();
    for (std::int64_t r = 0; r <= i; ++r) column[static_cast<std::size_t>(r)] = r == i ? 1 : 0;
    const tensor each(column);
    whole = kg::matmul(whole, kg::eye(5, 5, 0, kg::dtype::float64) - la::outer(each, each) * tau(i));
  }
  expect_near(la::householder_product(v, tau), whole(kg::all, kg::range(0, 3)), 1e-14);
  expect_refused([&] { return la::householder_product(uniform({2, 3}), tau); },
                 {"[kg::linalg::householder_product]", "rows"});
  expect_refused([&] { return la::householder_product(v, uniform({4})); },
                 {"[kg::linalg::householder_product]", "tau"});
}

TEST(functions_of_matrices, have_gradients_of_both_orders) {
  const tensor a = regular({3, 3}) + kg::eye(3, 3, 0, kg::dtype::float64) * 2;
  check_gradients("sqrtm", [](std::span<const tensor> in) { return la::sqrtm(in[0]); }, {a});
  check_gradients("logm", [](std::span<const tensor> in) { return la::logm(in[0]); }, {a});
  check_gradients("polar", [](std::span<const tensor> in) { return la::polar(in[0]).u; }, {uniform({3, 2}, 4)});
  check_gradients("householder_product",
                  [](std::span<const tensor> in) { return la::householder_product(in[0], in[1]); },
                  {uniform({3, 2}, 1), uniform({2}, 2)});
}

TEST(work_arrays, count_under_a_memory_budget) {
  const tensor a = uniform({64, 64});
  const kg::memory_budget results_alone(5 * 64 * 64 * 8 / 2);
  expect_refused([&] { return la::svd(a).u; }, {"memory_budget"});
  EXPECT_EQ(la::cholesky(kg::eye(64)).dims(), (kg::shape{64, 64}));
}

TEST(matmul, is_that_of_the_core) { expect_near(la::matmul(kg::eye(2), kg::ones({2, 2})), kg::ones({2, 2}), 0); }

}  // namespace
