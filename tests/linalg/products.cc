// SPDX-License-Identifier: Apache-2.0
// Norms, functions of matrices, and products.
#include <algorithm>

#include "tests/linalg/oracle.h"
#include "tests/linalg/support.h"

namespace {

using namespace kgtest;

constexpr double inf = std::numeric_limits<double>::infinity();

// ------------------------------------------------------------------------------------------ norms

TEST(vector_norm, is_the_root_of_the_sum_of_powers) {
  const tensor x = uniform({2, 3, 4});
  for (double p : {1.0, 2.0, 3.0, 0.5, -2.0}) {
    const tensor wanted = kg::pow(kg::sum(kg::pow(kg::abs(x), p), 1), 1 / p);
    expect_near(la::vector_norm(x, {.over = 1, .order = p}), wanted, 1e-13);
    const tensor all = kg::pow(kg::sum(kg::pow(kg::abs(x), p)), 1 / p);
    expect_near(la::vector_norm(x, {.order = p}), all, 1e-12);
    expect_near(la::vector_norm(x, {.over = {2, 0}, .keep_dims = true, .order = p}),
                kg::pow(kg::sum(kg::pow(kg::abs(x), p), {0, 2}, true), 1 / p), 1e-12);
  }
  expect_near(la::vector_norm(x, {.over = -1, .order = inf}), kg::max(kg::abs(x), -1), 0);
  expect_near(la::vector_norm(x, {.over = -1, .order = -inf}), kg::min(kg::abs(x), -1), 0);
  expect_values(la::vector_norm(tensor({0.0, 3.0, -1.0}), {.order = 0}), {2});
}

TEST(vector_norm, stays_in_range_and_takes_nothing_and_zeros) {
  expect_values(la::vector_norm(tensor({3e200, 4e200}), {.order = 3}), {std::cbrt(91.0) * 1e200});
  expect_values(la::vector_norm(tensor({3e200, 4e200})), {5e200});
  expect_values(la::vector_norm(kg::zeros({3}), {.order = 3}), {0});
  expect_values(la::vector_norm(kg::zeros({2, 0}), {.over = 1, .order = 3}), {0, 0});
  expect_values(la::vector_norm(tensor({inf, 1.0}), {.order = 3}), {inf});
  expect_values(la::vector_norm(tensor({3, 4})), {5});
  expect_refused([] { return la::vector_norm(kg::ones({2}), {.over = 1}); }, {"[kg::linalg::vector_norm]", "axis 1"});
  expect_refused([] { return la::vector_norm(kg::ones({2, 2}), {.over = {0, -2}}); },
                 {"[kg::linalg::vector_norm]", "twice"});
  expect_refused([] { return la::vector_norm(kg::ones({2}), {.order = "fro"}); },
                 {"[kg::linalg::vector_norm]", "\"fro\""});
}

TEST(matrix_norm, of_every_order_is_what_its_definition_says) {
  const tensor x = uniform({2, 3, 4}), size = kg::abs(x);
  expect_near(la::matrix_norm(x), kg::sqrt(kg::sum(kg::square(x), {1, 2})));
  expect_near(la::matrix_norm(x, 1), kg::max(kg::sum(size, 1), -1));
  expect_near(la::matrix_norm(x, -1), kg::min(kg::sum(size, 1), -1));
  expect_near(la::matrix_norm(x, inf), kg::max(kg::sum(size, 2), -1));
  expect_near(la::matrix_norm(x, -inf), kg::min(kg::sum(size, 2), -1));
  const tensor values = kg::sqrt(la::eigvalsh(kg::matmul(x, x, false, true)));
  expect_near(la::matrix_norm(x, 2), kg::max(values, -1));
  expect_near(la::matrix_norm(x, -2), kg::min(values, -1), 1e-11);
  expect_near(la::matrix_norm(x, "nuc"), kg::sum(values, -1), 1e-11);
  EXPECT_EQ(la::matrix_norm(x, "nuc", true).dims(), (kg::shape{2, 1, 1}));
  expect_refused([&] { return la::matrix_norm(x, 3); }, {"[kg::linalg::matrix_norm]", "order 3", "\"nuc\""});
  expect_refused([] { return la::matrix_norm(kg::zeros({3})); }, {"[kg::linalg::matrix_norm]", "rank 2"});
}

TEST(norms, have_gradients_of_both_orders) {
  for (double p : {1.0, 2.0, 3.0})
    check_gradients("vector_norm",
                    [=](std::span<const tensor> in) { return la::vector_norm(in[0], {.over = -1, .order = p}); },
                    {uniform({2, 3}, 4) + 1.5});
  for (kg::norm_order order : {kg::norm_order("fro"), kg::norm_order("nuc"), kg::norm_order(2)})
    check_gradients("matrix_norm", [=](std::span<const tensor> in) { return la::matrix_norm(in[0], order); },
                    {uniform({2, 3, 2}, 4)});
  check_gradients("cond", [](std::span<const tensor> in) { return la::cond(in[0]); }, {regular({3, 3})});
}

TEST(cond, is_the_norm_times_that_of_the_inverse) {
  const tensor x = regular({2, 4, 4});
  for (kg::norm_order order : {kg::norm_order("fro"), kg::norm_order(1), kg::norm_order(2), kg::norm_order(-2)})
    expect_near(la::cond(x, order), la::matrix_norm(x, order) * la::matrix_norm(la::inv(x), order), 1e-11);
  expect_values(la::cond(kg::zeros({2, 2}), 1), {inf});
  EXPECT_GT(la::cond(hilbert(12)).item(), 1e15);
  EXPECT_NEAR(la::cond(hilbert(4), inf).item() / oracle::condition(hilbert(4)), 1, 1e-10);
  expect_values(la::cond(kg::full({2, 2}, not_a_number), 1), {not_a_number});
  expect_refused([] { return la::cond(kg::zeros({0, 0})); }, {"[kg::linalg::cond]", "elements"});
}

// ------------------------------------------------------------------------------------------ functions of matrices

TEST(matrix_power, is_the_product_of_as_many_matrices_or_of_inverses) {
  const tensor x = regular({2, 3, 3}) * 0.5;
  tensor product = kg::broadcast_to(kg::eye(3, 3, 0, kg::dtype::float64), x.dims()), inverse = product;
  for (int n = 0; n < 8; ++n) {
    expect_near(la::matrix_power(x, n), product, 1e-12);
    expect_near(la::matrix_power(x, -n), inverse, 1e-11);
    product = kg::matmul(product, x), inverse = kg::matmul(inverse, la::inv(x));
  }
  expect_refused([] { return la::matrix_power(kg::zeros({2, 2}), -1); },
                 {"[kg::linalg::matrix_power] got a singular matrix: pivot 0 is zero"});
  check_gradients("matrix_power", [](std::span<const tensor> in) { return la::matrix_power(in[0], 5); }, {x});
  check_gradients("matrix_power below 0", [](std::span<const tensor> in) { return la::matrix_power(in[0], -3); }, {x});
}

// The series, term by term, of a matrix that is halved until it converges quickly, in long double.
tensor series(const tensor& x) {
  const auto n = static_cast<std::size_t>(x.dims()[0]);
  oracle::dense a = oracle::from(x);
  int halves = 0;
  for (double size = oracle::norm(a); size > 0.1; size /= 2) ++halves;
  for (oracle::wide& each : a.at) each = std::ldexp(each, -halves);
  const auto times = [n](const oracle::dense& p, const oracle::dense& q) {
    oracle::dense y{n, n, std::vector<oracle::wide>(n * n)};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k) y(i, j) += p(i, k) * q(k, j);
    return y;
  };
  oracle::dense sum{n, n, std::vector<oracle::wide>(n * n)};
  for (std::size_t i = 0; i < n; ++i) sum(i, i) = 1;
  oracle::dense term = sum;
  for (int k = 1; k < 30; ++k) {
    term = times(term, a);
    for (std::size_t i = 0; i < n * n; ++i) term.at[i] /= k, sum.at[i] += term.at[i];
  }
  for (; halves > 0; --halves) sum = times(sum, sum);
  return tensor(doubles(sum.at.begin(), sum.at.end()), x.dims());
}

TEST(expm, is_the_series_for_matrices_of_every_size) {
  for (double size : {1e-9, 0.1, 1.0, 5.0, 40.0}) {
    const tensor x = uniform({4, 4}, 3) * size, wanted = series(x);
    EXPECT_LT(largest(la::expm(x) - wanted), 2e-14 * std::max(size, 1.0) * largest(wanted)) << size;
    const tensor narrow = kg::cast(x, kg::dtype::float32);
    EXPECT_LT(largest(kg::cast(la::expm(narrow), kg::dtype::float64) - series(narrow)),
              1e-5 * std::max(size, 1.0) * largest(wanted))
        << size;
  }
  expect_near(la::expm(defective(4)), series(defective(4)), 1e-13);
}

TEST(expm, of_a_matrix_in_a_stack_does_not_depend_on_the_others) {
  const tensor small = uniform({3, 3}, 2), large = uniform({3, 3}, 3) * 50;
  const tensor both = la::expm(kg::stack({small, large}));
  expect_near(both(0), la::expm(small), 0);
  expect_near(both(1), la::expm(large), 0);
}

TEST(expm, of_zeros_nothing_and_nan) {
  expect_values(la::expm(kg::zeros({2, 2})), {1, 0, 0, 1});
  EXPECT_EQ(la::expm(kg::zeros({2, 0, 0})).dims(), (kg::shape{2, 0, 0}));
  expect_values(la::expm(kg::full({2, 2}, not_a_number)), doubles(4, not_a_number));
}

TEST(expm, has_gradients_of_both_orders) {
  const auto f = [](std::span<const tensor> in) { return la::expm(in[0]); };
  check_gradients("expm", f, {uniform({2, 3, 3}, 4)});
  check_gradients("expm with squares", f, {uniform({2, 2}, 4) * 8});
}

// ------------------------------------------------------------------------------------------ products

TEST(matrix_transpose, trace_and_diagonal_are_of_the_last_two_axes) {
  const tensor x = uniform({2, 3, 4});
  expect_near(la::matrix_transpose(x), kg::transpose(x, {0, 2, 1}), 0);
  expect_near(la::diagonal(x), kg::stack({x(kg::all, 0, 0), x(kg::all, 1, 1), x(kg::all, 2, 2)}, 1), 0);
  expect_near(la::trace(x, 1), x(kg::all, 0, 1) + x(kg::all, 1, 2) + x(kg::all, 2, 3), 1e-15);
  EXPECT_EQ(la::trace(tensor({1, 2, 3, 4}, {2, 2})).type(), kg::dtype::int32);
  expect_refused([] { return la::trace(kg::ones({2})); }, {"[kg::linalg::trace]", "rank 2 or more"});
}

TEST(outer, vecdot_and_cross_are_of_vectors) {
  const tensor v({1.0, 2.0, 3.0}), w({4.0, 5.0, 7.0});
  expect_values(la::outer(v, w), {4, 5, 7, 8, 10, 14, 12, 15, 21});
  expect_values(la::vecdot(v, kg::stack({v, w})), {14, 35});
  expect_values(la::vecdot(kg::transpose(kg::stack({v, w})), kg::transpose(kg::stack({v, v})), -2), {14, 35});
  expect_values(la::cross(v, w), {-1, 5, -3});
  expect_values(la::cross(v, kg::stack({v, w})), {0, 0, 0, -1, 5, -3});
  expect_refused([&] { return la::outer(v, kg::ones({2, 2})); }, {"[kg::linalg::outer]", "operand b", "vectors"});
  expect_refused([&] { return la::vecdot(v, kg::ones({2})); }, {"[kg::linalg::vecdot]", "one length"});
  expect_refused([&] { return la::vecdot(v, w, 0); }, {"[kg::linalg::vecdot]", "axis 0"});
  expect_refused([&] { return la::cross(kg::ones({2}), kg::ones({2})); }, {"[kg::cross]", "3 elements"});
}

TEST(kron, has_the_products_of_all_elements_in_blocks) {
  expect_values(la::kron(tensor({1, 2, 3, 4}, {2, 2}), tensor({1, 10}, {1, 2})), {1, 10, 2, 20, 3, 30, 4, 40});
  const tensor a = uniform({2, 3}, 1), b = uniform({3, 2}, 2), c = uniform({3, 2}, 3), d = uniform({2, 4}, 4);
  expect_near(kg::matmul(la::kron(a, b), la::kron(c, d)), la::kron(kg::matmul(a, c), kg::matmul(b, d)));
  EXPECT_EQ(la::kron(kg::ones({2}), kg::ones({3, 4, 5})).dims(), (kg::shape{3, 4, 10}));
}

TEST(tensordot, sums_over_pairs_of_axes) {
  const tensor a = uniform({2, 3, 4}, 1), b = uniform({4, 3, 5}, 2);
  expect_near(la::tensordot(a, b, {1, 2}, {1, 0}), kg::einsum("ijk,kjl->il", a, b));
  expect_near(la::tensordot(a, b, {2}, {0}), kg::einsum("ijk,kml->ijml", a, b));
  expect_near(la::tensordot(a, uniform({3, 4, 2}, 3)), kg::einsum("ijk,jkl->il", a, uniform({3, 4, 2}, 3)));
  expect_near(la::tensordot(a, b(0, 0), 0), kg::einsum("ijk,l->ijkl", a, b(0, 0)));
  expect_refused([&] { return la::tensordot(a, b); }, {"[kg::tensordot]", "equal sizes"});
  expect_refused([&] { return la::tensordot(a, b, {0}, {3}); }, {"[kg::tensordot]", "axis 3"});
  expect_refused([&] { return la::tensordot(a, b, 4); }, {"[kg::tensordot]", "4 axes"});
}

TEST(multi_dot, is_the_product_from_left_to_right_in_any_order) {
  const tensor a = uniform({10, 2}, 1), b = uniform({2, 30}, 2), c = uniform({30, 3}, 3), d = uniform({3, 7}, 4);
  expect_near(la::multi_dot({a, b, c, d}), kg::matmul(kg::matmul(kg::matmul(a, b), c), d), 1e-12);
  const tensor v = uniform({10}, 5), w = uniform({7}, 6);
  expect_near(la::multi_dot({v, a, b, c, d, w}), kg::matmul(v, kg::matmul(la::multi_dot({a, b, c, d}), w)), 1e-12);
  expect_refused([&] { return la::multi_dot({a}); }, {"[kg::linalg::multi_dot]", "two or more"});
  expect_refused([&] { return la::multi_dot({a, c}); }, {"[kg::linalg::multi_dot]", "factors[1]", "2 rows"});
  expect_refused([&] { return la::multi_dot({a, v, b}); }, {"[kg::linalg::multi_dot]", "factors[1]"});
}

TEST(products, have_gradients_of_both_orders) {
  check_gradients("kron", [](std::span<const tensor> in) { return la::kron(in[0], in[1]); },
                  {uniform({2, 2}, 1), uniform({2}, 2)});
  check_gradients("cross", [](std::span<const tensor> in) { return la::cross(in[0], in[1]); },
                  {uniform({2, 3}, 1), uniform({3}, 2)});
  check_gradients("tensordot", [](std::span<const tensor> in) { return la::tensordot(in[0], in[1], {1}, {0}); },
                  {uniform({2, 2}, 1), uniform({2, 3}, 2)});
  check_gradients("multi_dot", [](std::span<const tensor> in) { return la::multi_dot({in[0], in[1], in[2]}); },
                  {uniform({2, 2}, 1), uniform({2, 3}, 2), uniform({3}, 3)});
}

}  // namespace
