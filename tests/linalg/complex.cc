// SPDX-License-Identifier: Apache-2.0
// Complex matrices: reconstructions, the real matrices of twice the size as an oracle, and gradients.
#include <algorithm>
#include <complex>

#include "tests/linalg/complex.h"

namespace {

using namespace kgtest;

void expect_identity(const tensor& x, double tolerance) {
  const std::int64_t n = x.dims()[x.rank() - 1];
  EXPECT_LT(apart(x, kg::eye(n, n, 0, kg::dtype::complex128)), tolerance);
}

// ------------------------------------------------------------------------------------------ values

TEST(complex_matrices, have_the_solutions_and_inverses_of_their_real_forms) {
  for (const kg::dtype type : both_complex)
    for (const kg::shape& dims : {kg::shape{1, 1}, {4, 4}, {12, 3, 3}, {30, 30}}) {
      const std::int64_t n = dims[dims.rank() - 1];
      const double bound = 100 * static_cast<double>(n) * part_unit(type);
      const tensor a = complex_regular(dims, 2, type), b = complex_numbers({n, 2}, 4, type),
                   wide = kg::cast(a, kg::dtype::complex128);
      EXPECT_LT(apart(wide_product(a, la::solve(a, b)), kg::broadcast_to(b, la::solve(a, b).dims())), bound);
      EXPECT_LT(apart(as_real(kg::cast(la::inv(a), kg::dtype::complex128)), la::inv(as_real(wide))), bound);
      EXPECT_LT(apart(la::solve(a, b(kg::all, 0)), la::solve(a, b)(kg::ellipsis, 0)), bound);
      // The determinant of the real form is the squared modulus.
      const tensor det = la::det(wide), modulus = kg::square(kg::abs(det));
      EXPECT_LT(largest(la::det(as_real(wide)) / modulus - 1), 1e-11);
      const auto [sign, logabsdet] = la::slogdet(a);
      EXPECT_EQ(logabsdet.type(), kg::real(a).type());
      EXPECT_LT(apart(kg::cast(sign, kg::dtype::complex128) * kg::exp(kg::cast(logabsdet, kg::dtype::float64)) / det,
                      kg::ones_like(det)),
                10 * bound);
    }
  const tensor singular = kg::ones({2, 2}, kg::dtype::complex128) * std::complex<double>(0, 1);
  expect_refused([&] { return la::solve(singular, kg::ones({2})); },
                 {"[kg::linalg::solve] got a singular matrix: pivot 1"});
  EXPECT_TRUE(std::isnan(largest(kg::abs(la::inv(singular, {.check = false})))));
  EXPECT_EQ(la::solve(kg::eye(2), kg::ones({2}, kg::dtype::complex64)).type(), kg::dtype::complex64);
  EXPECT_EQ(la::solve(kg::eye(2, 2, 0, kg::dtype::float64), kg::ones({2}, kg::dtype::complex64)).type(),
            kg::dtype::complex128);
}

TEST(complex_matrices, are_products_of_their_factors) {
  for (const kg::dtype type : both_complex)
    for (const kg::shape& dims : {kg::shape{1, 1}, {4, 4}, {6, 3}, {3, 6}, {2, 5, 4}, {40, 30}}) {
      const double bound = 100 * part_unit(type);
      const tensor a = complex_numbers(dims, 3, type);
      const auto [q, r] = la::qr(a);
      EXPECT_LT(apart(wide_product(q, r), a), bound);
      expect_identity(wide_product(adjoint(q), q), bound);
      EXPECT_EQ(largest(kg::abs(kg::tril(r, -1))), 0);
      const tensor complete = la::qr(a, la::qr_mode::complete).q;
      expect_identity(wide_product(adjoint(complete), complete), bound);
      const auto [p, l, u] = la::lu(a);
      EXPECT_LT(apart(kg::matmul(wide_product(p, l), kg::cast(u, kg::dtype::complex128)), a), bound);
      for (const bool full : {false, true}) {
        const auto [left, s, vh] = la::svd(a, {.full_matrices = full});
        EXPECT_EQ(s.type(), kg::real(a).type());
        const std::int64_t k = s.dims()[s.rank() - 1];
        const tensor scaled = left(kg::ellipsis, kg::range(0, k)) * kg::expand_dims(s, -2);
        EXPECT_LT(
            apart(wide_product(scaled, vh(kg::ellipsis, kg::range(0, k), kg::range(0, dims[dims.rank() - 1]))), a),
            bound);
        expect_identity(wide_product(adjoint(left), left), bound);
        expect_identity(wide_product(vh, adjoint(vh)), bound);
        EXPECT_LT(apart(la::svdvals(a), s), bound);
      }
    }
}

TEST(complex_matrices, that_are_hermitian_have_real_eigenvalues_and_cholesky_factors) {
  for (const kg::dtype type : both_complex)
    for (const kg::shape& dims : {kg::shape{1, 1}, {4, 4}, {12, 3, 3}, {30, 30}}) {
      const double bound = 100 * part_unit(type);
      const tensor a = complex_definite(dims, 2, type);
      const auto [w, v] = la::eigh(a);
      EXPECT_EQ(w.type(), kg::real(a).type());
      EXPECT_LT(apart(wide_product(a, v), v * kg::expand_dims(w, -2)), bound);
      expect_identity(wide_product(adjoint(v), v), bound);
      EXPECT_LT(apart(la::eigvalsh(kg::tril(a)), w), bound);
      const tensor factor = la::cholesky(a), upper = la::cholesky(a, {.upper = true});
      EXPECT_LT(apart(wide_product(factor, adjoint(factor)), a), bound);
      EXPECT_EQ(apart(upper, adjoint(factor)), 0);
      EXPECT_EQ(largest(kg::abs(kg::triu(factor, 1))), 0);
      const tensor b = complex_numbers({dims[dims.rank() - 1], 2}, 4, type);
      EXPECT_LT(apart(la::cho_solve(factor, b), la::solve(a, b)), 100 * bound);
      EXPECT_LT(apart(la::cho_solve(upper, b, {.upper = true}), la::solve(a, b)), 100 * bound);
    }
  expect_refused([] { return la::cholesky(-kg::eye(2, 2, 0, kg::dtype::complex64)); },
                 {"[kg::linalg::cholesky]", "not positive definite", "pivot 0"});
}

TEST(complex_matrices, take_the_other_solvers_of_equations) {
  const tensor a = complex_regular({4, 4}), b = complex_numbers({4, 2}, 4), turned = kg::swapaxes(a, 0, 1);
  const la::lu_factors factors = la::lu_factor(a);
  EXPECT_LT(apart(la::lu_solve(factors, b), la::solve(a, b)), 1e-13);
  EXPECT_LT(apart(la::lu_solve(factors, b, {.transpose = true}), la::solve(turned, b)), 1e-13);
  EXPECT_LT(apart(la::solve_triangular(a, b), la::solve(kg::triu(a), b)), 1e-13);
  EXPECT_LT(apart(la::solve_triangular(a, b, {.lower = true, .transpose = true}),
                  la::solve(kg::swapaxes(kg::tril(a), 0, 1), b)),
            1e-13);
  const tensor bands = complex_numbers({3, 5}, 8) + kg::cast(tensor({0.0, 3.0, 0.0}, {3, 1}), kg::dtype::complex128);
  tensor full = kg::diag(bands(1));
  for (int i = 0; i < 4; ++i) full = full.at(i, i + 1).set(bands(0, i + 1)).at(i + 1, i).set(bands(2, i));
  const tensor right = complex_numbers({5, 2}, 9);
  EXPECT_LT(apart(la::solve_banded({}, bands, right), la::solve(full, right)), 1e-13);
  for (const kg::shape& dims : {kg::shape{6, 3}, {3, 6}}) {
    const tensor x = complex_numbers(dims, 3), y = complex_numbers({dims[0], 2}, 4), p = la::pinv(x);
    EXPECT_LT(apart(kg::matmul(kg::matmul(x, p), x), x), 1e-13);
    EXPECT_LT(apart(adjoint(kg::matmul(p, x)), kg::matmul(p, x)), 1e-13);
    const auto [solution, residuals, rank, values] = la::lstsq(x, y);
    EXPECT_LT(apart(solution, kg::matmul(p, y)), 1e-13);
    EXPECT_EQ(residuals.type(), kg::dtype::float64);
    EXPECT_LT(largest(residuals - kg::sum(kg::square(kg::abs(y - kg::matmul(x, solution))), 0)), 1e-13);
    EXPECT_EQ(rank.item(), 3);
  }
}

TEST(complex_matrices, have_norms_and_functions) {
  const tensor a = complex_numbers({3, 3}), size = kg::abs(a), one = kg::eye(3, 3, 0, kg::dtype::complex128);
  for (const double p : {0.0, 1.0, 2.0, 3.0})
    EXPECT_NEAR(la::vector_norm(a, {.order = p}).item(), la::vector_norm(size, {.order = p}).item(), 1e-13);
  EXPECT_NEAR(la::matrix_norm(a).item(), la::vector_norm(size).item(), 1e-13);
  EXPECT_NEAR(la::matrix_norm(a, "nuc").item(), kg::sum(la::svdvals(a)).item(), 1e-13);
  EXPECT_NEAR(la::matrix_norm(a, 1).item(), la::matrix_norm(size, 1).item(), 1e-13);
  EXPECT_NEAR(la::cond(a).item(), la::matrix_norm(a, 2).item() * la::matrix_norm(la::inv(a), 2).item(), 1e-11);
  EXPECT_EQ(la::matrix_rank(kg::matmul(a(kg::all, kg::range(0, 2)), a(kg::range(0, 2)))).item(), 2);
  EXPECT_LT(apart(la::matrix_power(a, 3), kg::matmul(a, kg::matmul(a, a))), 1e-14);
  EXPECT_LT(apart(kg::matmul(la::matrix_power(a, -2), kg::matmul(a, a)), one), 1e-12);
  EXPECT_LT(apart(as_real(la::expm(a)), la::expm(as_real(a))), 1e-13);
  const tensor root = la::sqrtm(complex_regular({3, 3}));
  EXPECT_LT(apart(kg::matmul(root, root), complex_regular({3, 3})), 1e-13);
  EXPECT_LT(apart(la::logm(la::expm(a * 0.5)), a * 0.5), 1e-12);
  const auto [u, p] = la::polar(a);
  EXPECT_LT(apart(kg::matmul(u, p), a), 1e-13);
  EXPECT_LT(apart(adjoint(p), p), 1e-13);
  EXPECT_LT(apart(la::vecdot(a, a, -1), kg::sum(kg::square(size), -1)), 1e-14);
}

TEST(complex_matrices, with_nan_give_nan) {
  const tensor bad = kg::full({2, 2}, not_a_number, kg::dtype::complex128);
  for (const tensor& x : {la::svd(bad).u, la::svdvals(bad), la::eigh(bad).eigenvectors, la::eigvalsh(bad),
                          la::cholesky(bad, {.check = false}), la::solve(bad, bad, {.check = false})})
    EXPECT_TRUE(std::isnan(largest(kg::abs(x))));
}

// ------------------------------------------------------------------------------------------ gradients

TEST(gradients_of_complex_matrices, of_equations_are_those_of_differences) {
  const tensor a = complex_regular({3, 3}), b = complex_numbers({3, 2}, 4);
  check_gradients("solve", [](std::span<const tensor> in) { return la::solve(in[0], in[1]); }, {a, b});
  check_gradients("inv", [](std::span<const tensor> in) { return la::inv(in[0]); }, {a});
  for (const bool lower : {false, true})
    for (const bool transpose : {false, true})
      check_gradients("solve_triangular",
                      [=](std::span<const tensor> in) {
                        return la::solve_triangular(in[0], in[1], {.lower = lower, .transpose = transpose});
                      },
                      {a, b});
  for (const bool upper : {false, true})
    check_gradients("cho_solve",
                    [=](std::span<const tensor> in) { return la::cho_solve(in[0], in[1], {.upper = upper}); }, {a, b});
  check_gradients("lu_solve", [](std::span<const tensor> in) { return la::lu_solve(la::lu_factor(in[0]), in[1]); },
                  {a, b});
  check_gradients("solve_banded", [](std::span<const tensor> in) { return la::solve_banded({}, in[0], in[1]); },
                  {complex_numbers({3, 3}) + kg::cast(tensor({0.0, 3.0, 0.0}, {3, 1}), kg::dtype::complex128), b});
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}}) {
    const tensor x = complex_numbers(dims, 5), y = complex_numbers({dims[0], 2}, 4);
    check_gradients("lstsq", [](std::span<const tensor> in) { return la::lstsq(in[0], in[1]).x; }, {x, y});
    check_gradients("lstsq residuals", [](std::span<const tensor> in) { return la::lstsq(in[0], in[1]).residuals; },
                    {x, y});
    check_gradients("pinv", [](std::span<const tensor> in) { return la::pinv(in[0]); }, {x});
  }
}

TEST(gradients_of_complex_matrices, of_determinants_are_those_of_differences) {
  const tensor a = complex_regular({3, 3});
  check_gradients("det", [](std::span<const tensor> in) { return la::det(in[0]); }, {a});
  check_gradients("slogdet sign", [](std::span<const tensor> in) { return la::slogdet(in[0]).sign; }, {a});
  check_gradients("slogdet logarithm", [](std::span<const tensor> in) { return la::slogdet(in[0]).logabsdet; }, {a});
  const tensor singular = kg::matmul(complex_numbers({3, 2}, 5), complex_numbers({2, 3}, 7));
  check_gradients("det of a singular matrix", [](std::span<const tensor> in) { return la::det(in[0]); }, {singular});
}

TEST(gradients_of_complex_matrices, of_factors_are_those_of_differences) {
  const tensor a = complex_regular({3, 3}), definite = complex_definite({3, 3});
  check_gradients("cholesky", [](std::span<const tensor> in) { return la::cholesky(hermitian(in[0])); }, {definite});
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}}) {
    const tensor x = complex_numbers(dims, 4);
    check_gradients("qr q", [](std::span<const tensor> in) { return la::qr(in[0]).q; }, {x});
    check_gradients("qr r", [](std::span<const tensor> in) { return la::qr(in[0]).r; }, {x});
    check_gradients("lu l", [](std::span<const tensor> in) { return la::lu(in[0]).l; }, {x});
    check_gradients("lu u", [](std::span<const tensor> in) { return la::lu(in[0]).u; }, {x});
  }
  check_gradients("householder_product",
                  [](std::span<const tensor> in) { return la::householder_product(in[0], in[1]); },
                  {complex_numbers({4, 2}, 5), complex_numbers({2}, 6)});
}

TEST(gradients_of_complex_matrices, of_eigenvalues_and_singular_values_are_those_of_differences) {
  const tensor a = hermitian(complex_numbers({3, 3}, 8)) + kg::diag(tensor({0.0, 2.0, 5.0}));
  check_gradients("eigvalsh", [](std::span<const tensor> in) { return la::eigvalsh(hermitian(in[0])); }, {a});
  check_gradients("eigh values", [](std::span<const tensor> in) { return la::eigh(hermitian(in[0])).eigenvalues; },
                  {a});
  check_gradients(
      "eigh vectors",
      [](std::span<const tensor> in) { return kg::square(kg::abs(la::eigh(hermitian(in[0])).eigenvectors)); }, {a});
  check_gradients("eigh v exp(w) v^H",
                  [](std::span<const tensor> in) {
                    const auto [w, v] = la::eigh(hermitian(in[0]));
                    return kg::matmul(v * kg::exp(w), adjoint(v));
                  },
                  {a});
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}}) {
    const tensor x = complex_numbers(dims, 4);
    check_gradients("svdvals", [](std::span<const tensor> in) { return la::svdvals(in[0]); }, {x});
    check_gradients("svd u", [](std::span<const tensor> in) { return kg::square(kg::abs(la::svd(in[0]).u)); }, {x});
    check_gradients("svd vh", [](std::span<const tensor> in) { return kg::square(kg::abs(la::svd(in[0]).vh)); }, {x});
    check_gradients("svd u exp(s) vh",
                    [](std::span<const tensor> in) {
                      const auto [u, s, vh] = la::svd(in[0]);
                      return kg::matmul(u * kg::exp(s), vh);
                    },
                    {x});
    check_gradients("polar", [](std::span<const tensor> in) { return la::polar(in[0]).u; }, {x});
  }
}

TEST(gradients_of_complex_matrices, give_nan_for_the_phase_of_vectors) {
  const tensor a = hermitian(complex_numbers({3, 3}, 8)), weights = uniform({3, 3}, 4);
  const auto eigh = [&](const tensor& x) { return kg::sum(kg::real(la::eigh(x).eigenvectors) * weights); };
  EXPECT_TRUE(std::isnan(largest(kg::real(kg::grad(eigh)(a)))));
  const auto svd = [&](const tensor& x) { return kg::sum(kg::real(la::svd(x).u) * weights); };
  EXPECT_TRUE(std::isnan(largest(kg::real(kg::grad(svd)(a)))));
}

TEST(gradients_of_complex_matrices, of_functions_and_norms_are_those_of_differences) {
  const tensor a = complex_numbers({3, 3});
  check_gradients("expm", [](std::span<const tensor> in) { return la::expm(in[0]); }, {a});
  check_gradients("matrix_power", [](std::span<const tensor> in) { return la::matrix_power(in[0], -2); }, {a});
  check_gradients("sqrtm", [](std::span<const tensor> in) { return la::sqrtm(in[0]); }, {complex_regular({3, 3})});
  check_gradients("logm", [](std::span<const tensor> in) { return la::logm(in[0]); }, {complex_regular({3, 3})});
  check_gradients("nuclear norm", [](std::span<const tensor> in) { return la::matrix_norm(in[0], "nuc"); }, {a});
  check_gradients("vector norm", [](std::span<const tensor> in) { return la::vector_norm(in[0], {.order = 3}); }, {a});
  check_gradients("vecdot", [](std::span<const tensor> in) { return la::vecdot(in[0], in[1]); },
                  {a, complex_numbers({3, 3}, 5)});
  // A real operand next to a complex one has a real gradient.
  check_gradients("solve real", [](std::span<const tensor> in) { return la::solve(in[0], in[1]); },
                  {regular({3, 3}), complex_numbers({3, 2}, 4)});
}

}  // namespace
