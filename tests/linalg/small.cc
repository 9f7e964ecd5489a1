// SPDX-License-Identifier: Apache-2.0
// Stacks of small matrices, which have kernels of their own: one matrix per vector lane.
#include <algorithm>
#include <vector>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

// Counts around multiples of 2, 4, 8 and 16 lanes, from the least that the kernels take.
constexpr std::int64_t counts[] = {8, 9, 15, 16, 17, 37};
constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 16};

tensor one_of(const tensor& stack, std::int64_t i) { return stack(i); }

TEST(small_matrices, have_cholesky_factors_whose_product_is_the_matrix) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : sizes)
      for (std::int64_t count : counts) {
        const tensor a = definite({count, n, n}, 1, type), factor = la::cholesky(a);
        EXPECT_LT(units_apart(kg::cast(product(factor, kg::swapaxes(factor, -1, -2)), type), a), 8)
            << n << " of " << count;
        expect_near(kg::triu(factor, 1), kg::zeros_like(a), 0);
      }
}

TEST(small_matrices, have_solutions_inverses_and_determinants_as_near_as_the_condition_allows) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : sizes) {
      const tensor a = regular({17, n, n}, 3, type), b = uniform({17, n, 2}, 9, type);
      const tensor x = la::solve(a, b), inverse = la::inv(a), det = la::det(a);
      for (std::int64_t i = 0; i < 17; ++i) {
        const oracle::dense m = oracle::from(one_of(a, i)), right = oracle::from(one_of(b, i));
        const oracle::dense wanted = oracle::solution(m, right), wanted_inverse = oracle::inverse(m);
        const double bound = static_cast<double>(n + 2) * unit(type) * oracle::condition(one_of(a, i));
        const oracle::dense got = oracle::from(one_of(x, i)), got_inverse = oracle::from(one_of(inverse, i));
        for (std::size_t k = 0; k < got.at.size(); ++k)
          EXPECT_NEAR(got.at[k], wanted.at[k], bound * oracle::norm(wanted)) << n;
        for (std::size_t k = 0; k < got_inverse.at.size(); ++k)
          EXPECT_NEAR(got_inverse.at[k], wanted_inverse.at[k], bound * oracle::norm(wanted_inverse)) << n;
        if (n > 6) continue;  // the expansion of larger ones takes too long
        const double wanted_det = static_cast<double>(oracle::determinant(m));
        EXPECT_NEAR(det(i).item(), wanted_det, bound * std::fabs(wanted_det)) << n;
      }
    }
}

TEST(small_matrices, share_a_matrix_or_a_right_side_and_solve_transposed_systems_too) {
  const tensor a = regular({9, 4, 4}), b = uniform({9, 4, 3}, 2), shared = regular({4, 4}, 3), v = uniform({4}, 4);
  for (std::int64_t i = 0; i < 9; ++i) {
    expect_near(la::solve(a, v)(i), la::solve(one_of(a, i), v), 1e-13);
    expect_near(la::solve(shared, b)(i), la::solve(shared, one_of(b, i)), 1e-13);
    expect_near(la::solve(kg::reshape(a, {9, 1, 4, 4}), b)(i, 8), la::solve(one_of(a, i), one_of(b, 8)), 1e-13);
  }
  const auto f = [](std::span<const tensor> in) { return la::solve(in[0], in[1]); };
  check_gradients("solve", f, {regular({8, 2, 2}), uniform({8, 2, 1}, 2)});
}

TEST(small_matrices, have_eigenvalues_in_order_and_vectors_that_make_up_the_matrix) {
  for (kg::dtype type : both_floats)
    for (std::int64_t n : sizes)
      for (double size : {1.0, 1e-18, 1e18}) {
        const tensor a = mirrored(uniform({19, n, n}, 4, type)) * size;
        const auto [w, v] = la::eigh(a);
        const tensor turned = kg::swapaxes(v, -1, -2), one = kg::eye(n, n, 0, kg::dtype::float64);
        EXPECT_LT(units_apart(kg::cast(product(v * kg::expand_dims(w, -2), turned), type), a), 20) << n;
        EXPECT_LT(largest(product(turned, v) - one), 40 * static_cast<double>(n) * unit(type)) << n;
        expect_near(kg::sort(w, -1), w, 0);
        EXPECT_LT(units_apart(la::eigvalsh(a), w), 8) << n;
        for (std::int64_t i = 0; i < 19; i += 6) EXPECT_LT(units_apart(la::eigvalsh(one_of(a, i)), w(i)), 20) << n;
      }
}

TEST(small_matrices, with_equal_or_no_eigenvalues_converge) {
  const tensor a = kg::stack({kg::eye(3), kg::zeros({3, 3}), kg::ones({3, 3}), kg::diag(tensor({3.f, 1.f, 2.f})),
                              kg::eye(3) * 1e-30, kg::eye(3) * 1e30, kg::ones({3, 3}) * 1e-40, kg::eye(3)});
  const tensor w = la::eigh(a).eigenvalues;
  expect_values(w(0), {1, 1, 1});
  expect_values(w(1), {0, 0, 0});
  expect_values(w(2), {0, 0, 3}, 1e-6);
  expect_values(w(3), {1, 2, 3});
  expect_values(la::eigvalsh(a)(5), {1e30f, 1e30f, 1e30f}, 1e-6);
}

TEST(small_matrices, name_the_first_singular_one_and_its_pivot) {
  for (std::int64_t n : {3, 9}) {
    tensor all = kg::broadcast_to(kg::eye(n), {12, n, n});
    const tensor diagonal = kg::cast(kg::arange(0, static_cast<double>(n)) != 2, kg::dtype::float32);
    all = kg::concat({all(kg::range(0, 10)), kg::expand_dims(kg::diag(diagonal), 0), all(kg::range(0, 1))}, 0);
    for (const auto& [name, f] :
         {std::pair<std::string, std::function<tensor()>>("solve", [&] { return la::solve(all, kg::ones({n})); }),
          {"inv", [&] { return la::inv(all); }}})
      expect_refused(f, {"[kg::linalg::" + name + "] got a singular matrix at batch index [10]: pivot 2 is zero"});
    expect_refused([&] { return la::cholesky(all); }, {"at batch index [10]: pivot 2 is not positive"});
    EXPECT_TRUE(std::isnan(la::inv(all, {.check = false})(10, 0, 0).item()));
    EXPECT_TRUE(std::isnan(la::cholesky(all, {.check = false})(10, 0, 0).item()));
    EXPECT_TRUE(std::isnan(la::solve(all, kg::ones({n}), {.check = false})(10, 0).item()));
    expect_near(la::inv(all, {.check = false})(11), kg::eye(n), 0);
    expect_values(la::det(all), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1});
  }
}

TEST(small_matrices, have_the_same_results_on_every_cpu_target_up_to_rounding) {
  const tensor a = definite({17, 5, 5}, 1), b = uniform({17, 5, 3}, 2);
  const auto results = [&] {
    return std::vector{la::cholesky(a), la::solve(a, b), la::inv(a), la::det(a), la::eigvalsh(a)};
  };
  const std::vector<tensor> wanted = results();
  for (const auto& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    const std::vector<tensor> got = results();
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_near(got[i], wanted[i], 1e-12);
  }
  kg::set_simd_target("");
}

// Eight times the same matrix.
tensor eight(const tensor& a) { return kg::broadcast_to(a, {8, a.dims()[0], a.dims()[1]}); }
tensor diagonal(const doubles& values, kg::dtype type) { return kg::cast(kg::diag(tensor(values)), type); }

struct extreme_matrix {
  kg::dtype type;
  doubles diagonal, inverse;
  double determinant;
};
const extreme_matrix extreme_matrices[] = {
    {kg::dtype::float32, {1e25, 1e25, 2e-38}, {1e-25, 1e-25, 5e37}, 2e12},
    {kg::dtype::float32, {1e-25, 1e-25, 1e30}, {1e25, 1e25, 1e-30}, 1e-20},
    {kg::dtype::float32, {1e-20, 1e-20, 1e20, 1e20}, {1e20, 1e20, 1e-20, 1e-20}, 1},
    {kg::dtype::float32, {1e20, 1e-20}, {1e-20, 1e20}, 1},
    {kg::dtype::float64, {1e200, 1e200, 1e-300}, {1e-200, 1e-200, 1e300}, 1e100},
    {kg::dtype::float64, {1e200, 1e200, 1e-200, 1e-200}, {1e-200, 1e-200, 1e200, 1e200}, 1},
    {kg::dtype::float64, {1e-162, 1e-162, 1e152, 1e152}, {1e162, 1e162, 1e-152, 1e-152}, 1e-20},
    {kg::dtype::float64, {1e-160, 1e-160, 1e152, 1e152, 1}, {1e160, 1e160, 1e-152, 1e-152, 1}, 1e-16},
};

TEST(small_matrices, with_products_beyond_the_range_have_inverses_and_determinants_inside_of_it) {
  for (const extreme_matrix& of : extreme_matrices) {
    const tensor a = eight(diagonal(of.diagonal, of.type));
    const double rounding = 8 * unit(of.type);
    for (const double det : la::det(a).to_doubles()) EXPECT_NEAR(det / of.determinant, 1, rounding);
    EXPECT_NEAR(la::det(a(0)).item() / of.determinant, 1, rounding) << "one alone";
    const tensor inverse = la::inv(a)(3), elements = la::diagonal(inverse);
    for (std::size_t i = 0; i < of.inverse.size(); ++i)
      EXPECT_NEAR(elements(static_cast<std::int64_t>(i)).item() / of.inverse[i], 1, rounding) << of.inverse[i];
    EXPECT_EQ(kg::count_nonzero(inverse).item(), static_cast<double>(of.inverse.size()));
  }
}

TEST(det, counts_products_of_minors_that_underflow) {
  const tensor a({1e-162, 0.0, 0.0, 1e-5, 0.0, 1e-162, 0.0, 0.0, 0.0, 0.0, 1e152, 0.0, 1e-5, 0.0, 0.0, 2e152}, {4, 4});
  EXPECT_NEAR(la::det(a).item(), 1e-20, 1e-34);
  for (const double det : la::det(eight(a)).to_doubles()) EXPECT_NEAR(det, 1e-20, 1e-34);
}

TEST(small_matrices, with_denormal_pivots_are_solved_and_inverted) {
  for (kg::dtype type : both_floats) {
    const bool single = type == kg::dtype::float32;
    const double tiny = single ? 0x1p-140 : 0x1p-1060, border = single ? 0x1p-128 : 0x1p-1024;
    for (std::int64_t n : {2, 3, 4, 5, 8, 16}) {
      doubles values(static_cast<std::size_t>(n), 1), wanted(values);
      values[0] = tiny, wanted[0] = 3;
      const tensor a = eight(diagonal(values, type)), b = kg::cast(tensor(values) * tensor(wanted), type);
      expect_values(la::solve(a, b)(5), wanted, 0);
      // [[p, p], [-p, p]] has an inverse in the range, and 1 / p is not.
      const tensor turn = kg::eye(n, n, 0, kg::dtype::float64)
                              .at(kg::range(0, 2), kg::range(0, 2))
                              .set(tensor{{border, border}, {-border, border}});
      const tensor turned = kg::cast(la::inv(eight(kg::cast(turn, type)))(7), kg::dtype::float64);
      const double half = 0.5 / border;
      expect_near(turned(kg::range(0, 2), kg::range(0, 2)), tensor{{half, -half}, {half, half}}, 0);
    }
  }
}

TEST(small_matrices, with_nan_give_nan_and_leave_their_neighbors_alone) {
  const tensor good = definite({9, 3, 3}, 1);
  const tensor bad = kg::concat(
      {good(kg::range(0, 4)), kg::full({1, 3, 3}, not_a_number, kg::dtype::float64), good(kg::range(5, 9))}, 0);
  const std::pair<std::string, std::function<tensor(const tensor&)>> functions[] = {
      {"cholesky", [](const tensor& x) { return la::cholesky(x); }},
      {"inv", [](const tensor& x) { return la::inv(x); }},
      {"solve", [](const tensor& x) { return la::solve(x, kg::ones({3, 1})); }},
      {"det", [](const tensor& x) { return la::det(x); }},
      {"eigvalsh", [](const tensor& x) { return la::eigvalsh(x); }},
      {"eigh", [](const tensor& x) { return la::eigh(x).eigenvectors; }}};
  for (const auto& [name, f] : functions) {
    const tensor got = f(bad), wanted = f(good);
    for (std::int64_t i = 0; i < 9; ++i) {
      if (i != 4) expect_near(got(i), wanted(i), 0);
      else EXPECT_TRUE(std::isnan(largest(got(i)))) << name;
    }
  }
}

TEST(small_matrices, have_gradients_of_both_orders) {
  check_gradients("inv", [](std::span<const tensor> in) { return la::inv(in[0]); }, {regular({8, 2, 2})});
  check_gradients("det", [](std::span<const tensor> in) { return la::det(in[0]); }, {regular({8, 2, 2})});
  check_gradients("cholesky", [](std::span<const tensor> in) { return la::cholesky(mirrored(in[0])); },
                  {definite({8, 2, 2})});
  check_gradients("eigvalsh", [](std::span<const tensor> in) { return la::eigvalsh(mirrored(in[0])); },
                  {definite({8, 2, 2})});
}

TEST(det, of_a_singular_matrix_has_the_second_derivative_of_its_expansion) {
  // The determinant of a 3x3 matrix written out, whose derivatives are exact.
  const auto expansion = [](const tensor& x) {
    return la::vecdot(x(kg::ellipsis, 0, kg::all), la::cross(x(kg::ellipsis, 1, kg::all), x(kg::ellipsis, 2, kg::all)));
  };
  const tensor rank_2({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 7.0, 9.0}, {3, 3}),
      rank_1({1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0}, {3, 3}), regular_one = regular({3, 3});
  const tensor direction = uniform({3, 3}, 8);
  const auto second = [&](const std::function<tensor(const tensor&)>& f, const tensor& at) {
    return kg::grad([&](const tensor& x) { return kg::sum(kg::grad(f)(x) * direction); })(at);
  };
  for (const tensor& a : {rank_2, rank_1, kg::zeros({3, 3}, kg::dtype::float64), regular_one}) {
    expect_near(second([](const tensor& x) { return la::det(x); }, a), second(expansion, a), 1e-12);
    const auto of_many = [](const tensor& x) { return kg::sum(la::det(kg::broadcast_to(x, {8, 3, 3}))); };
    expect_near(second(of_many, a), second(expansion, a) * 8, 1e-11);
  }
}

}  // namespace
