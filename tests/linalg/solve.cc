// SPDX-License-Identifier: Apache-2.0
// Solutions, inverses and determinants.
#include <algorithm>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

struct named_matrix {
  std::string name;
  tensor x;
};
std::vector<named_matrix> kinds(std::int64_t n, kg::dtype type) {
  const tensor nearly = matrix(n, n, [](double i, double j) { return i * 3 + j + (i == j ? 1e-4 : 0); }, type);
  return {{"random", regular({n, n}, 3, type)},  {"graded", graded(n, type)},
          {"nearly singular", nearly},           {"Hilbert", hilbert(n, type)},
          {"Vandermonde", vandermonde(n, type)}, {"defective", defective(n, type)}};
}

// ------------------------------------------------------------------------------------------ solve

TEST(solve, is_as_near_to_the_exact_solution_as_the_condition_of_the_matrix_allows) {
  for (kg::dtype type : both_floats)
    for (const auto& [name, a] : kinds(5, type)) {
      const tensor b = uniform({5, 3}, 9, type), x = la::solve(a, b);
      const oracle::dense wanted = oracle::solution(oracle::from(a), oracle::from(b));
      double off = 0, size = 0;
      for (std::size_t i = 0; i < wanted.at.size(); ++i) {
        off = std::max(off, std::fabs(x.to_doubles()[i] - static_cast<double>(wanted.at[i])));
        size = std::max(size, static_cast<double>(std::fabs(wanted.at[i])));
      }
      EXPECT_LT(off, 5 * unit(type) * oracle::condition(a) * size) << name;
    }
}

TEST(solve, leaves_a_residual_of_a_few_rounding_errors_however_ill_the_matrix) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : {1, 2, 8, 40})
      for (const auto& [name, a] : kinds(n, type))
        for (std::int64_t columns : {1, 4}) {
          const tensor b = uniform({n, columns}, 9, type), x = la::solve(a, b, {.check = false});
          const double residual = largest(product(a, x) - kg::cast(b, kg::dtype::float64));
          if (std::isnan(residual)) continue;  // the nearly singular one is singular in float32
          EXPECT_LT(residual, 10 * static_cast<double>(n) * unit(type) * (largest(a) * largest(x) + 1)) << name << n;
        }
}

TEST(solve, broadcasts_batch_axes_and_takes_a_vector_of_rank_1_alone) {
  const tensor a = regular({5, 1, 3, 3}), b = uniform({2, 3, 2});
  const tensor x = la::solve(a, b);
  EXPECT_EQ(x.dims(), (kg::shape{5, 2, 3, 2}));
  EXPECT_LT(largest(product(a, x) - b), 1e-13);
  const tensor v = la::solve(a, tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(v.dims(), (kg::shape{5, 1, 3}));
  EXPECT_EQ(la::solve(regular({3, 3}), kg::ones({3})).type(), kg::dtype::float64) << "the common dtype";
}

TEST(solve, names_a_singular_matrix_and_its_pivot) {
  const tensor a = kg::stack({kg::eye(3), kg::eye(3), kg::eye(3), kg::diag(tensor({1.f, 2.f, 0.f}))});
  expect_refused([&] { return la::solve(a, kg::ones({3})); },
                 {"[kg::linalg::solve] got a singular matrix at batch index [3]: pivot 2 is zero"});
  const tensor x = la::solve(a, kg::ones({3}), {.check = false});
  expect_values(x(3), doubles(3, not_a_number));
  expect_values(x(0), {1, 1, 1});
}

TEST(solve, of_nan_is_nan_and_leaves_other_matrices_right) {
  const tensor a = kg::stack({kg::full({3, 3}, not_a_number), kg::eye(3)});
  const tensor x = la::solve(a, kg::ones({3, 2}));
  expect_values(x(0), doubles(6, not_a_number));
  expect_values(x(1), doubles(6, 1));
  expect_values(la::solve(kg::eye(2), tensor({not_a_number, 1.0}))(0), {not_a_number});
}

TEST(solve, of_nothing_is_empty) {
  EXPECT_EQ(la::solve(kg::zeros({0, 3, 3}), kg::zeros({0, 3, 2})).dims(), (kg::shape{0, 3, 2}));
  EXPECT_EQ(la::solve(kg::zeros({2, 0, 0}), kg::zeros({2, 0, 4})).dims(), (kg::shape{2, 0, 4}));
  EXPECT_EQ(la::solve(kg::eye(3), kg::zeros({3, 0})).dims(), (kg::shape{3, 0}));
}

TEST(solve, rejects_systems_that_do_not_fit) {
  expect_refused([] { return la::solve(kg::ones({2, 3}), kg::ones({2})); },
                 {"[kg::linalg::solve]", "operand a", "square"});
  expect_refused([] { return la::solve(kg::eye(3), kg::ones({2})); },
                 {"[kg::linalg::solve]", "operand b of shape [2]"});
  expect_refused([] { return la::solve(kg::eye(3), tensor({"a", "b", "c"})); }, {"[kg::linalg::solve]", "text"});
  const tensor wide = kg::zeros({0, 3, std::int64_t{1} << 32});
  expect_refused([&] { return la::solve(kg::eye(3), wide); }, {"[kg::linalg::solve]", "operand b", "2^31 - 1"});
}

TEST(solve, has_gradients_of_both_orders_in_both_operands) {
  const auto f = [](std::span<const tensor> in) { return la::solve(in[0], in[1]); };
  check_gradients("solve", f, {regular({3, 3}), uniform({3, 2}, 2)});
  check_gradients("solve of a vector", f, {regular({2, 3, 3}), uniform({3}, 2)});
  check_gradients("solve of a stack", f, {regular({3, 3}), uniform({2, 3, 2}, 2)});
}

TEST(solve, with_a_symmetric_matrix_built_from_a_parameter_has_a_symmetric_gradient) {
  const tensor b = uniform({4, 2}, 5);
  const tensor g =
      kg::grad([&](const tensor& x) { return kg::sum(kg::square(la::solve(mirrored(x), b))); })(definite({4, 4}));
  expect_near(g, kg::transpose(g), 1e-14);
}

// ------------------------------------------------------------------------------------------ inv

TEST(inv, times_the_matrix_is_the_identity_on_both_sides) {
  for (kg::dtype type : both_floats)
    for (const auto& [name, a] : kinds(5, type)) {
      const tensor inverse = la::inv(a), one = kg::eye(5, 5, 0, kg::dtype::float64);
      const double bound = 10 * 5 * unit(type) * oracle::condition(a);
      EXPECT_LT(largest(product(a, inverse) - one), bound) << name;
      EXPECT_LT(largest(product(inverse, a) - one), bound) << name;
    }
}

TEST(inv, names_a_singular_matrix_and_gives_nan_without_checks) {
  const tensor a = kg::stack({kg::zeros({2, 2}), kg::eye(2)});
  expect_refused([&] { return la::inv(a); },
                 {"[kg::linalg::inv] got a singular matrix at batch index [0]: pivot 0 is zero"});
  expect_values(la::inv(a, {.check = false}), {not_a_number, not_a_number, not_a_number, not_a_number, 1, 0, 0, 1});
  EXPECT_EQ(la::inv(kg::zeros({0, 0})).dims(), (kg::shape{0, 0}));
}

TEST(inv, has_gradients_of_both_orders) {
  check_gradients("inv", [](std::span<const tensor> in) { return la::inv(in[0]); }, {regular({2, 3, 3})});
}

// ------------------------------------------------------------------------------------------ det, slogdet

TEST(det, is_the_expansion_along_a_row) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : {1, 2, 3, 5})
      for (const auto& [name, a] : kinds(n, type)) {
        const double wanted = static_cast<double>(oracle::determinant(oracle::from(a)));
        const double growth = std::pow(oracle::norm(oracle::from(a)), static_cast<double>(n));
        EXPECT_NEAR(la::det(a).item(), wanted, 10 * static_cast<double>(n) * unit(type) * growth) << name << n;
      }
}

TEST(det, of_a_product_is_the_product_and_of_a_transpose_the_same) {
  const tensor a = regular({4, 6, 6}, 1), b = regular({4, 6, 6}, 2);
  expect_near(la::det(kg::matmul(a, b)), la::det(a) * la::det(b), 1e-11);
  expect_near(la::det(kg::swapaxes(a, -1, -2)), la::det(a), 1e-12);
}

TEST(det, of_a_singular_matrix_is_zero_and_of_no_elements_one) {
  EXPECT_EQ(la::det(tensor({1.0, 2.0, 2.0, 4.0}, {2, 2})).item(), 0);
  expect_values(la::det(kg::zeros({2, 0, 0})), {1, 1});
  EXPECT_EQ(la::det(kg::zeros({0, 2, 2})).dims(), kg::shape{0});
  EXPECT_TRUE(std::isnan(la::det(kg::full({2, 2}, not_a_number)).item()));
  EXPECT_EQ(la::det(tensor({0, 1, 1, 0}, {2, 2})).item(), -1);
}

TEST(slogdet, is_the_sign_and_the_logarithm_where_the_determinant_overflows) {
  const tensor a = regular({3, 5, 5});
  const auto [sign, logabsdet] = la::slogdet(a);
  expect_near(sign * kg::exp(logabsdet), la::det(a), 1e-12);
  const tensor huge = kg::eye(500) * 1e10;
  EXPECT_NEAR(la::slogdet(huge).logabsdet.item(), 5000 * std::log(10.0), 1e-3);
  const auto [no_sign, no_logarithm] = la::slogdet(kg::zeros({2, 2}));
  EXPECT_EQ(no_sign.item(), 0);
  EXPECT_EQ(no_logarithm.item(), -std::numeric_limits<double>::infinity());
  const auto [one, nothing] = la::slogdet(kg::zeros({0, 0}));
  EXPECT_EQ(one.item(), 1);
  EXPECT_EQ(nothing.item(), 0);
}

TEST(determinants, have_gradients_of_both_orders) {
  check_gradients("det", [](std::span<const tensor> in) { return la::det(in[0]); }, {regular({2, 3, 3})});
  check_gradients("slogdet", [](std::span<const tensor> in) { return la::slogdet(in[0]).logabsdet; },
                  {regular({2, 3, 3})});
}

TEST(det, of_a_singular_matrix_has_its_cofactors_for_gradient) {
  const tensor rank_2({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 7.0, 9.0}, {3, 3}), regular_one = regular({3, 3});
  for (const tensor& a :
       {rank_2, kg::zeros({3, 3}, kg::dtype::float64), kg::diag(tensor({2.0, 0.0, 3.0})), regular_one}) {
    const tensor g = kg::grad([](const tensor& x) { return kg::sum(la::det(kg::stack({x, x * 2}))); })(a);
    doubles wanted;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        oracle::dense minor{2, 2, {}};
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t c = 0; c < 3; ++c)
            if (r != i && c != j) minor.at.push_back(oracle::from(a)(r, c));
        const oracle::wide cofactor = (i + j) % 2 ? -oracle::determinant(minor) : oracle::determinant(minor);
        wanted.push_back(static_cast<double>(cofactor) * 9);
      }
    expect_values(g, wanted, 1e-12);
  }
}

// ------------------------------------------------------------------------------------------ threads

TEST(solutions, are_bitwise_the_same_for_one_thread_of_kerngrad_and_for_two) {
  const tensor a = definite({3, 70, 70}), b = uniform({70, 20}, 2);
  const auto all = [&] {
    return kg::tensor_list{la::cholesky(a), la::solve(a, b), la::inv(a), la::det(a),
                           kg::grad([&](const tensor& x) { return kg::sum(la::solve(x, b)); })(a)};
  };
  const kg::tensor_list one = all();
  kg::set_num_threads(2);
  const kg::tensor_list both = all();
  kg::set_num_threads(1);
  for (int i = 0; i < one.size(); ++i) expect_near(both[i], one[i], 0);
}

}  // namespace
