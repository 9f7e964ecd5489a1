// SPDX-License-Identifier: Apache-2.0
// Linear algebra.
#include <iostream>

#include "example.h"

import kerngrad;
import kerngrad.linalg;

namespace {

using kg::tensor;

void factor_of_a_covariance() {
  const tensor covariance{{4.0, 2.0}, {2.0, 5.0}};
  std::cout << kg::linalg::cholesky(covariance) << "\n" << kg::linalg::cholesky(covariance, {.upper = true}) << "\n";
}
const example for_factor_of_a_covariance{"kg::linalg::cholesky", factor_of_a_covariance};

void two_equations() {
  const tensor a{{2.0, 1.0}, {1.0, 3.0}}, b({3.0, 5.0});
  std::cout << kg::linalg::solve(a, b) << "\n";
}
const example for_two_equations{"kg::linalg::solve", two_equations};

void singular_matrices_give_nan() {
  const tensor a({1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 4.0}, {2, 2, 2});
  std::cout << kg::linalg::inv(a, {.check = false}) << "\n";
}
const example for_singular_matrices_give_nan{"kg::linalg::inv", singular_matrices_give_nan};

void back_substitution() {
  const tensor a{{2.0, 1.0}, {0.0, 4.0}}, b({4.0, 8.0});
  std::cout << kg::linalg::solve_triangular(a, b) << "\n"
            << kg::linalg::solve_triangular(a, b, {.transpose = true}) << "\n";
}
const example for_back_substitution{"kg::linalg::solve_triangular", back_substitution};

void area_and_its_gradient() {
  const tensor sides{{3.0, 1.0}, {1.0, 2.0}};
  std::cout << kg::linalg::det(sides) << "\n"
            << kg::grad([](const tensor& x) { return kg::linalg::det(x); })(sides) << "\n";
}
const example for_area_and_its_gradient{"kg::linalg::det", area_and_its_gradient};

void determinants_that_overflow() {
  const auto [sign, logabsdet] = kg::linalg::slogdet(kg::eye(1000, 1000, 0, kg::dtype::float64) * -10);
  std::cout << sign << " " << logabsdet << "\n";
}
const example for_determinants_that_overflow{"kg::linalg::slogdet", determinants_that_overflow};

void solutions_by_a_factor() {
  const tensor factor = kg::linalg::cholesky(tensor{{4.0, 2.0}, {2.0, 5.0}});
  std::cout << kg::linalg::cho_solve(factor, tensor({2.0, 3.0})) << "\n"
            << kg::linalg::cho_solve(kg::linalg::matrix_transpose(factor), tensor({4.0, 2.0}), {.upper = true}) << "\n";
}
const example for_solutions_by_a_factor{"kg::linalg::cho_solve", solutions_by_a_factor};

void many_right_sides() {
  const kg::linalg::lu_factors factors = kg::linalg::lu_factor(tensor{{0.0, 2.0}, {4.0, 1.0}});
  std::cout << factors.pivots << "\n"
            << kg::linalg::lu_solve(factors, tensor({2.0, 5.0})) << "\n"
            << kg::linalg::lu_solve(factors, tensor({4.0, 3.0}), {.transpose = true}) << "\n";
}
const example for_many_right_sides{"kg::linalg::lu_factor kg::linalg::lu_factors kg::linalg::lu_solve",
                                   many_right_sides};

void three_factors() {
  const auto [p, l, u] = kg::linalg::lu(tensor{{1.0, 3.0}, {2.0, 4.0}});
  std::cout << p << "\n" << l << "\n" << u << "\n";
}
const example for_three_factors{"kg::linalg::lu", three_factors};

void orthonormal_columns() {
  const tensor x{{3.0, 1.0}, {4.0, 2.0}, {0.0, 2.0}};
  const auto [q, r] = kg::linalg::qr(x);
  std::cout << kg::matmul(q, r) << "\n" << kg::linalg::qr(x, kg::linalg::qr_mode::r).r << "\n";
}
const example for_orthonormal_columns{"kg::linalg::qr kg::linalg::qr_mode", orthonormal_columns};

void axes_of_an_ellipse() {
  const auto [lengths, directions] = kg::linalg::eigh(tensor{{2.0, 1.0}, {1.0, 2.0}});
  std::cout << lengths << "\n" << kg::abs(directions) << "\n";
}
const example for_axes_of_an_ellipse{"kg::linalg::eigh", axes_of_an_ellipse};

void slope_of_the_smallest_eigenvalue() {
  const auto least = [](const tensor& x) { return kg::linalg::eigvalsh(x)(0); };
  std::cout << kg::grad(least)(tensor{{2.0, 1.0}, {1.0, 2.0}}) << "\n";
}
const example for_slope_of_the_smallest_eigenvalue{"kg::linalg::eigvalsh", slope_of_the_smallest_eigenvalue};

void growth_and_turns_of_a_system() {
  const tensor system{{0.0, 1.0}, {-4.0, 0.0}};
  const auto [rates, modes] = kg::linalg::eig(system);
  std::cout << kg::imag(rates) << " " << kg::abs(modes(0)) << "\n";
  const auto frequency = [](const tensor& x) { return kg::imag(kg::linalg::eigvals(x)(0)); };
  std::cout << kg::grad(frequency)(system) << "\n";
}
const example for_growth_and_turns_of_a_system{"kg::linalg::eig kg::linalg::eigvals", growth_and_turns_of_a_system};

void a_triangle_by_rotations() {
  const auto [t, z] = kg::linalg::schur(tensor{{2.0, 1.0}, {1.0, 2.0}});
  std::cout << kg::sort(kg::linalg::diagonal(t)) << "\n"
            << kg::round(kg::matmul(kg::matmul(z, t), z, false, true)) << "\n";
}
const example for_a_triangle_by_rotations{"kg::linalg::schur", a_triangle_by_rotations};

void a_matrix_of_rank_1() {
  const tensor x{{3.0, 4.0}, {6.0, 8.0}};
  const auto [u, s, vh] = kg::linalg::svd(x);
  std::cout << s(0) << " " << kg::abs(vh(0)) << "\n"
            << kg::linalg::svdvals(x)(0) << "\n"
            << kg::linalg::matrix_rank(x) << "\n"
            << kg::linalg::pinv(x) << "\n";
}
const example for_a_matrix_of_rank_1{"kg::linalg::svd kg::linalg::svdvals kg::linalg::matrix_rank kg::linalg::pinv",
                                     a_matrix_of_rank_1};

void square_vectors() {
  const auto parts = kg::linalg::svd(kg::ones({4, 2}), {.full_matrices = true});
  std::cout << kg::to_string(parts.u.dims()) << " " << kg::to_string(parts.vh.dims()) << "\n";
}
const example for_square_vectors{"", square_vectors};

void a_line_through_points() {
  const tensor a{{1.0, 0.0}, {1.0, 1.0}, {1.0, 2.0}}, b({1.0, 3.0, 4.0});
  const auto [x, residuals, rank, singular_values] = kg::linalg::lstsq(a, b, {.rtol = 1e-10});
  std::cout << x << "\n" << residuals << " " << rank << "\n";
}
const example for_a_line_through_points{"kg::linalg::lstsq", a_line_through_points};

void lengths_of_vectors() {
  const tensor x{{3.0, -4.0}, {1.0, 0.0}};
  std::cout << kg::linalg::vector_norm(x, {.over = -1}) << "\n"
            << kg::linalg::vector_norm(x, {.over = -1, .order = 1}) << "\n";
}
const example for_lengths_of_vectors{"kg::linalg::vector_norm", lengths_of_vectors};

void sizes_of_matrices() {
  const tensor x{{2.0, 0.0}, {0.0, 1.0}};
  std::cout << kg::linalg::matrix_norm(x) << " " << kg::linalg::matrix_norm(x, "nuc") << " " << kg::linalg::cond(x)
            << "\n";
}
const example for_sizes_of_matrices{"kg::linalg::matrix_norm kg::linalg::cond", sizes_of_matrices};

void fibonacci() {
  const tensor x({1, 1, 1, 0}, {2, 2});
  std::cout << kg::linalg::matrix_power(x, 10) << "\n";
}
const example for_fibonacci{"kg::linalg::matrix_power", fibonacci};

void a_quarter_turn() {
  const tensor generator{{0.0, -1.5707963267948966}, {1.5707963267948966, 0.0}};
  std::cout << kg::round(kg::linalg::expm(generator)) << "\n";
}
const example for_a_quarter_turn{"kg::linalg::expm", a_quarter_turn};

void second_differences() {
  const tensor bands({0.0, -1.0, -1.0, 2.0, 2.0, 2.0, -1.0, -1.0, 0.0}, {3, 3});
  std::cout << kg::linalg::solve_banded({.lower = 1, .upper = 1}, bands, tensor({1.0, 0.0, 1.0})) << "\n";
}
const example for_second_differences{"kg::linalg::solve_banded", second_differences};

void half_of_a_quarter_turn() {
  const tensor turn{{0.0, -1.0}, {1.0, 0.0}}, half = kg::linalg::sqrtm(turn);
  std::cout << half << "\n" << kg::linalg::logm(kg::eye(2) * 2) << "\n";
}
const example for_half_of_a_quarter_turn{"kg::linalg::sqrtm kg::linalg::logm", half_of_a_quarter_turn};

void a_turn_and_a_stretch() {
  const auto [u, p] = kg::linalg::polar(tensor{{0.0, -2.0}, {3.0, 0.0}});
  std::cout << u << "\n" << p << "\n";
}
const example for_a_turn_and_a_stretch{"kg::linalg::polar", a_turn_and_a_stretch};

void one_reflection() {
  const tensor reflectors({0.0, 1.0}, {2, 1}), tau({1.0});
  std::cout << kg::linalg::householder_product(reflectors, tau) << "\n";
}
const example for_one_reflection{"kg::linalg::householder_product", one_reflection};

void parts_of_a_matrix() {
  const tensor x({1, 2, 3, 4, 5, 6}, {2, 3});
  std::cout << kg::linalg::matrix_transpose(x) << "\n"
            << kg::linalg::diagonal(x, 1) << " " << kg::linalg::trace(x) << "\n";
}
const example for_parts_of_a_matrix{"kg::linalg::matrix_transpose kg::linalg::diagonal kg::linalg::trace",
                                    parts_of_a_matrix};

void products_of_vectors() {
  const tensor v({1, 0, 2}), w({0, 1, 3});
  std::cout << kg::linalg::vecdot(v, w) << "\n"
            << kg::linalg::cross(v, w) << "\n"
            << kg::linalg::outer(v, w) << "\n"
            << kg::linalg::kron(v, tensor({1, 10})) << "\n";
}
const example for_products_of_vectors{"kg::linalg::vecdot kg::linalg::cross kg::linalg::outer kg::linalg::kron",
                                      products_of_vectors};

void products_of_many() {
  const tensor x = kg::ones({2, 3, 4}), m = kg::ones({4, 5});
  std::cout << kg::to_string(kg::linalg::tensordot(x, m, {2}, {0}).dims()) << "\n"
            << kg::linalg::multi_dot({kg::ones({3}), kg::ones({3, 4}), m}) << "\n"
            << kg::linalg::matmul(kg::ones({3, 4}), m) << "\n";
}
const example for_products_of_many{"kg::linalg::tensordot kg::linalg::multi_dot kg::linalg::matmul", products_of_many};

// Second differences along a chain with fixed ends: a matrix that is never made.
tensor differences(const tensor& x) { return -kg::diff(kg::pad(x, {{1, 1}}), 2); }

void a_chain_of_springs() {
  const tensor force({0.0, 1.0, 0.0, 0.0});
  const kg::linalg::preconditioner_function half = [](const tensor& x) { return x * 0.5; };
  std::cout << kg::linalg::cg(differences)(force) << "\n"
            << kg::linalg::cg(differences, {.preconditioner = half})(force) << "\n";
}
const example for_a_chain_of_springs{"kg::linalg::cg kg::linalg::preconditioner_function", a_chain_of_springs};

void a_chain_in_a_wind() {
  const auto solve = kg::linalg::gmres(
      [](const tensor& x, const tensor& wind) { return differences(x) + wind * kg::diff(kg::pad(x, {{1, 0}})); });
  const tensor force({0.0, 1.0, 0.0, 0.0}), wind(1.0);
  std::cout << solve(force, wind) << "\n"
            << kg::grad([&](const tensor& w) { return kg::sum(solve(force, w)); })(wind) << "\n";
}
const example for_a_chain_in_a_wind{"kg::linalg::gmres", a_chain_in_a_wind};

void lowest_tones_of_a_chain() {
  const auto [values, vectors] =
      kg::linalg::eigsh(differences, {.k = 2, .smallest = true})(kg::zeros({5}, kg::dtype::float64));
  std::cout << values << "\n" << kg::to_string(vectors.dims()) << "\n";
}
const example for_lowest_tones_of_a_chain{"kg::linalg::eigsh", lowest_tones_of_a_chain};

}  // namespace
