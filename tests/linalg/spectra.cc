// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and singular values.
#include <algorithm>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

// An orthogonal matrix.
tensor rotation(std::int64_t n, int seed = 6) { return la::qr(uniform({n, n}, seed)).q; }
tensor with_eigenvalues(const doubles& values, int seed = 6) {
  const tensor q = rotation(static_cast<std::int64_t>(values.size()), seed);
  return mirrored(kg::matmul(q * tensor(values), q, false, true));
}
bool all_finite(const tensor& x) { return std::isfinite(largest(x)); }

// ------------------------------------------------------------------------------------------ eigh

TEST(eigh, has_orthonormal_vectors_that_the_matrix_stretches_by_ascending_values) {
  for (kg::dtype type : both_floats)
    for (const kg::shape& dims : {kg::shape{1, 1}, {2, 2}, {7, 7}, {3, 5, 5}, {70, 70}}) {
      const std::int64_t n = dims[dims.rank() - 1];
      const tensor a = mirrored(uniform(dims, 3, type));
      const auto [w, v] = la::eigh(a);
      EXPECT_LT(units_apart(kg::cast(product(a, v), type), v * kg::expand_dims(w, -2)), 20) << to_string(dims);
      const tensor one = product(kg::swapaxes(v, -1, -2), v) - kg::eye(n, n, 0, kg::dtype::float64);
      EXPECT_LT(largest(one), 20 * static_cast<double>(n) * unit(type));
      if (n > 1) EXPECT_GE(kg::min(kg::diff(w)).item(), 0);
      expect_near(la::eigvalsh(a), w, 20 * static_cast<double>(n) * unit(type));
    }
}

TEST(eigh, of_a_hilbert_matrix_has_the_trace_as_sum_and_the_determinant_as_product) {
  const tensor w = la::eigvalsh(hilbert(5));
  EXPECT_NEAR(kg::sum(w).item(), kg::trace(hilbert(5)).item(), 1e-14);
  EXPECT_NEAR(kg::prod(w).item() / static_cast<double>(oracle::determinant(oracle::from(hilbert(5)))), 1, 1e-9);
}

TEST(eigh, reads_the_lower_triangle_alone_and_turns_with_the_matrix) {
  const tensor a = mirrored(uniform({4, 4})), q = rotation(4);
  expect_near(la::eigvalsh(kg::tril(a)), la::eigvalsh(a), 0);
  expect_near(la::eigvalsh(kg::matmul(kg::matmul(q, a), q, false, true)), la::eigvalsh(a), 1e-13);
  expect_near(la::eigvalsh(a + kg::eye(4, 4, 0, kg::dtype::float64) * 3), la::eigvalsh(a) + 3, 1e-13);
}

TEST(eigh, of_nan_and_infinity_is_nan_and_leaves_other_matrices_right) {
  for (double bad : {not_a_number, std::numeric_limits<double>::infinity()}) {
    const tensor a = kg::stack({kg::full({3, 3}, bad, kg::dtype::float64), kg::eye(3, 3, 0, kg::dtype::float64)});
    const auto [w, v] = la::eigh(a);
    expect_values(w, {not_a_number, not_a_number, not_a_number, 1, 1, 1});
    expect_values(v(0), doubles(9, not_a_number));
    expect_values(la::eigvalsh(a), {not_a_number, not_a_number, not_a_number, 1, 1, 1});
  }
}

TEST(eigh, of_nothing_is_empty_and_of_integers_float64) {
  EXPECT_EQ(la::eigh(kg::zeros({2, 0, 0})).eigenvectors.dims(), (kg::shape{2, 0, 0}));
  EXPECT_EQ(la::eigvalsh(kg::zeros({0, 3, 3})).dims(), (kg::shape{0, 3}));
  expect_values(la::eigvalsh(tensor({2, 1, 1, 2}, {2, 2})), {1, 3});
  EXPECT_EQ(la::eigvalsh(tensor({2, 1, 1, 2}, {2, 2})).type(), kg::dtype::float64);
  expect_refused([] { return la::eigh(kg::zeros({2, 3})); }, {"[kg::linalg::eigh]", "square"});
}

TEST(eigh, has_symmetric_gradients_of_both_orders) {
  const auto values = [](std::span<const tensor> in) { return la::eigh(mirrored(in[0])).eigenvalues; };
  // Without the sign that LAPACK chooses: squares of the vectors.
  const auto vectors = [](std::span<const tensor> in) { return kg::square(la::eigh(mirrored(in[0])).eigenvectors); };
  const tensor a = with_eigenvalues({-1, 0.5, 2}), stack = kg::stack({a, with_eigenvalues({1, 3, 7}, 9)});
  for (const tensor& x : {a, stack}) {
    check_gradients("eigh values", values, {x});
    check_gradients("eigh vectors", vectors, {x});
    check_gradients("eigvalsh", [](std::span<const tensor> in) { return la::eigvalsh(mirrored(in[0])); }, {x});
  }
  const tensor weights = uniform({3, 3}, 4);
  const tensor g = kg::grad([&](const tensor& x) {
    const auto [w, v] = la::eigh(x);
    return kg::sum(kg::square(v) * weights) + kg::sum(w * weights(0));
  })(a);
  expect_near(g, kg::transpose(g), 0);
}

TEST(eigh, of_equal_eigenvalues_has_the_gradient_of_their_sum_in_both_orders) {
  const tensor a = with_eigenvalues({1, 1, 1, 4});
  const auto sum = [](const tensor& x) { return kg::sum(la::eigh(x).eigenvalues); };
  expect_near(kg::grad(sum)(a), kg::eye(4), 1e-13);
  const tensor second = kg::grad([&](const tensor& x) { return kg::sum(kg::grad(sum)(x) * uniform({4, 4}, 3)); })(a);
  EXPECT_LT(largest(second), 1e-12);
  expect_near(kg::grad([](const tensor& x) { return kg::sum(la::eigvalsh(x)); })(a), kg::eye(4), 1e-13);
}

TEST(eigh, of_equal_eigenvalues_has_the_gradient_of_a_projector_onto_their_space) {
  const tensor a = with_eigenvalues({1, 1, 1, 4, 6}), weights = mirrored(uniform({5, 5}, 3));
  const auto f = [&](const tensor& x) {
    const tensor v = la::eigh(mirrored(x)).eigenvectors(kg::ellipsis, kg::range(0, 3));
    return kg::sum(kg::matmul(v, v, false, true) * weights);
  };
  const tensor g = kg::grad(f)(a), direction = mirrored(uniform({5, 5}, 8));
  ASSERT_TRUE(all_finite(g));
  const double step = 1e-6;
  const double slope = (f(a + direction * step).item() - f(a - direction * step).item()) / (2 * step);
  EXPECT_NEAR(kg::sum(g * direction).item(), slope, 1e-8);
}

TEST(eigh, of_equal_eigenvalues_gives_nan_for_what_depends_on_the_choice_of_vectors) {
  const tensor a = with_eigenvalues({1, 1, 4}), weights = uniform({3, 3}, 3);
  const auto f = [&](const tensor& x) { return kg::sum(kg::square(la::eigh(x).eigenvectors) * weights); };
  EXPECT_FALSE(all_finite(kg::grad(f)(a)));
  // The gradient of this one exists, and cannot be told from the derivatives by values and vectors.
  const auto whole = [&](const tensor& x) {
    const auto [w, v] = la::eigh(x);
    return kg::sum(kg::matmul(v * w, v, false, true) * weights);
  };
  EXPECT_FALSE(all_finite(kg::grad(whole)(a)));
}

// A basis of unit vectors is one where derivatives of squares agree with those of functions of the whole space.
TEST(eigenvectors, of_equal_values_have_a_gradient_of_nan_for_diagonal_matrices_too) {
  const tensor weights = uniform({3, 3}, 3), one = kg::eye(3, 3, 0, kg::dtype::float64);
  const std::pair<std::string, std::function<tensor(const tensor&)>> functions[] = {
      {"eigh, squares", [&](const tensor& x) { return kg::square(la::eigh(x).eigenvectors) * weights; }},
      {"eigh, fourth powers", [](const tensor& x) { return kg::square(kg::square(la::eigh(x).eigenvectors)); }},
      {"eigh, one vector", [](const tensor& x) { return kg::square(la::eigh(x).eigenvectors(kg::all, 0)) * 2; }},
      {"eig, squares", [&](const tensor& x) { return kg::square(kg::abs(la::eig(x).eigenvectors)) * weights; }},
      {"svd, squares of u", [&](const tensor& x) { return kg::square(la::svd(x).u) * weights; }},
      {"svd, squares of vh", [&](const tensor& x) { return kg::square(la::svd(x).vh) * weights; }}};
  for (const auto& [name, f] : functions)
    for (const tensor& a : {one, one * 3, kg::diag(tensor({2.0, 2.0, 5.0}))}) {
      const tensor g = kg::grad([&](const tensor& x) { return kg::sum(f(x)); })(a);
      EXPECT_TRUE(std::isnan(largest(g))) << name << " at " << to_string(a);
    }
}

TEST(eigenvectors, of_equal_values_leave_the_gradients_of_values_and_of_other_vectors_finite) {
  const tensor a = kg::diag(tensor({2.0, 2.0, 5.0})), weights = mirrored(uniform({3, 3}, 3));
  const tensor units = kg::eye(3, 3, 0, kg::dtype::float64), last = kg::diag(tensor({0.0, 0.0, 1.0}));
  expect_near(kg::grad([](const tensor& x) { return kg::sum(la::eigh(x).eigenvalues); })(a), units, 0);
  expect_near(kg::grad([](const tensor& x) { return la::eigh(x).eigenvalues(2); })(a), last, 0);
  expect_near(kg::grad([](const tensor& x) { return kg::real(kg::sum(la::eig(x).eigenvalues)); })(a), units, 1e-15);
  expect_near(kg::grad([](const tensor& x) { return kg::sum(la::svd(x).s); })(a), units, 1e-15);
  // v v^T of the third vector is a projector onto a space of one dimension.
  const auto of_last = [&](const tensor& x) {
    const tensor v = la::eigh(mirrored(x)).eigenvectors(kg::all, 2);
    return kg::dot(v, kg::matmul(weights, v));
  };
  // Its derivative by a(0, 2) and a(2, 0) together is 2 w(0, 2) / (5 - 2).
  const tensor g = kg::grad(of_last)(a);
  EXPECT_NEAR(g(0, 2).item(), weights(0, 2).item() / 3, 1e-14);
  EXPECT_NEAR(g(1, 2).item(), weights(1, 2).item() / 3, 1e-14);
  EXPECT_EQ(g(0, 1).item(), 0);
}

// ------------------------------------------------------------------------------------------ svd

TEST(svd, has_orthonormal_vectors_and_descending_values_whose_product_is_the_matrix) {
  for (kg::dtype type : both_floats)
    for (bool full : {false, true})
      for (const kg::shape& dims : {kg::shape{1, 1}, {4, 4}, {6, 3}, {3, 6}, {2, 5, 4}, {40, 60}}) {
        const tensor a = uniform(dims, 3, type);
        const std::int64_t m = dims[dims.rank() - 2], n = dims[dims.rank() - 1], k = std::min(m, n);
        const auto [u, s, vh] = la::svd(a, {.full_matrices = full});
        EXPECT_EQ(u.dims()[dims.rank() - 1], full ? m : k);
        EXPECT_EQ(vh.dims()[dims.rank() - 2], full ? n : k);
        const tensor scaled = u(kg::ellipsis, kg::range(0, k)) * kg::expand_dims(s, -2);
        EXPECT_LT(units_apart(kg::cast(product(scaled, vh(kg::ellipsis, kg::range(0, k), kg::range(0, n))), type), a),
                  20);
        for (const tensor& q : {u, kg::swapaxes(vh, -1, -2)}) {
          const std::int64_t columns = q.dims()[dims.rank() - 1];
          const tensor one = product(kg::swapaxes(q, -1, -2), q) - kg::eye(columns, columns, 0, kg::dtype::float64);
          EXPECT_LT(largest(one), 20 * static_cast<double>(m + n) * unit(type));
        }
        if (k > 1) EXPECT_LE(kg::max(kg::diff(s)).item(), 0);
        EXPECT_GE(kg::min(s).item(), 0);
        expect_near(la::svdvals(a), s, 20 * static_cast<double>(k) * unit(type));
      }
}

TEST(svd, squares_to_the_eigenvalues_of_the_matrix_times_its_transpose) {
  const tensor a = uniform({3, 4, 6});
  expect_near(kg::reverse(kg::square(la::svdvals(a)), -1), la::eigvalsh(kg::matmul(a, a, false, true)), 1e-13);
  expect_near(la::svdvals(defective(3)),
              kg::reverse(kg::sqrt(la::eigvalsh(kg::matmul(defective(3), defective(3), true))), -1), 1e-13);
}

TEST(svd, of_nan_and_infinity_is_nan_and_of_nothing_empty) {
  for (double bad : {not_a_number, -std::numeric_limits<double>::infinity()}) {
    const auto [u, s, vh] = la::svd(kg::full({3, 2}, bad));
    expect_values(s, doubles(2, not_a_number));
    expect_values(u, doubles(6, not_a_number));
    expect_values(vh, doubles(4, not_a_number));
    expect_values(la::svdvals(kg::full({3, 2}, bad)), doubles(2, not_a_number));
  }
  EXPECT_EQ(la::svd(kg::zeros({2, 3, 0})).u.dims(), (kg::shape{2, 3, 0}));
  expect_values(la::svd(kg::zeros({2, 0}), {.full_matrices = true}).u, {1, 0, 0, 1});
  EXPECT_EQ(la::svdvals(kg::zeros({0, 3, 2})).dims(), (kg::shape{0, 2}));
}

TEST(svd, has_gradients_of_both_orders_for_square_tall_and_wide_matrices) {
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}, {2, 3, 2}}) {
    const tensor a = uniform(dims, 4);
    check_gradients("svd s", [](std::span<const tensor> in) { return la::svd(in[0]).s; }, {a});
    check_gradients("svdvals", [](std::span<const tensor> in) { return la::svdvals(in[0]); }, {a});
    check_gradients("svd u", [](std::span<const tensor> in) { return kg::square(la::svd(in[0]).u); }, {a});
    check_gradients("svd vh", [](std::span<const tensor> in) { return kg::square(la::svd(in[0]).vh); }, {a});
    check_gradients("svd u vh",
                    [](std::span<const tensor> in) {
                      const auto [u, s, vh] = la::svd(in[0]);
                      return kg::matmul(u * kg::expand_dims(kg::exp(s), -2), vh);
                    },
                    {a});
  }
}

TEST(svd, of_equal_singular_values_has_the_gradient_of_the_polar_factor) {
  const tensor a = kg::matmul(rotation(3, 2) * tensor({2.0, 2.0, 1.0}), rotation(3, 4)), weights = uniform({3, 3}, 5);
  const auto f = [&](const tensor& x) {
    const auto [u, s, vh] = la::svd(x);
    return kg::sum(kg::matmul(u, vh) * weights);
  };
  const tensor g = kg::grad(f)(a), direction = uniform({3, 3}, 8);
  ASSERT_TRUE(all_finite(g));
  const double step = 1e-6;
  const double slope = (f(a + direction * step).item() - f(a - direction * step).item()) / (2 * step);
  EXPECT_NEAR(kg::sum(g * direction).item(), slope, 1e-8);
  const tensor nuclear = kg::grad([](const tensor& x) { return kg::sum(la::svdvals(x)); })(a);
  expect_near(nuclear, kg::matmul(la::svd(a).u, la::svd(a).vh), 1e-13);
}

TEST(svd, of_a_matrix_of_lower_rank_has_the_gradient_of_its_values) {
  const tensor a = kg::outer(tensor({1.0, 2.0}), tensor({3.0, 4.0, 5.0}));
  const tensor g = kg::grad([](const tensor& x) { return la::svd(x).s(0); })(a);
  const auto [u, s, vh] = la::svd(a);
  expect_near(g, kg::outer(u(kg::ellipsis, 0), vh(0)), 1e-13);
}

TEST(svd, says_that_further_vectors_have_no_gradient) {
  const auto f = [](const tensor& x) { return kg::sum(la::svd(x, {.full_matrices = true}).u); };
  expect_refused([&] { return kg::grad(f)(uniform({4, 2})); }, {"[kg::linalg::svd]", "full matrices", "[4, 2]"});
}

// ------------------------------------------------------------------------------------------ lstsq, pinv

TEST(lstsq, leaves_a_residual_that_no_column_of_the_matrix_shortens) {
  for (kg::dtype type : both_floats)
    for (const kg::shape& dims : {kg::shape{4, 4}, {6, 3}, {3, 6}, {2, 5, 3}}) {
      const tensor a = uniform(dims, 3, type), b = uniform({dims[dims.rank() - 2], 2}, 4, type);
      const auto [x, residuals, rank, values] = la::lstsq(a, b);
      const tensor rest = kg::cast(b, kg::dtype::float64) - product(a, x);
      EXPECT_LT(largest(product(kg::swapaxes(a, -1, -2), rest)), 500 * unit(type));
      expect_near(residuals, kg::sum(kg::square(rest), -2), 100 * unit(type));
      EXPECT_EQ(largest(rank), static_cast<double>(std::min(dims[dims.rank() - 2], dims[dims.rank() - 1])));
      expect_near(values, la::svdvals(a), 40 * unit(type));
    }
}

TEST(lstsq, of_a_matrix_of_lower_rank_is_the_shortest_solution) {
  const tensor a = kg::outer(tensor({1.0, 2.0, 3.0}), tensor({1.0, 1.0})), b({1.0, 2.0, 3.0});
  const auto [x, residuals, rank, values] = la::lstsq(a, b);
  expect_values(x, {0.5, 0.5});
  EXPECT_EQ(rank.item(), 1);
  EXPECT_EQ(rank.type(), kg::dtype::int64);
  expect_values(residuals, {0}, 1e-25);
  EXPECT_EQ(values.size(), 2);
}

TEST(pinv, meets_the_four_conditions_of_penrose) {
  for (const kg::shape& dims : {kg::shape{4, 4}, {6, 3}, {3, 6}, {2, 5, 3}}) {
    tensor a = uniform(dims, 3);
    if (dims.rank() == 2) a = kg::matmul(a(kg::ellipsis, kg::range(0, 2)), a(kg::range(0, 2)));  // rank 2
    const tensor p = la::pinv(a), ap = kg::matmul(a, p), pa = kg::matmul(p, a);
    expect_near(kg::matmul(ap, a), a, 1e-12);
    expect_near(kg::matmul(pa, p), p, 1e-12);
    expect_near(kg::swapaxes(ap, -1, -2), ap, 1e-12);
    expect_near(kg::swapaxes(pa, -1, -2), pa, 1e-12);
  }
  expect_near(la::pinv(regular({3, 3})), la::inv(regular({3, 3})), 1e-13);
  EXPECT_EQ(la::pinv(kg::zeros({2, 0})).dims(), (kg::shape{0, 2}));
  expect_values(la::pinv(kg::zeros({2, 3})), doubles(6, 0));
  expect_values(la::pinv(kg::full({2, 2}, not_a_number)), doubles(4, not_a_number));
}

TEST(lstsq, has_gradients_of_both_orders_for_square_tall_and_wide_matrices) {
  for (const kg::shape& dims : {kg::shape{3, 3}, {4, 2}, {2, 4}, {2, 3, 2}}) {
    const std::int64_t rows = dims[dims.rank() - 2], columns = dims[dims.rank() - 1];
    const tensor a = uniform(dims, 4) + kg::eye(rows, columns, 0, kg::dtype::float64) * 2, b = uniform({rows, 2}, 5);
    check_gradients("lstsq", [](std::span<const tensor> in) { return la::lstsq(in[0], in[1]).x; }, {a, b});
    check_gradients("lstsq residuals", [](std::span<const tensor> in) { return la::lstsq(in[0], in[1]).residuals; },
                    {a, b});
    check_gradients("pinv", [](std::span<const tensor> in) { return la::pinv(in[0]); }, {a});
  }
}

TEST(pinv, has_gradients_along_matrices_of_one_lower_rank) {
  const auto f = [](std::span<const tensor> in) { return la::pinv(kg::matmul(in[0], in[1])); };
  check_gradients("pinv", f, {uniform({4, 2}, 4), uniform({2, 3}, 5)});
}

TEST(matrix_rank, counts_the_singular_values_that_are_not_small) {
  const tensor a = kg::stack({kg::eye(3), kg::zeros({3, 3}), kg::diag(tensor({1.f, 1e-3f, 0.f}))});
  expect_values(la::matrix_rank(a), {3, 0, 2});
  expect_values(la::matrix_rank(a, {.rtol = 0.01}), {3, 0, 1});
  EXPECT_EQ(la::matrix_rank(a).type(), kg::dtype::int64);
  EXPECT_EQ(la::matrix_rank(hilbert(20)).item() < 20, true);
  expect_values(la::matrix_rank(kg::zeros({2, 0, 3})), {0, 0});
  expect_refused([&] { return la::matrix_rank(a, {.rtol = not_a_number}); }, {"[kg::linalg::matrix_rank]", "rtol"});
}

}  // namespace
