// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of matrices that need not be symmetric, and Schur factors.
#include <algorithm>

#include "tests/linalg/complex.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

constexpr kg::dtype all_types[] = {kg::dtype::float32, kg::dtype::float64, kg::dtype::complex64, kg::dtype::complex128};

tensor numbers(const kg::shape& dims, kg::dtype type, int seed = 3) {
  return is_complex(type) ? complex_numbers(dims, seed, type) : uniform(dims, seed, type);
}
// A matrix with these eigenvalues and a basis of eigenvectors that is not orthogonal.
tensor with_eigenvalues(const tensor& values) {
  const std::int64_t n = values.size();
  const tensor basis = kg::cast(regular({n, n}, 5), values.type());
  return kg::matmul(basis * values, la::inv(basis));
}

// ------------------------------------------------------------------------------------------ eig

TEST(eig, has_vectors_of_length_1_that_the_matrix_stretches_by_the_values) {
  for (const kg::dtype type : all_types)
    for (const kg::shape& dims : {kg::shape{1, 1}, {2, 2}, {7, 7}, {3, 5, 5}, {40, 40}}) {
      const tensor a = numbers(dims, type);
      const auto [w, v] = la::eig(a);
      const bool narrow = unit(kg::real(w).type()) > 1e-10;
      EXPECT_EQ(w.type(), narrow ? kg::dtype::complex64 : kg::dtype::complex128);
      EXPECT_EQ(v.type(), w.type());
      EXPECT_LT(apart(wide_product(a, v), v * kg::expand_dims(w, -2)), 200 * unit(kg::real(w).type()))
          << to_string(dims);
      EXPECT_LT(largest(kg::norm(v, 2, -2) - 1), 20 * unit(kg::real(w).type()));
      const tensor trace = la::trace(kg::cast(a, w.type()));
      EXPECT_LT(apart(kg::sum(w, -1), trace), 400 * unit(kg::real(w).type()));
      EXPECT_LT(apart(la::eigvals(a), w), 400 * unit(kg::real(w).type()));
    }
}

TEST(eig, of_a_rotation_is_a_pair_of_conjugates_and_of_a_symmetric_matrix_real) {
  const tensor w = la::eigvals(tensor{{0.0, -2.0}, {2.0, 0.0}});
  expect_values(kg::real(w), {0, 0});
  expect_values(kg::imag(w), {2, -2});
  const tensor a = mirrored(uniform({5, 5})), values = la::eigvals(a);
  expect_near(kg::sort(kg::real(values)), la::eigvalsh(a), 1e-13);
  expect_values(kg::imag(values), doubles(5, 0));
  // A Jordan block has one eigenvector only.
  expect_near(kg::real(la::eigvals(defective(3))), kg::full({3}, 2.0, kg::dtype::float64), 1e-4);
}

TEST(eig, of_nan_and_infinity_is_nan_and_leaves_other_matrices_right) {
  for (const double bad : {not_a_number, std::numeric_limits<double>::infinity()}) {
    const tensor a = kg::stack({kg::full({2, 2}, bad, kg::dtype::float64), kg::eye(2, 2, 0, kg::dtype::float64)});
    const auto [w, v] = la::eig(a);
    expect_values(kg::real(w), {not_a_number, not_a_number, 1, 1});
    expect_values(kg::imag(v(0)), doubles(4, not_a_number));
    expect_values(kg::real(la::eigvals(a)), {not_a_number, not_a_number, 1, 1});
    expect_values(la::schur(a).t, {not_a_number, not_a_number, not_a_number, not_a_number, 1, 0, 0, 1});
  }
}

TEST(eig, of_nothing_is_empty_and_of_integers_complex128) {
  EXPECT_EQ(la::eig(kg::zeros({2, 0, 0})).eigenvectors.dims(), (kg::shape{2, 0, 0}));
  EXPECT_EQ(la::eigvals(kg::zeros({0, 3, 3})).dims(), (kg::shape{0, 3}));
  EXPECT_EQ(la::eigvals(tensor({2, 1, 1, 2}, {2, 2})).type(), kg::dtype::complex128);
  EXPECT_EQ(la::schur(kg::zeros({0, 0})).z.dims(), (kg::shape{0, 0}));
  expect_refused([] { return la::eig(kg::zeros({2, 3})).eigenvalues; }, {"[kg::linalg::eig]", "square"});
  expect_refused([] { return la::eigvals(kg::zeros({3})); }, {"[kg::linalg::eigvals]", "rank 2"});
  expect_refused([] { return la::schur(kg::zeros({2, 3})).t; }, {"[kg::linalg::schur]", "square"});
}

TEST(eig, has_gradients_of_both_orders_for_real_and_complex_matrices) {
  const tensor real = with_eigenvalues(tensor({-1.0, 0.5, 2.0})), turned = tensor{{1.0, -2.0}, {1.5, 0.5}},
               complex = complex_numbers({3, 3});
  for (const tensor& x : {real, turned, complex, kg::stack({turned, turned * 2 + 1})}) {
    // Without the order and the phase that LAPACK chooses: sums over all eigenvalues.
    check_gradients("eigvals",
                    [](std::span<const tensor> in) {
                      const tensor w = la::eigvals(in[0]);
                      return kg::stack({kg::sum(w, -1), kg::sum(kg::square(w), -1), kg::sum(kg::exp(w), -1)});
                    },
                    {x});
    check_gradients("eig values and vectors",
                    [](std::span<const tensor> in) {
                      const auto [w, v] = la::eig(in[0]);
                      return kg::sum(kg::square(kg::abs(v)) * kg::expand_dims(kg::exp(w), -2), -1);
                    },
                    {x});
    check_gradients("eig v exp(w) v^-1",
                    [](std::span<const tensor> in) {
                      const auto [w, v] = la::eig(in[0]);
                      return kg::matmul(v * kg::expand_dims(kg::exp(w), -2), la::inv(v));
                    },
                    {x});
  }
}

TEST(eig, has_the_gradient_of_expm_through_values_and_vectors) {
  const tensor a = complex_numbers({4, 4}, 6), weights = complex_numbers({4, 4}, 7);
  const auto by_eig = [&](const tensor& x) {
    const auto [w, v] = la::eig(x);
    return kg::sum(kg::real(kg::matmul(v * kg::exp(w), la::inv(v)) * weights));
  };
  const auto by_expm = [&](const tensor& x) { return kg::sum(kg::real(la::expm(x) * weights)); };
  EXPECT_LT(apart(kg::grad(by_eig)(a), kg::grad(by_expm)(a)), 1e-11);
}

TEST(eig, gives_nan_for_the_phase_of_vectors_and_for_vectors_of_equal_values) {
  const tensor a = complex_numbers({3, 3}), weights = uniform({3, 3}, 4);
  const auto phase = [&](const tensor& x) { return kg::sum(kg::real(la::eig(x).eigenvectors) * weights); };
  EXPECT_TRUE(std::isnan(largest(kg::real(kg::grad(phase)(a)))));
  const auto vectors = [&](const tensor& x) { return kg::sum(kg::square(kg::abs(la::eig(x).eigenvectors)) * weights); };
  const tensor q = la::qr(uniform({3, 3}, 6)).q,
               equal = mirrored(kg::matmul(q * tensor({1.0, 1.0, 4.0}), q, false, true));
  EXPECT_TRUE(std::isnan(largest(kg::grad(vectors)(equal))));
  const auto trace = [](const tensor& x) { return kg::real(kg::sum(la::eigvals(x))); };
  expect_near(kg::grad(trace)(kg::eye(3, 3, 0, kg::dtype::float64)), kg::eye(3, 3, 0, kg::dtype::float64));
}

TEST(eigvals, of_a_matrix_without_a_basis_of_eigenvectors_has_a_gradient_of_nan) {
  const auto trace = [](const tensor& x) { return kg::real(kg::sum(la::eigvals(x))); };
  for (const kg::dtype type : all_types)
    for (std::int64_t n : {2, 3, 5}) {
      const tensor g = kg::grad(trace)(kg::cast(defective(n), type));
      EXPECT_TRUE(std::isnan(largest(kg::abs(g)))) << n;
    }
  // The others of a stack keep theirs.
  const tensor g = kg::grad(trace)(kg::stack({defective(2), tensor{{1.0, 2.0}, {3.0, 4.0}}}));
  EXPECT_TRUE(std::isnan(largest(kg::abs(g(0)))));
  expect_near(g(1), kg::eye(2), 1e-14);
}

// ------------------------------------------------------------------------------------------ schur

TEST(schur, is_a_unitary_similarity_to_a_triangle) {
  for (const kg::dtype type : all_types)
    for (const kg::shape& dims : {kg::shape{1, 1}, {6, 6}, {2, 5, 5}}) {
      const tensor a = numbers(dims, type);
      const auto [t, z] = la::schur(a);
      EXPECT_EQ(t.type(), type);
      const double rounding = unit(is_complex(type) ? kg::real(t).type() : type);
      EXPECT_LT(apart(kg::matmul(wide_product(z, t), adjoint(kg::cast(z, kg::dtype::complex128))), a), 200 * rounding);
      const std::int64_t n = dims[dims.rank() - 1];
      EXPECT_LT(apart(wide_product(adjoint(z), z), kg::eye(n, n, 0, kg::dtype::complex128)), 40 * rounding);
      EXPECT_EQ(largest(kg::abs(kg::tril(t, is_complex(type) ? -1 : -2))), 0);
    }
}

TEST(schur, of_a_rotation_has_a_block_and_of_complex_numbers_none) {
  const tensor a{{0.0, -2.0}, {2.0, 0.0}};
  EXPECT_NE(la::schur(a).t(1, 0).item(), 0);
  const tensor t = la::schur(kg::cast(a, kg::dtype::complex128)).t;
  EXPECT_LT(apart(la::diagonal(t), la::eigvals(a)), 1e-14);
}

}  // namespace
