// SPDX-License-Identifier: Apache-2.0
// Covariances, integrals and derivatives of samples, and curves through points, against loops over the elements.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TEST(average, weighs_the_elements) {
  const tensor x({1., 2., 3., 4.}, {2, 2}), w({1., 3.});
  expect_values(kg::average(x, w, 1), {2}, {7 / 4., 15 / 4.});
  expect_values(kg::average(x, w, 0, true), {1, 2}, {10 / 4., 14 / 4.});
  expect_values(kg::average(x, tensor({1., 0., 0., 3.}, {2, 2})), {}, {13 / 4.});
  EXPECT_EQ(kg::average(tensor({1, 2}), tensor({1, 1})).type(), kg::dtype::float64);
  expect_values(kg::average(tensor({1., 1.}), tensor({1., -1.})), {}, {nan});
  check_gradients("average", [](auto in) { return kg::average(in[0], in[1], 1); },
                  {uniform({2, 3}, 1), uniform({3}, 2, 1, 2)});
  expect_refused("average", [&] { return kg::average(x, tensor({1., 2., 3.}), 1); }, {"weights"});
  expect_refused("average", [&] { return kg::average(x, w); }, {"weights"});
}

TEST(var, and_std_are_names_of_variance_and_standard_deviation) {
  const tensor x({1., 2., 6.});
  expect_values(kg::var(x, 0, false, 1), {}, {7});
  expect_values(kg::std(x, 0, true, 1), {1}, {std::sqrt(7)});
}

// The covariances of rows by the definition, each observation as often as `often` says and with weight `much`.
doubles covariances(const std::vector<doubles>& rows, const doubles& often, const doubles& much, double ddof) {
  double total = 0, squares = 0;
  for (std::size_t k = 0; k < often.size(); ++k) total += often[k] * much[k], squares += often[k] * much[k] * much[k];
  const auto mean = [&](const doubles& row) {
    double sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k) sum += often[k] * much[k] * row[k];
    return sum / total;
  };
  doubles y;
  for (const doubles& p : rows)
    for (const doubles& q : rows) {
      double sum = 0;
      for (std::size_t k = 0; k < p.size(); ++k) sum += often[k] * much[k] * (p[k] - mean(p)) * (q[k] - mean(q));
      y.push_back(sum / (total - ddof * squares / total));
    }
  return y;
}

TEST(cov, follows_the_definition_with_and_without_weights) {
  const std::vector<doubles> rows{{1, 2, 4, 3}, {2, 0, 1, 5}};
  const tensor x = kg::stack({tensor(rows[0]), tensor(rows[1])}), even = kg::ones({4}, kg::dtype::float64);
  const doubles ones{1, 1, 1, 1}, often{1, 2, 3, 1}, much{0.5, 1, 0.25, 2};
  expect_values(kg::cov(x), {2, 2}, covariances(rows, ones, ones, 1));
  expect_values(kg::cov(x, {.bias = true}), {2, 2}, covariances(rows, ones, ones, 0));
  expect_values(kg::cov(kg::transpose(x), {.rowvar = false, .ddof = 0}), {2, 2}, covariances(rows, ones, ones, 0));
  expect_values(kg::cov(tensor(rows[0]), {.y = tensor(rows[1])}), {2, 2}, covariances(rows, ones, ones, 1));
  expect_values(kg::cov(x, {.aweights = tensor(much)}), {2, 2}, covariances(rows, ones, much, 1));
  expect_values(kg::cov(x, {.fweights = even, .aweights = tensor(much)}), {2, 2}, covariances(rows, ones, much, 1));
  // Counts are observations of their own.
  std::vector<doubles> repeated(2);
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t k = 0; k < 4; ++k)
      for (int i = 0; i < often[k]; ++i) repeated[row].push_back(rows[row][k]);
  const doubles seven(7, 1.0);
  expect_values(kg::cov(x, {.fweights = tensor(often)}), {2, 2}, covariances(repeated, seven, seven, 1));
  expect_values(kg::cov(tensor(rows[0])), {}, {5 / 3.});
  expect_values(kg::cov(tensor({3.})), {}, {nan});
  EXPECT_EQ(kg::cov(tensor({1, 2})).type(), kg::dtype::float64);
  check_gradients("cov", [](auto in) { return kg::cov(in[0]); }, {uniform({2, 4}, 1)});
  expect_refused("cov", [&] { return kg::cov(kg::zeros({2, 2, 2})); }, {"operand x"});
  expect_refused("cov", [&] { return kg::cov(x, {.fweights = tensor({1., 2.})}); }, {"fweights", "4 observations"});
}

TEST(corrcoef, divides_by_both_deviations) {
  const tensor x({1., 2., 4., 3., 2., 0., 1., 5.}, {2, 4});
  const doubles c = kg::cov(x).to_doubles();
  const double r = c[1] / std::sqrt(c[0] * c[3]);
  expect_values(kg::corrcoef(x), {2, 2}, {1, r, r, 1});
  expect_values(kg::corrcoef(tensor({1., 2., 3.})), {}, {1});
  expect_values(kg::corrcoef(tensor({1., 2., 3.}), {.y = tensor({3., 2., 1.})}), {2, 2}, {1, -1, -1, 1});
}

TEST(cov, keeps_digits_of_small_numbers_and_has_sums_of_large_ones) {
  // 4^8 observations: a factor of 2^-8 in both rows would leave products of small numbers three bits.
  constexpr std::int64_t count = 1 << 16;
  const tensor signs = kg::cast(kg::arange(count) % 2 * 2 - 1, kg::dtype::float32), x = signs * 1.1;
  const double wanted = 1.21 * count / (count - 1);
  for (const double size : {0x1p-65, 0x1p-60, 1.0, 0x1p61, 0x1p62})
    EXPECT_NEAR(kg::cov(x * size).item() / (size * size) / wanted, 1, 1e-4) << size;
  // A row whose sums overflow leaves another one its digits.
  const doubles both = kg::cov(kg::stack({x * 0x1p62, x * 0x1p-65})).to_doubles();
  EXPECT_NEAR(both[0] / 0x1p124 / wanted, 1, 1e-4);
  EXPECT_NEAR(both[3] / 0x1p-130 / wanted, 1, 1e-4);
  expect_values(kg::corrcoef(x * 0x1p-65, {.y = x}), {2, 2}, {1, 1, 1, 1}, 1e-6);
  // The size of weights cancels.
  const tensor few({1e-10f, 3e-10f, -1e-10f}), w({1.f, 2.f, 1.f});
  const double weighted = kg::cov(few, {.aweights = w}).item();
  for (const double size : {0x1p-100, 0x1p-120, 0x1p100})
    EXPECT_NEAR(kg::cov(few, {.aweights = w * size}).item() / weighted, 1, 1e-6) << size;
}

TEST(trapezoid, adds_up_areas_between_samples) {
  const tensor y({1., 2., 4., 8.}), x({0., 1., 3., 4.});
  expect_values(kg::trapezoid(y), {}, {1.5 + 3 + 6});
  expect_values(kg::trapezoid(y, 0.5), {}, {5.25});
  expect_values(kg::trapezoid(y, x), {}, {1.5 + 2 * 3 + 6});
  expect_values(kg::cumulative_trapezoid(y, x), {3}, {1.5, 7.5, 13.5});
  const tensor table = kg::stack({y, y * 2});
  expect_values(kg::trapezoid(table, tensor({0., 2.}), 0), {4}, {3, 6, 12, 24});
  expect_values(kg::trapezoid(table, x), {2}, {13.5, 27});
  expect_values(kg::trapezoid(table, kg::stack({x, x})), {2}, {13.5, 27});
  expect_values(kg::trapezoid(tensor({5})), {}, {0});
  EXPECT_EQ(kg::cumulative_trapezoid(kg::zeros({0})).dims(), kg::shape{0});
  check_gradients("trapezoid", [](auto in) { return kg::trapezoid(in[0], in[1]); },
                  {uniform({2, 4}, 1), uniform({4}, 2)});
  expect_refused("trapezoid", [&] { return kg::trapezoid(y, tensor({0., 1.})); }, {"operand x"});
  expect_refused("trapezoid", [] { return kg::trapezoid(tensor(1.)); }, {"operand y"});
}

TEST(gradient, is_exact_for_polynomials) {
  const doubles at{0, 1, 3, 4, 6.5};
  doubles line, parabola, slopes;
  for (const double t : at) line.push_back(3 * t - 1), parabola.push_back(t * t + t), slopes.push_back(2 * t + 1);
  expect_values(kg::gradient(tensor(line), tensor(at)), {5}, {3, 3, 3, 3, 3});
  expect_values(kg::gradient(tensor(parabola), tensor(at), 0, 2), {5}, slopes);
  expect_values(kg::gradient(tensor({1., 2., 4.})), {3}, {1, 1.5, 2});
  expect_values(kg::gradient(tensor({1., 2., 4.}), 0.5, -1, 2), {3}, {1, 3, 5});
  expect_values(kg::gradient(tensor({1., 2., 4., 8.}, {2, 2}), 1, 0), {2, 2}, {3, 6, 3, 6});
  EXPECT_EQ(kg::gradient(tensor({1, 2, 4})).type(), kg::dtype::float64);
  check_gradients("gradient", [](auto in) { return kg::gradient(in[0], 2, 1, 2); }, {uniform({2, 4}, 1)});
  expect_refused("gradient", [] { return kg::gradient(tensor({1.})); }, {"2 samples"});
  expect_refused("gradient", [] { return kg::gradient(tensor({1., 2., 3.}), 1, 0, 3); }, {"edge_order 3"});
}

TEST(interp, follows_the_polygon) {
  const tensor xp({0., 1., 3.}), fp({2., 4., 0.});
  expect_values(kg::interp(tensor({-1., 0., 0.25, 1., 2., 3., 5., nan}), xp, fp), {8}, {2, 2, 2.5, 4, 2, 0, 0, nan});
  expect_values(kg::interp(tensor({-1., 5.}, {2, 1}), xp, fp, {.left = -7, .right = inf}), {2, 1}, {-7, inf});
  expect_values(kg::interp(tensor({-1., 0., 1.}), tensor({0.}), tensor({3.})), {3}, {3, 3, 3});
  check_gradients("interp", [](auto in) { return kg::interp(in[0], in[1], in[2]); },
                  {tensor({0.25, 1.5, 2.75}), xp, fp});
  expect_refused("interp", [&] { return kg::interp(xp, xp, tensor({1., 2.})); }, {"one shape"});
  expect_refused("interp", [&] { return kg::interp(xp, kg::zeros({0}), kg::zeros({0})); }, {"one point"});
}

TEST(polyfit, finds_the_polynomial_that_made_the_samples) {
  const doubles p{0.5, -2, 3};
  const tensor x({-1., 0., 1., 2.5, 4.}), y = kg::polyval(tensor(p), x);
  expect_values(y, {5}, {5.5, 3, 1.5, 0.5 * 6.25 - 5 + 3, 3});
  expect_values(kg::polyfit(x, y, 2), {3}, p, 1e-12);
  expect_values(kg::polyfit(x * 1e6, y, 2), {3}, {0.5e-12, -2e-6, 3}, 1e-12);
  // The line of least squares, by its normal equations; a weight of 0 takes a sample away.
  expect_values(kg::polyfit(tensor({0., 1., 2.}), tensor({0., 2., 1.}), 1), {2}, {0.5, 0.5});
  expect_values(kg::polyfit(tensor({0., 1., 2.}), tensor({0., 2., 1.}), 1, tensor({1., 1., 0.})), {2}, {2, 0});
  expect_values(kg::polyfit(tensor({0, 1}), tensor({4, 6}), 0), {1}, {5});
  expect_values(kg::polyval(kg::zeros({0}), tensor({1.f})), {1}, {0});
  expect_values(kg::polyval(tensor({1, 2}), tensor({3, 4})), {2}, {5, 6});
  check_gradients("polyfit", [](auto in) { return kg::polyfit(in[0], in[1], 1); }, {uniform({4}, 1), uniform({4}, 2)});
  expect_refused("polyfit", [&] { return kg::polyfit(x, y, 5); }, {"degree 5", "5 samples"});
}

TEST(polyval, and_interp_take_numbers) {
  expect_values(kg::polyval(tensor({1., 0., 2.}), 3.0), {}, {11});
  EXPECT_EQ(kg::polyval(tensor({1.f, 2.f}), 0.5).type(), kg::dtype::float32);
  expect_values(kg::polyval(tensor({1, 2}), 3), {}, {5});
  expect_values(kg::interp(0.5, tensor({0., 1.}), tensor({2., 4.})), {}, {3});
  expect_values(kg::interp(9, tensor({0, 1}), tensor({2., 4.}), {.right = -1.}), {}, {-1});
}

TEST(polyfit, of_a_high_degree_is_as_good_as_its_values) {
  constexpr std::int64_t degree = 24;
  const tensor x = kg::linspace(-1, 1, 200, kg::dtype::float64), y = kg::cos(x * 9);
  const tensor fitted = kg::polyval(kg::polyfit(x, y, degree), x);
  EXPECT_LT(kg::max(kg::abs(fitted - y)).item(), 1e-9);
  // Far from 0, where powers of the positions are nearly parallel.
  const tensor years = kg::arange(1900, 2000, 1, kg::dtype::float64), line = (years - 1950) * 0.5 + 3;
  const tensor p = kg::polyfit(years, line, 2);
  EXPECT_LT(kg::max(kg::abs(kg::polyval(p, years) - line)).item(), 1e-8);
}

TEST(cov, of_many_variables_is_symmetric_to_the_bit) {
  for (const std::int64_t variables : {5, 33, 130}) {
    const tensor x = uniform({variables, 300}, 4), c = kg::cov(x);
    EXPECT_EQ(c.to_doubles(), kg::transpose(c).to_doubles());
    const tensor from_mean = x - kg::mean(x, 1, true), copy = from_mean + 0;
    EXPECT_EQ(c.to_doubles(), (kg::matmul(from_mean, copy, false, true) / 299).to_doubles());
    EXPECT_EQ(kg::matmul(from_mean, from_mean, true, false).to_doubles(),
              kg::matmul(from_mean, copy, true, false).to_doubles());
  }
}

}  // namespace
